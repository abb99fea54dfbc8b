"""A scripted stand-in for the Claude Code CLI: the same flags, files, hooks and signals.

For tests of faults, and for a demo where the real CLI cannot start. Its model is the demo's
script, in the same process. Only the standard library, so that it starts in a blink; it never
says that it is the real one.
"""
