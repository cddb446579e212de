"""Linear and additive models: each feature moves the margin by a fixed amount, so the biggest movers are a minimum
set.
"""
