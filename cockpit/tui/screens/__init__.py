"""The screens and dialogs, one module or folder each.

To add a screen, list its module in `lazy.NAMES` and its stylesheet, if any, in `CSS_PATH` of
`tui/app.py`, and open the screen from `fleet/opening.py` or from another screen.
"""
