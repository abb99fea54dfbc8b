"""Run many coding agents in one terminal, and hand each job to a new session before the context
is full.
"""

__version__ = "0.1.0"
