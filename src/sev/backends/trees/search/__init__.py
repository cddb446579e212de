"""The search over collapsed trees: ``plan.py`` chooses, ``run.py`` carries out, ``sev._native`` searches."""
