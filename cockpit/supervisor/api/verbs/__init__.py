"""The handlers of most verbs of `wire.verbs`, which are the requests that change something.

To add a verb, define its model in `wire/verbs.py` and list its handler in `performers` of
`supervisor/serving.py`.
"""
