"""Generators of random cases, by name; each is a function from a random generator to a setup."""

from importlib import import_module

from contracts.fuzz.recipes._registry import RECIPES

_MODELS = ("plain", "boosters", "options", "pipelines", "wrappers", "networks", "many_sets", "faults")
_TABLES = ("dtypes", "tables", "unusual")

for _module in (*_MODELS, *_TABLES):
    import_module(f"contracts.fuzz.recipes.{_module}")

__all__ = ["RECIPES"]
