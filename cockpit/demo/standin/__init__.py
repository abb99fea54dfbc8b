"""A scripted stand-in for the Claude Code CLI: the same flags, files, hooks and signals.

For tests of faults, and for a demo without the real CLI. Its model is the demo's script, in the
same process. Uses only the standard library, so that it starts fast. Its version says that it is a
stand-in.
"""
