"""Fly many coding agents in one terminal and hand each on before its context fills."""

__version__ = "0.1.0"
