"""Tree ensembles of all libraries, in one flat form with an exact solver."""
