"""One reader for each library: its trees become the one flat form of ``_forest.py``."""
