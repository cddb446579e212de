import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("agg")


@pytest.fixture(autouse=True)
def close_figures():
    plt.close("all")  # also those that a doctest or a test elsewhere left open in this process
    yield
    plt.close("all")
