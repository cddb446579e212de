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
        *_peers(results),
        *_training(results),
    ]
    tables = [
        Table("Mean size, without → with the limit on credibility", _pairs(results, "size")),
        Table("Median largest change, without → with the limit", _pairs(results, "largest_change")),
        Table("Beside other methods, means over data sets and models", _peer_means(results)),
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
        f"goes from {_mean(before):.2f} to {_mean(after):.2f} on average (smaller in {down}, larger in {up} of "
        f"{len(before)} cases of data set and model)"
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
            f"with {title} {credible:.0%} of the answers are credible as they are; the limit takes the mean size from "
            f"{before:.2f} to {after:.2f} and leaves {left:.1%} without an answer that is found in time"
        )
    return [
        "**Credibility**: a result counts if it is more ordinary than 5 % of the real rows of the other class, by an "
        f"isolation forest. {'; '.join(parts).capitalize()}."
    ]


def _published(results: Results) -> list[str]:
    if not _cases(results, "published"):
        return []

    def of(*names: str) -> float:
        return _mean(_means(results, "published", *names))

    return [
        "**The published way**: flexible SEV as the authors' code computes it has a mean size of "
        f"{of('flexible', 'size, theirs'):.2f}, {of('flexible', 'size, theirs also at one feature'):.2f} with its "
        "slip at "
        f"one feature mended, and exactly it is {of('flexible', 'size, exact'):.2f}. The exact answer is smaller for "
        f"{of('flexible', 'exact is smaller'):.0%} of the queries; for "
        f"{of('flexible', 'one feature was enough but not tried'):.0%} one feature was enough but not tried.",
        "Their search for credible sets (more likely than three quarters of the answers without a limit) ends with a "
        "set "
        f"that is not credible, and not marked, for {of('credible', 'not credible and not marked'):.0%} of the "
        "queries; "
        f"these are part of its mean size of {of('credible', 'size, theirs'):.2f} "
        f"({of('credible', 'size without limit'):.2f} without the limit). Where it finds a credible set, that is a "
        "smallest one, as sets are tried in order of size.",
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
        f"**Single trees**: conditions as they count them: {conditions:.2f}; features on the same paths "
        f"{features:.2f} (fewer "
        f"for {share:.0%} of the queries); the fewest features with any values of the background, proven: {exact:.2f}."
    ]


def _peers(results: Results) -> list[str]:
    table = _peer_means(results).set_index("method") if len(_peer_means(results)) else pd.DataFrame()
    if "DiCE" not in table.index:
        return []
    size, far = FIGURES["size"], FIGURES["largest_change"]
    shown = "; ".join(f"{name} {table[size][name]:.2f} and {table[far][name]:.2f}" for name in table.index)
    return [
        f"**Others**: mean size and median largest change: {shown}. Growing Spheres has no package of its own that "
        "installs; "
        "it is left out."
    ]


def _training(results: Results) -> list[str]:
    table = _trained_means(results)
    if not len(table):
        return []
    by = table.set_index("trained for")
    parts = [
        f"against {title} it is {line['nothing']:.2f} for the base models, {line['mean']:.2f} after training for the "
        f"mean and {line['clusters']:.2f} after training for clusters"
        for title, line in (
            ("the mean", by["SEV, mean"]),
            ("clusters", by["SEV, clusters"]),
            ("the nearest real row", by["SEV, nearest"]),
        )
    ]
    return [
        f"**Training**, mean SEV-, a row without an answer counted as all features: {'; '.join(parts)}. A model is "
        "short "
        "against what it was trained for: a reference that training does not hold negative may turn positive."
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
