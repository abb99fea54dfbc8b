"""The handlers of the requests that change something, one module for each verb of `wire.verbs`.

To add one, define its model in `wire/verbs.py` and list its handler in `performers` of
`supervisor/serving.py`.
"""
