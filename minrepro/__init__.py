"""Turns a disagreement between two deep-learning frameworks into a minimal, verified repro script."""

__version__ = "0.1.0"
