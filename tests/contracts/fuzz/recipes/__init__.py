"""Generators of random cases, by name; each is a function from a random generator to a setup."""

from importlib import import_module

from contracts.fuzz.recipes._registry import RECIPES

for _module in ("plain", "boosters", "pipelines", "wrappers", "dtypes", "tables", "faults", "networks", "many_sets"):
    import_module(f"contracts.fuzz.recipes.{_module}")

__all__ = ["RECIPES"]
