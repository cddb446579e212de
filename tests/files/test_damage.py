"""Damaged and hostile files are refused: never a crash, a hang, or code that runs."""

import contextlib
import hashlib
import io
import json
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from files import loans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import sev
from sev.exceptions import ArchiveError, SevError, UntrustedTypeError
from sev.files import _container, load_model
from sev.files._models import model_from_bytes, model_to_bytes
from sev.libraries.catboost.format import check_bytes as check_catboost_bytes
from sev.libraries.lightgbm.format import checked_text as check_lightgbm_text

MARK = "code from a file ran"


def small_explainer():
    X = np.arange(24.0).reshape(12, 2) % 7
    y = (X[:, 0] > 3).astype(int)
    return sev.Explainer(LogisticRegression().fit(X, y), X, y)


@pytest.fixture(scope="module")
def archive():
    return small_explainer().to_bytes()


def sealed(zip_bytes):
    """Any zip as a file whose seal is right: what an attacker would send."""
    buffer = io.BytesIO(zip_bytes)
    with zipfile.ZipFile(buffer, "a") as file:
        file.comment = b" " * _container._SEAL_BYTES
    head = buffer.getvalue()[: -_container._SEAL_BYTES] + b"sev archive 1, sha256 of all before: "
    return head + hashlib.sha256(head).hexdigest().encode()


def rebuilt(archive, change_manifest=None, **members):
    """The same archive with other members; checksums follow unless the manifest is changed too."""
    manifest, held = _container.unpack(archive)
    held = {**held, **{name.replace("__", "."): data for name, data in members.items()}}
    held = {name: data for name, data in held.items() if data is not None}
    manifest["members"] = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in held.items()
    }
    manifest = change_manifest(manifest) if change_manifest else manifest
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
        file.writestr("manifest.json", text)
        for name, data in held.items():
            file.writestr(name, data)
    return sealed(buffer.getvalue())


def refused(data, match=None):
    with pytest.raises(ArchiveError, match=match):
        sev.Explainer.from_bytes(data)


def test_the_helpers_build_files_that_load(archive):
    assert sev.Explainer.from_bytes(rebuilt(archive)).backend == "linear"


# -- by accident -------------------------------------------------------------------------------------------------------


def test_every_flipped_byte_and_every_cut_is_noticed(archive):
    generator = random.Random(0)
    for _ in range(2_500):
        damaged = bytearray(archive)
        damaged[generator.randrange(len(damaged))] ^= 1 << generator.randrange(8)
        refused(bytes(damaged))
    for _ in range(500):
        refused(archive[: generator.randrange(len(archive))])


def test_foreign_files_are_refused(tmp_path):
    for content in (b"", b"hello", b"PK\x03\x04", b"\x80\x04K\x01.", b"PK" * 1000):
        path = tmp_path / "one.sev"
        path.write_bytes(content)
        with pytest.raises(ArchiveError, match=r"one\.sev"):
            sev.load(path)


def test_a_file_of_a_later_version_says_so(archive):
    later = rebuilt(archive, lambda manifest: {**manifest, "format_version": 99, "sev_version": "9.0"})
    refused(later, "format version 99, written by sev 9.0.*newer")


# -- on purpose --------------------------------------------------------------------------------------------------------


def test_names_that_lead_elsewhere_are_refused(archive):
    for name in ("../evil.txt", "/etc/evil.txt", "a/b.txt", "C:\\evil.txt", "model.bin\0.txt", "MODEL.bin", "x" * 300):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as file:
            file.writestr(name, b"x")
        refused(sealed(buffer.getvalue()))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_is_refused(archive):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("model.bin", b"1")
        file.writestr("model.bin", b"2")
    refused(sealed(buffer.getvalue()), "two members of the same name")


def test_bombs_are_refused_before_they_are_unpacked(archive):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", b"{}")
        file.writestr("model.bin", bytes(50_000_000))
    refused(sealed(buffer.getvalue()), "to 50,000,000 bytes, more than")
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("schema.json", b"{}")
        file.writestr("1.npy", bytes(50_000_000))
    refused(rebuilt(archive, model__bin=inner.getvalue()), "would unpack")


