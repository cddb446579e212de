"""What a feature is changed to."""
