"""Entries that are made when they are read."""

import pickle

from sev.core import LazyList


def squares(made, length=6):
    def make(places):
        made.append(places)
        return [place**2 for place in places]

    return LazyList(length, make)


def test_entries_are_made_once_and_together():
    made = []
    many = squares(made)
    assert len(many) == 6
    assert made == []
    assert many.get([4, 1, 4]) == [16, 1, 16]
    assert made == [[4, 1]]
    assert (many[-2], many[1]) == (16, 1)
    assert list(many) == [0, 1, 4, 9, 16, 25]
    assert made == [[4, 1], [0, 2, 3, 5]]


def test_parts_of_parts_are_made_by_what_they_are_parts_of():
    made = []
    many = squares(made)
    joined = LazyList.concatenate([many.take([5, 2]), LazyList.of("ab"), many[1:4]])
    assert made == []
    shown = joined.map(str)
    assert list(shown.take([6, 0, 3])) == ["9", "25", "b"]
    assert sorted(place for places in made for place in places) == [3, 5]
    assert list(joined) == [25, 4, "a", "b", 1, 4, 9]
    assert sorted(place for places in made for place in places) == [1, 2, 3, 5]


def test_what_is_pickled_is_complete():
    made = []
    again = pickle.loads(pickle.dumps(squares(made).take([3, 1])))
    assert list(again) == [9, 1]
    assert made == [[3, 1]]
