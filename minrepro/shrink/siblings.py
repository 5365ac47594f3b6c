"""Operators that do the same with less around it, so that a bug may move from one to the other and stay itself."""

SIMPLER = {"load_state_dict": "copy_.numpy"}
"""Operators with the same parameters, the simpler one on the right."""
