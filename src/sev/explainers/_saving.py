"""Reading explainers from files."""

from __future__ import annotations

from pathlib import Path

from sev.explainers._explainer import Explainer
from sev.files import naming, read_whole


def load(path: str | Path, *, trust_pickle: bool = False) -> Explainer:
    """Read an explainer that :meth:`sev.Explainer.save` wrote.

    Nothing in the file is run: it holds numbers, texts and a model made of types from a fixed list. A file that is
    damaged or holds anything else is refused.

    Parameters
    ----------
    path : path-like
        The file.
    trust_pickle : bool, default=False
        Read a model that was saved with ``allow_pickle=True``. This runs whatever code is in the file: pass it only for
        files that you, or people you trust, have written.

    Returns
    -------
    Explainer
        It returns the same explanations, bit for bit, as the one that was saved.

    Raises
    ------
    ArchiveError
        When the file is damaged, or is not an explainer.
    UntrustedTypeError
        When it holds types that are not on the list of safe ones, or a pickle that is not trusted.

    Examples
    --------
    >>> import os, tempfile, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
    >>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "loans.sev")
    ...     sev.Explainer(model, X, [0, 0, 0, 1, 1, 1]).save(path)
    ...     sev.load(path).explain_one([5.0, 0.0]).features
    ('x0',)
    """
    with naming(path):
        return Explainer.from_bytes(read_whole(path), trust_pickle=trust_pickle)
