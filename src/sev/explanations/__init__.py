"""What comes back: one explanation, many of them, and how each search ended."""
