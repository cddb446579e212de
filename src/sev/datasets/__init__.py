"""Data sets of the paper."""
