"""Data sets by name, generators with known properties, OpenML from a local server."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from omnitree.data.reading import InputError
from omnitree.lab import built_in, data, generators, openml


@pytest.mark.parametrize("name", list(generators.GENERATORS))
def test_generators_follow_their_seed(name: str):
    one, same, other = (data.generate(name, rows=60, seed=s) for s in (1, 1, 2))
    assert one.digest == same.digest != other.digest
    assert len(one.y) == 60 and one.y.dtype.kind == "U"
    assert data.load(f"{name}:rows=60:seed=1").digest == one.digest


def test_led_has_its_noise_and_its_bayes_error():
    X, y = generators.led(rows=20000, noise=0.1, irrelevant=5, seed=3)
    clean = generators.SEGMENTS[y.astype(int)]
    flipped = (X.to_numpy()[:, :7] != clean).mean(axis=0)
    np.testing.assert_allclose(flipped, 0.1, atol=0.01)
    np.testing.assert_allclose(X.to_numpy()[:, 7:].mean(axis=0), 0.5, atol=0.02)
    # The nearest digit is the best guess when the noise is below a half.
    far = (X.to_numpy()[:, None, :7] != generators.SEGMENTS[None]).sum(axis=2)
    error = (far.argmin(axis=1) != y.astype(int)).mean()
    assert error == pytest.approx(generators.led_bayes_error(0.1), abs=0.015)


def test_waveform_means_are_those_of_the_mixtures():
    X, y = generators.waveform(rows=30000, features=40, seed=1)
    mean = X[y == "0"].mean().to_numpy()
    assert mean[10] == pytest.approx(3 + 0.5 * 2, abs=0.1)  # wave 1 peaks, wave 2 has 2
    assert mean[6] == pytest.approx(0.5 * 6 + 0.5 * 2, abs=0.1)
    np.testing.assert_allclose(mean[21:], 0, atol=0.05)
    with pytest.raises(InputError, match="21 or 40"):
        data.load("waveform:features=30")


@pytest.mark.parametrize(("classes", "features"), [(2, 1), (3, 2), (4, 5)])
def test_gaussians_have_their_bayes_error(classes: int, features: int):
    X, y = generators.gaussians(60000, classes, features, distance=2.5, seed=0)
    means = np.stack([X[y == k].mean() for k in sorted(set(y))])
    distance = np.linalg.norm(means[:, None] - means[None], axis=2)
    np.testing.assert_allclose(distance[~np.eye(classes, dtype=bool)], 2.5, atol=0.05)
    far = np.linalg.norm(X.to_numpy()[:, None] - means[None], axis=2)
    error = (far.argmin(axis=1) != y.astype(int)).mean()
    expected = generators.gaussian_bayes_error(classes, 2.5)
    assert error == pytest.approx(expected, abs=0.01)


def test_liu_and_whites_designs():
    X, y = generators.lw94(3, rows=40000, seed=5)
    shift = (X[y == "1"].mean() - X[y == "0"].mean()).to_numpy()
    np.testing.assert_allclose(shift, 0.2 * np.arange(1, 11), atol=0.05)
    X, y = generators.lw94(1, noise=80)
    assert X.shape == (100, 81) and (y == "1").sum() == 50
    assert generators.lw94(2)[0].shape == (100, 11)


def test_trees_learn_the_boolean_and_the_l():
    from omnitree import presets

    for name in ("dnf", "l-problem"):
        sample = data.generate(name)
        assert (
            presets.make("id3").fit(sample.X, sample.y).score(sample.X, sample.y) == 1
        )


def test_built_in_data_sets_are_as_their_readme_says():
    folder = Path(built_in.__file__).parent / "datasets"
    about = (folder / "README.md").read_text("utf-8")
    assert {path.stem for path in folder.glob("*.csv")} == set(built_in.ABOUT)
    for name in built_in.ABOUT:
        frame, found = built_in.table(name), data.load(name)
        missing = int(frame.isna().sum().sum())
        (line,) = (x for x in about.splitlines() if x.startswith(f"| `{name}.csv`"))
        assert f"| {len(frame)} |" in line and f"{missing} missing" in line
        assert "CC" in line and found.y.dtype.kind == "U"
        assert list(found.X) == list(frame)[:-1]
        assert found.y.tolist() == frame.iloc[:, -1].tolist()


def test_files_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = "a,b,split,class\n1,NA,train,1\n,y,test,2\n3,?,test,2\n"
    (tmp_path / "tiny.csv").write_text(text)
    with pytest.raises(InputError, match="no folder"):
        data.load("tiny", tmp_path / "gone")
    monkeypatch.setenv(data.VARIABLE, str(tmp_path))
    tiny = data.load("tiny")
    assert "tiny" in data.names() and list(tiny.X) == ["a", "b"]
    assert tiny.split is not None and tiny.split.tolist() == ["train", "test", "test"]
    assert tiny.X["b"].tolist() == [
        "NA",
        "y",
        "?",
    ]  # only empty cells are missing values here
    assert tiny.X["a"].isna().tolist() == [False, True, False]
    assert tiny.y.tolist() == ["1", "2", "2"]
    table = data.load(str(tmp_path / "tiny.csv"))
    assert list(table.X) == ["a", "b", "split"]
    assert table.X["b"].isna().tolist() == [True, False, True]


def test_the_digest_sees_every_change():
    iris = data.load("iris")
    seen = {iris.digest}
    X = iris.X.copy()
    X.iloc[7, 2] += 1e-9
    y = iris.y.copy()
    y[0] = "virginica"
    for changed in (
        data.Dataset("iris", X, iris.y),
        data.Dataset("iris", iris.X, y),
        data.Dataset("iris", iris.X.rename(columns={iris.X.columns[0]: "x"}), iris.y),
        data.Dataset("iris", iris.X, iris.y, np.full(150, "train")),
    ):
        assert changed.digest not in seen
        seen.add(changed.digest)
    assert data.Dataset("other", iris.X.copy(), iris.y.copy()).digest == iris.digest


# -- OpenML --------------------------------------------------------------------------

ARFF = """@RELATION play
@ATTRIBUTE windy {yes,no}
@ATTRIBUTE degrees REAL
@ATTRIBUTE class {in,out}
@DATA
yes,10.5,in
no,?,out
no,30,out
yes,12,in
"""
NAMES = ["windy", "degrees", "class"]


def answers(arff: str, base: str) -> dict[str, bytes]:
    """What OpenML says about a data set of four rows, as recorded and cut down."""
    features = [
        {
            "index": str(i),
            "name": name,
            "data_type": "numeric" if name == "degrees" else "nominal",
            "is_target": str(name == "class").lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": str(int(name == "degrees")),
        }
        for i, name in enumerate(NAMES)
    ]
    info = {
        "id": "77",
        "name": "play",
        "version": "1",
        "format": "ARFF",
        "status": "active",
        "file_id": "99",
        "default_target_attribute": "class",
        "description": "Four days.",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
        "url": f"{base}data/v1/download/99/play.arff",
    }
    found = {"data": {"dataset": [{"did": 77, "name": "play", "version": 1}]}}
    qualities = [{"name": "NumberOfInstances", "value": "4.0"}]
    return {
        "data/list/data_name/play": json.dumps(found).encode(),
        "data/77": json.dumps({"data_set_description": info}).encode(),
        "data/features/77": json.dumps(
            {"data_features": {"feature": features}}
        ).encode(),
        "data/qualities/77": json.dumps(
            {"data_qualities": {"quality": qualities}}
        ).encode(),
        "data/v1/download/99": arff.encode(),
    }


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """OpenML on this machine: a server, and what it was asked."""
    from sklearn.datasets import _openml

    asked: list[str] = []
    served: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            for part in sorted(served, key=len, reverse=True):
                if part in self.path:
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(served[part])
                    return
            self.send_error(412)

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{http.server_address[1]}/"
    served.update(answers(ARFF, base))
    for name in ("_SEARCH_NAME", "_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        url = re.sub(r"https://\w+\.openml\.org/", base, getattr(_openml, name))
        monkeypatch.setattr(_openml, name, url)
    monkeypatch.setenv(openml.VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    yield http, served, asked
    http.shutdown()
    http.server_close()


def test_openml_is_asked_once_and_then_the_cache(server, tmp_path: Path):
    http, _, asked = server
    first = data.load("play")
    assert first.X["degrees"].isna().tolist() == [False, True, False, False]
    assert first.y.tolist() == ["in", "out", "out", "in"]
    assert asked
    http.shutdown()
    http.server_close()
    asked.clear()
    again = data.load("openml:name=play:version=1")
    assert again.digest == first.digest and not asked
    manifest = json.loads((tmp_path / "cache" / "manifest.json").read_text())
    assert manifest == {"play/1": first.digest}


def test_openml_that_changes_is_refused(server, tmp_path: Path):
    import shutil

    http, served, _ = server
    data.load("play")
    shutil.rmtree(tmp_path / "cache" / "openml")
    base = f"http://127.0.0.1:{http.server_address[1]}/"
    served.update(answers(ARFF.replace("10.5", "10.7"), base))
    with pytest.raises(InputError, match="not what it was"):
        data.load("play")


def test_a_version_with_faults_is_warned_about(server):
    _, served, _ = server
    info = json.loads(served["data/77"])
    info["data_set_description"]["status"] = "deactivated"
    served["data/77"] = json.dumps(info).encode()
    with pytest.warns(UserWarning, match="inactive"):
        data.load("play")


def test_a_connection_that_breaks_is_said(server, monkeypatch: pytest.MonkeyPatch):
    from sklearn import datasets

    def broken(*_, **__):
        raise TimeoutError("timed out")

    monkeypatch.setattr(datasets, "fetch_openml", broken)
    with pytest.raises(InputError, match="cannot be reached: timed out"):
        openml.fetch("play", 1)


def test_unknown_names_and_no_network(server):
    http, _, _ = server
    with pytest.raises(InputError, match="did you mean 'iris'"):
        data.load("irsi")
    http.shutdown()
    http.server_close()
    with pytest.raises(InputError, match="cannot be reached"):
        data.load("nowhere")
    with pytest.raises(InputError, match="option of led"):
        data.load("led:noize=0.2")