def test_a_lie_about_a_size_is_noticed(archive):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", bytes(30_000_000))
    data = bytearray(buffer.getvalue())
    true_size = (30_000_000).to_bytes(4, "little")
    while true_size in data:
        place = data.index(true_size)
        data[place : place + 4] = (1_000).to_bytes(4, "little")
    refused(sealed(bytes(data)))


def test_members_must_be_those_of_an_explainer(archive):
    refused(rebuilt(archive, extra__txt=b"x"), "not a saved explainer")
    refused(rebuilt(archive, sample__json=None), "not a saved explainer")
    refused(rebuilt(archive, lambda m: {**m, "members": {}}), "members")


class _Runs:
    def __reduce__(self):
        return print, (MARK,)


def test_code_in_a_pickle_does_not_run(archive, capsys):
    import pickle

    bad = pickle.dumps(_Runs())
    with pytest.raises(UntrustedTypeError, match="trust_pickle"):
        sev.Explainer.from_bytes(rebuilt(archive, lambda m: {**m, "model_form": "pickle"}, model__bin=bad))
    for form in ("skops", "xgboost", "lightgbm", "catboost", "joblib", None, 3, ["skops"]):
        with pytest.raises(SevError):
            sev.Explainer.from_bytes(rebuilt(archive, lambda m, form=form: {**m, "model_form": form}, model__bin=bad))
    assert MARK not in capsys.readouterr().out


def test_types_outside_the_list_are_refused_by_name(archive):
    _, members = _container.unpack(archive)
    with zipfile.ZipFile(io.BytesIO(members["model.bin"])) as file:
        inside = {info.filename: file.read(info) for info in file.infolist()}
    schema = inside["schema.json"].replace(b'"LogisticRegression"', b'"Popen"')
    schema = schema.replace(b"sklearn.linear_model._logistic", b"subprocess")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in {**inside, "schema.json": schema}.items():
            file.writestr(name, data)
    with pytest.raises(UntrustedTypeError, match=r"subprocess\.Popen"):
        sev.Explainer.from_bytes(rebuilt(archive, model__bin=buffer.getvalue()))


def mutated(node, generator, depth=0):
    """A JSON document with one thing about it changed."""
    if isinstance(node, dict) and node and generator.random() < 0.9:
        key = generator.choice(list(node))
        if generator.random() < 0.1:
            return {other: value for other, value in node.items() if other != key}
        return {**node, key: mutated(node[key], generator, depth + 1)}
    if isinstance(node, list) and node and generator.random() < 0.9:
        place = generator.randrange(len(node))
        return [*node[:place], mutated(node[place], generator, depth + 1), *node[place + 1 :]]
    deep = []
    for _ in range(900):
        deep = [deep]
    strange = [None, True, -1, 0, 2**70, 1e308, float("nan"), "", "x", "../x", "O", "V99999999999", [], {}, [[]], deep]
    strange += [{"float": "nan"}, {"tuple": [1]}, {"timestamp": "x"}, {"categories": {}, "ordered": True}]
    return generator.choice(strange)


def test_hostile_descriptions_never_do_more_than_fail(archive):
    """Correct seals and checksums around changed manifests and descriptions: refused, or harmless."""
    manifest, members = _container.unpack(archive)
    plain = {name: json.loads(members[name]) for name in ("explainer.json", "sample.json")}
    generator = random.Random(1)
    refusals = 0
    for number in range(700):
        which = ("explainer.json", "sample.json", "manifest.json")[number % 3]
        if which == "manifest.json":
            changed = mutated(manifest, generator)
            data = rebuilt(archive, lambda _, changed=changed: changed)
        else:
            text = json.dumps(mutated(plain[which], generator)).encode()
            data = rebuilt(archive, **{which.replace(".", "__"): text})
        try:
            loaded = sev.Explainer.from_bytes(data)
        except SevError:
            refusals += 1
        else:
            assert isinstance(loaded, sev.Explainer)
    assert refusals > 350


