"""One folder for each model library: reading, re-weighting, safe files.

``__init__.py`` of a folder names its functions in a :class:`sev._registry.Library` and imports nothing of the library;
``read*.py`` turns a fitted model into a backend, ``reweight.py`` is for training, ``files.py`` for safe files and
``format.py`` for the checks of the library's own format.
"""
