"""What one feature is: raw columns, groups, one-hot blocks."""
