"""A scripted stand-in for the Claude Code CLI: the same flags, files, hooks and signals.

Used in tests of faults, and in the demo if the real CLI is missing. Its model is the demo's script,
in the same process. Uses only the standard library, to start fast. Its version contains "stand-in".
"""
