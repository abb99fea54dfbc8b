"""The screens and dialogs, one module or folder each.

To add one, list its module in `lazy.NAMES` and its stylesheet in `CSS_PATH` of `tui/app.py`, and
open it from `fleet/opening.py`.
"""
