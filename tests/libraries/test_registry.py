"""One look-up: every route of every library leads to a function, and third parties can add theirs."""

import pickle
from typing import get_args

import pytest

import sev.backends.networks
from sev._registry import _ADDED, LIBRARIES, Role, add_route, find, libraries, load, look_up, routes
from sev.exceptions import InputError


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_route_leads_to_a_function(name):
    library = libraries()[name]
    assert library.package == name
    own = [route for role in get_args(Role) if role != "train" for route in getattr(library, role).values()]
    own += [*library.builders.values(), *([library.from_bytes] if library.from_bytes else [])]
    assert own
    for route in own:
        assert callable(library.load(route))


def test_what_is_trained_is_read_and_trees_are_reweighted():
    assert set(routes("train")) <= set(routes("read"))
    assert {key for key, family in routes("train").items() if family == "trees"} == set(routes("reweight"))
    assert set(routes("train").values()) == {"linear", "network", "trees"}


def test_formats_and_endings_belong_to_one_library():
    endings = [ending for library in libraries().values() for ending in library.endings]
    assert len(endings) == len(set(endings))
    for key in routes("to_bytes"):
        assert libraries()[key.partition(".")[0]].from_bytes


class Scorecard:
    """A model of somebody else."""


class Subclass(Scorecard):
    pass


def test_a_route_from_outside_is_found_for_subclasses_and_kept(monkeypatch):
    monkeypatch.setitem(_ADDED, "read", {})
    key = f"{Scorecard.__module__.partition('.')[0]}.Scorecard"
    assert look_up(Subclass(), "read") is None
    add_route("read", key, "json:loads")
    add_route("read", key, "json:loads")
    assert look_up(Subclass(), "read")("[1]") == [1]
    match = find(Subclass(), "read")
    assert (match.key, match.ancestor, match.route) == (key, Scorecard, "json:loads")
    with pytest.raises(InputError, match=r"role 'read', with 'json:loads': register 'json:dumps'"):
        add_route("read", key, "json:dumps")
    with pytest.raises(ValueError, match="already registered"):
        add_route("read", "sklearn.LogisticRegression", "json:dumps")


@pytest.mark.parametrize("name", sorted(sev.backends.networks._MOVED))
def test_names_of_the_first_release_still_answer(name):
    assert getattr(sev.backends.networks, name) is load(sev.backends.networks._MOVED[name])


def test_pickles_of_the_first_release_find_their_classes():
    from sev.libraries.torch.classifier import TorchClassifier
    from sev.libraries.torch.module import TorchScorer

    assert pickle.loads(b"csev.backends.networks._pipeline\nTorchClassifier\n.") is TorchClassifier
    assert pickle.loads(b"csev.backends.networks._module\nTorchScorer\n.") is TorchScorer
