"""A scripted stand-in for the Claude Code CLI: the same flags, files, hooks and signals.

Used in tests of faults, and in the demo if the real CLI is missing. The stand-in's model is the
demo's script, in the same process. Uses only the standard library, to start fast. The stand-in's
version contains "stand-in".
"""
