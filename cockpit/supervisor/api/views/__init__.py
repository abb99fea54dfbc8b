"""The handlers of the requests that only read, one module for each subject.

To add a view, define it in `VIEWS` of `wire/views.py` and list its handler in `view_handlers` of
`supervisor/api/routes.py`.
"""
