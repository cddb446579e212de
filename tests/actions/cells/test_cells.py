"""Random models of every family with random actions: sizes, sets, costs, ranges and statuses against every cell.

``SEV_CELLS_SEEDS`` sets how many seeds run here, ``SEV_CELLS_SEED`` runs one again; ``PYTHONPATH=src:tests python -m
actions.cells --minutes 60`` goes on for as long as it is told.
"""

import os
import warnings

import pytest
from actions.cells.compare import Totals
from actions.cells.draw import draw
from actions.cells.models import FAMILIES
from actions.cells.runner import run_seed

N_PARTS = 4
N_SEEDS = int(os.environ.get("SEV_CELLS_SEEDS", "48"))
ONE_SEED = os.environ.get("SEV_CELLS_SEED")
#: Seeds that met a defect: values at the end of a grid of tenths, ranges around the row's own value, sets that keep a
#: rule only with other than their least costly values, missing values where the term is a line.
MET = (6, 18, 26, 69, 107, 122, 149, 162)


@pytest.mark.parametrize("part", range(1 if ONE_SEED else N_PARTS))
def test_answers_are_those_of_all_cells(part):
    totals = Totals()
    found = []
    for seed in [int(ONE_SEED)] if ONE_SEED else range(part, N_SEEDS, N_PARTS):
        found += [f"SEV_CELLS_SEED={seed}: {problem}" for problem in run_seed(seed, totals)]
    assert not found, "\n".join(found[:5])
    assert totals.ranges > 0 or ONE_SEED
    assert set(totals.statuses) == {"optimal", "unexplainable"} or ONE_SEED


@pytest.mark.parametrize("seed", MET)
def test_what_was_once_wrong(seed):
    assert run_seed(seed, Totals()) == []


def test_every_family_takes_its_turn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # a seed whose model decides all rows alike leaves its family to the next turn
        drawn = [draw(seed) or draw(seed + len(FAMILIES)) for seed in range(len(FAMILIES))]
    assert {one.family for one in drawn if one is not None} == set(FAMILIES)
    assert len(FAMILIES) <= N_SEEDS or ONE_SEED or "SEV_CELLS_SEEDS" in os.environ
