"""What holds, in a few sentences and small tables: means over the base models of each data set."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from sev_reproduction._section import Section, Table
from sev_reproduction._task import Results
from sev_reproduction.decision_sparsity import training
from sev_reproduction.decision_sparsity._setting import MODELS
from sev_reproduction.decision_sparsity._tables import FIGURES, PEERS, data_of, mean, title_of
from sev_reproduction.decision_sparsity.variants import VARIANTS


def section(results: Results) -> Section:
    """The answers to the questions that the page is about."""
    sentences = [
        *_clusters(results),
        *_credible(results),
        *_published(results),
        *_tree(results),
        *_training(results),
    ]
    tables = [
        Table("Mean size, without → with the limit on credibility", _pairs(results, "size")),
        Table("Median largest change, without → with the limit", _pairs(results, "largest_change")),
        Table(
            "Beside other methods (Growing Spheres has no package that installs), means of all data",
            _peer_means(results),
        ),
        Table("SEV- of models by what they were trained for, means over data sets", _trained_means(results)),
    ]
    return Section("What holds", sentences, [table for table in tables if len(table.frame)])


def _cases(results: Results, experiment: str) -> list[tuple[str, str]]:
    """Data sets and models with results of an experiment."""
    return sorted({(one.task.data, one.task.variant) for one in results.of(experiment)})


def _means(results: Results, experiment: str, *names: str) -> np.ndarray:
    """One figure of every data set and model."""
    return np.array([mean(results, experiment, *case, *names) for case in _cases(results, experiment)])


def _clusters(results: Results) -> list[str]:
    size, far = (
        {name: _means(results, "variants", name, figure) for name in VARIANTS} for figure in ("size", "largest_change")
    )
    if not len(size["one"]):
        return []
    time = {name: _mean(_means(results, "variants", name, "milliseconds")) for name in VARIANTS}
    return [
        f"**Clusters** instead of one reference: the largest change {_compared(far['one'], far['clusters'])}; the size "
        f"{_compared(size['one'], size['clusters'])}. {_verdict(size, far)}",
        f"**Flexible**, a band around the reference: the size {_compared(size['one'], size['flexible'])}; the largest "
        f"change {_compared(far['one'], far['flexible'])}. Around clusters they are "
        f"{_mean(size['clusters, flexible']):.2f} and {_mean(far['clusters, flexible']):.2f}. A query takes "
        f"{time['one']:.1f} ms with one reference, {time['clusters']:.1f} with clusters, {time['flexible']:.0f} and "
        f"{time['clusters, flexible']:.0f} with a band.",
    ]


def _compared(before: np.ndarray, after: np.ndarray) -> str:
    """Two means, and in how many cases the second is smaller or larger by more than a hundredth."""
    down, up = int((after < before - 0.01).sum()), int((after > before + 0.01).sum())
    return (
        f"goes from {_mean(before):.2f} to {_mean(after):.2f} (smaller in {down}, larger in {up} of {len(before)} "
        "cases)"
    )


def _verdict(size: dict[str, np.ndarray], far: dict[str, np.ndarray]) -> str:
    """In words, differences of less than a twentieth counted as none."""
    moved, grown = (_mean(one["clusters"]) / _mean(one["one"]) - 1.0 for one in (far, size))
    change = "closer" if moved < -0.05 else "farther away" if moved > 0.05 else "about as close"
    answers = "shorter" if grown < -0.05 else "longer" if grown > 0.05 else "about as long"
    return f"The change is {change}, and answers are {answers}."


def _credible(results: Results) -> list[str]:
    cases = [case for case in _cases(results, "credible") if case in _cases(results, "variants")]
    if not cases:
        return []
    parts = []
    for name, title in (("one", "one reference"), ("clusters", "clusters")):
        before, after, left, credible = (
            _mean(mean(results, experiment, *case, name, figure) for case in cases)
            for experiment, figure in (
                ("variants", "size"),
                ("credible", "size"),
                ("credible", "without_answer"),
                ("credible", "credible without limit"),
            )
        )
        parts.append(
            f"with {title}, {credible:.0%} of the answers are credible without a limit; with it, sizes go from "
            f"{before:.2f} to {after:.2f} and {left:.1%} have no answer in time"
        )
    return [
        "**Credibility**: a changed row counts as credible if an isolation forest finds it more ordinary than 5 % of "
        f"the real rows of the other class. {'; '.join(parts).capitalize()}."
    ]


def _published(results: Results) -> list[str]:
    if not _cases(results, "published"):
        return []

    def of(*names: str) -> float:
        return _mean(_means(results, "published", *names))

    return [
        "**The authors' code** computes flexible SEV with a mean size of "
        f"{of('flexible', 'size, theirs'):.2f}; exactly it is {of('flexible', 'size, exact'):.2f}. The exact answer is "
        f"smaller for {of('flexible', 'exact is smaller'):.0%} of the queries: for "
        f"{of('flexible', 'one feature was enough but not tried'):.0%} one feature is enough, which the code does not "
        f"try (with that repaired: {of('flexible', 'size, theirs also at one feature'):.2f}). Its search for credible "
        "sets ends with a set that is not credible, and not marked, for "
        f"{of('credible', 'not credible and not marked'):.0%} of the queries.",
    ]


def _tree(results: Results) -> list[str]:
    if not _cases(results, "tree"):
        return []
    conditions, features, exact, share = (
        _mean(_means(results, "tree", name))
        for name in (
            "conditions, theirs",
            "features on the path",
            "features, any",
            "condition counts exceed features",
        )
    )
    return [
        f"**Single trees**: {conditions:.2f} conditions as the authors count them, {features:.2f} features on the same "
        f"paths (fewer for {share:.0%} of the queries); proven to be fewest, with any values that occur: {exact:.2f}."
    ]


def _training(results: Results) -> list[str]:
    table = _trained_means(results)
    if not len(table):
        return []
    by = table.set_index("trained for")
    against = by[["SEV, mean", "SEV, clusters"]]
    return [
        "**Training**: decisions need few features against the reference that a model was trained for: "
        f"{against.loc['mean', 'SEV, mean']:.2f} after training for the mean "
        f"({against.loc['nothing', 'SEV, mean']:.2f} before), "
        f"{against.loc['clusters', 'SEV, clusters']:.2f} after training for clusters "
        f"({against.loc['nothing', 'SEV, clusters']:.2f} before). Another reference may become positive: against the "
        f"mean it is {against.loc['clusters', 'SEV, mean']:.2f} after training for clusters. A row without an answer "
        "counts as all features."
    ]


def _pairs(results: Results, figure: str) -> pd.DataFrame:
    """A figure without and with the limit, over the models that have both."""
    lines = []
    for data in data_of(results, "credible"):
        both = [name for name in MODELS if results.of("credible", data, name) and results.of("variants", data, name)]
        line: dict[str, object] = {"data": title_of(data)}
        for variant in VARIANTS:
            without, limited = (
                _mean(mean(results, experiment, data, model, variant, figure) for model in both)
                for experiment in ("variants", "credible")
            )
            line[variant] = f"{without:.2f} → {limited:.2f}"
        lines.append(line)
    return pd.DataFrame(lines)


def _peer_means(results: Results) -> pd.DataFrame:
    lines = []
    for method in PEERS:
        found = {title: _mean(_means(results, "peers", method, figure)) for figure, title in FIGURES.items()}
        if np.isfinite(found[FIGURES["size"]]):
            lines.append({"method": method, **found})
    return pd.DataFrame(lines)


def _trained_means(results: Results) -> pd.DataFrame:
    names = ("accuracy", "positive_rate", "SEV, mean", "SEV, clusters", "SEV, nearest")
    if not _cases(results, "training"):
        return pd.DataFrame()
    return pd.DataFrame(
        [
            {"trained for": purpose, **{name: _mean(_means(results, "training", purpose, name)) for name in names}}
            for purpose in training.TRAINED_FOR
        ]
    )


def _mean(values: Iterable[float]) -> float:
    known = np.array([value for value in values if np.isfinite(value)])
    return float(known.mean()) if known.size else float("nan")