def test_hostile_models_never_do_more_than_fail(archive):
    """Bytes of the model changed, with every checksum made right again."""
    _, members = _container.unpack(archive)
    with zipfile.ZipFile(io.BytesIO(members["model.bin"])) as file:
        inside = {info.filename: file.read(info) for info in file.infolist()}
    generator = random.Random(2)
    rows = np.arange(24.0).reshape(12, 2)
    refusals = 0
    for _ in range(500):
        name = generator.choice(list(inside))
        content = bytearray(inside[name])
        for _ in range(generator.randrange(1, 4)):
            content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as file:
            for other, data in inside.items():
                file.writestr(other, bytes(content) if other == name else data)
        try:
            model = model_from_bytes("skops", buffer.getvalue())
        except ArchiveError:
            refusals += 1
            continue
        # what is loaded is a model like any other: it predicts, or says why not
        assert type(model) is LogisticRegression
        with contextlib.suppress(ValueError, TypeError, AttributeError, IndexError, KeyError):
            assert model.predict(rows).shape == (12,)
    assert 250 < refusals < 500


# -- compiled code that trusts its input -------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["left_child", "feature"])
def test_trees_that_lead_nowhere_are_refused(field):
    X = np.arange(40.0).reshape(20, 2)
    tree = DecisionTreeClassifier().fit(X, np.arange(20) % 2)
    state = tree.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for value in (10**6, 0):
        nodes[field][0] = value if field == "left_child" else 10**6
        state["nodes"] = nodes
        tree.tree_.__setstate__(state)
        _, data = model_to_bytes(tree, allow_pickle=False)
        with pytest.raises(ArchiveError, match="tree"):
            model_from_bytes("skops", data)


def test_histogram_trees_that_lead_nowhere_are_refused():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, X[:, 0] > 0)
    model._predictors[1][0].nodes["right"][0] = 10**6
    _, data = model_to_bytes(model, allow_pickle=False)
    with pytest.raises(ArchiveError, match="tree whose nodes refer to nodes that do not exist"):
        model_from_bytes("skops", data)


def lightgbm_text():
    lightgbm = pytest.importorskip("lightgbm")
    X = np.random.default_rng(0).normal(size=(200, 4))
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, X[:, 0] > 0)
    return model.booster_.model_to_string()


def test_a_whole_lightgbm_text_is_taken_and_a_cut_one_is_not():
    text = lightgbm_text()
    check_lightgbm_text(text)
    end = text.index("end of parameters")
    for length in range(0, end, 41):
        with pytest.raises(ArchiveError, match="LightGBM"):
            check_lightgbm_text(text[:length])
    for old, new in (
        ("left_child=1", "left_child=0"),
        ("num_leaves=", "num_leaves=1"),
        ("split_feature=", "split_feature=9"),
    ):
        with pytest.raises(ArchiveError, match="LightGBM"):
            check_lightgbm_text(text.replace(old, new, 1))


def test_a_cut_lightgbm_file_does_not_end_the_process(tmp_path):
    """In a process of its own, because the library itself would abort it."""
    path = tmp_path / "model.txt"
    path.write_text(lightgbm_text()[:2_000])
    code = (
        f"from sev.files import load_model\ntry:\n    load_model({str(path)!r})\nexcept ValueError as e:\n    print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cut off or damaged" in done.stdout


def test_a_cut_catboost_model_is_refused():
    with pytest.raises(ArchiveError, match="CatBoost"):
        check_catboost_bytes(b"CBM1" + (1000).to_bytes(4, "little") + bytes(500))


def test_model_files_say_what_they_are(tmp_path):
    import joblib
    import skops.io

    model = loans.pipeline()
    skops.io.dump(model, tmp_path / "model.skops")
    joblib.dump(model, tmp_path / "model.pkl")
    rows = loans.rows(5)
    for read in (load_model(tmp_path / "model.skops"), load_model(tmp_path / "model.pkl", trust_pickle=True)):
        np.testing.assert_array_equal(read.predict_proba(rows), model.predict_proba(rows))
    with pytest.raises(UntrustedTypeError, match=r"model\.pkl.*runs whatever code"):
        load_model(tmp_path / "model.pkl")
    with pytest.raises(SevError, match="does not exist"):
        load_model(tmp_path / "model.xyz")
    (tmp_path / "model.xyz").touch()
    with pytest.raises(SevError, match="is not known as a model file"):
        load_model(tmp_path / "model.xyz")
