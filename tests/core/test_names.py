from sev.core import list_names, suggest_name


def test_a_list_that_is_cut_says_so():
    assert list_names(range(3)) == "[0, 1, 2]"
    assert list_names(range(14)) == f"{list(range(12))} and 2 more"
    assert list_names(range(14), None) == str(list(range(14)))


def test_the_nearest_name_is_proposed():
    assert suggest_name("incme", ["age", "income"]) == "; did you mean 'income'?"
    assert suggest_name("zzz", ["age", "income"]) == "."
