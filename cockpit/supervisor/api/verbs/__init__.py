"""The handlers of most verbs of `wire.verbs`, which are the requests that change something.

`performers` in `supervisor/serving.py` has the handler of each verb. CONTRIBUTING.md lists every
place that a new verb needs.
"""
