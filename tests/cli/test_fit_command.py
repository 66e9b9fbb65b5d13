"""`omnitree fit`: its options, and what its report says of the error on new rows."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from tests.cli.test_cli import refused, run, words

from omnitree import OmniTreeClassifier, load, presets
from omnitree.cli import fit_command
from omnitree.cli.fit_options import class_weights, costs
from omnitree.data.reading import InputError


def numbers(text: str, name: str) -> list[float]:
    """The numbers in a line of the table of measures."""
    line = next(line for line in text.splitlines() if f"│ {name}" in line)
    cells = line.split("│")[2:]
    return [
        float(word)
        for cell in cells
        for word in cell.replace("%", " ").replace("to", " ").split()
    ]


@pytest.fixture
def loans() -> pd.DataFrame:
    """Two classes, one of them rarer, that overlap."""
    rng = np.random.default_rng(1)
    bad = rng.random(240) < 0.3
    return pd.DataFrame(
        {
            "id": np.arange(240) * 7 % 241,
            "income": np.round(rng.normal(50 - 12 * bad, 10), 1),
            "years": rng.integers(0, 20, 240),
            "home": np.array(["own", "rent"])[(rng.random(240) < 0.4 + 0.3 * bad) * 1],
            "w": np.where(bad, 2.0, 1.0),
            "risk": np.where(bad, "bad", "good"),
        }
    )


@pytest.fixture
def data(loans: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "loans.csv"
    loans.to_csv(path, index=False)
    return path


FIT = ("--target", "risk", "--preset", "cart")


# -- the report -----------------------------------------------------------------------


def test_measures_are_those_of_cross_validation(data: Path, loans: pd.DataFrame):
    features = ["income", "years", "home"]
    result = run("fit", data, "--target", "risk", "--drop", "id,w", "--seed", 3)
    assert result.exit_code == 0 and result.stderr == ""
    folds = StratifiedKFold(10, shuffle=True, random_state=3)
    clf, y = OmniTreeClassifier(random_state=3), loans["risk"].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proba = cross_val_predict(
            clf, loans[features], y, cv=folds, method="predict_proba"
        )
    said = np.where(proba[:, 0] > proba[:, 1], "bad", "good")
    shown = result.stdout
    error = 100 * np.mean(said != y)
    low, high = numbers(shown, "error")[1:3]
    assert low < error < high and f"Error on new rows: {error:.1f} %" in shown
    assert numbers(shown, "error")[0] == pytest.approx(error, abs=0.051)
    for name, label in (("sensitivity", "bad"), ("specificity", "good")):
        recall = 100 * np.mean(said[y == label] == label)
        assert numbers(shown, name)[0] == pytest.approx(recall, abs=0.051)
        assert f"{name} (recall of '{label}')" in shown
    area = metrics.roc_auc_score(y == "good", proba[:, 1])
    assert numbers(shown, "AUC")[0] == pytest.approx(area, abs=0.00051)
    loss = metrics.log_loss(y, proba)
    assert numbers(shown, "log loss")[0] == pytest.approx(loss, abs=0.00051)
    assert "calibration slope" in shown and "Calibration:" in shown
    matrix = metrics.confusion_matrix(y, said)
    assert numbers(shown, "bad")[:2] == matrix[0].tolist()
    assert numbers(shown, "good")[:2] == matrix[1].tolist()


def test_nothing_learned(tmp_path: Path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    frame["y"] = np.where(rng.random(120) < 0.2, "Yes", "No")
    path = tmp_path / "noise.csv"
    frame.to_csv(path, index=False)
    shown = words(run("fit", path, "--target", "y", "--folds", 5).stdout)
    assert "o better than always answering 'No'" in shown
    frame["y"] = rng.normal(size=120)
    frame.to_csv(path, index=False)
    shown = words(run("fit", path, "--target", "y", "--folds", 5).stdout)
    assert "better than always answering the mean" in shown


def test_a_leak_is_asked_about(tmp_path: Path):
    rng = np.random.default_rng(0)
    y = rng.random(150) < 0.4
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    frame["paid back"] = 1000 * y + rng.normal(size=150)
    frame["default"] = np.where(y, "no", "yes")
    path = tmp_path / "leak.csv"
    frame.to_csv(path, index=False)
    fit = ["fit", path, "--folds", 5, "--target"]
    shown = words(run(*fit, "default").stdout)
    assert "Too good to be true? 'paid back' alone predicts" in shown
    assert "Too good" not in run(*fit, "default", "--drop", "paid back").stdout
    frame["euros"] = rng.normal(size=150)
    frame["dollars"] = 1.1 * frame["euros"]
    frame.to_csv(path, index=False)
    assert "'euros' alone" in words(run(*fit, "dollars").stdout)


def test_iris_is_not_too_good(tmp_path: Path):
    from sklearn.datasets import load_iris

    path = tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(path, index=False)
    shown = run("fit", path, "--target", "target", "--preset", "cart").stdout
    assert "Too good" not in shown and "No better" not in shown
    assert "AUC" not in shown  # of three classes


def test_regression_report(tmp_path: Path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=list("ab"))
    frame["y"] = 3 * frame["a"] + rng.normal(size=200)
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    shown = run("fit", path, "--target", "y", "--folds", 5).stdout
    value, low, high, constant = numbers(shown, "root mean squared error")
    assert 0.8 < low < value < high < 1.4 and constant == pytest.approx(
        frame["y"].std(ddof=0), rel=1e-3
    )
    value, low, high, _ = numbers(shown, "mean absolute error")
    assert low < value < high < 1.1
    value, low, high, constant = numbers(shown, "R²")
    assert 0.8 < low < value < high < 1 and constant == 0
    assert "5-fold cross-validation" in words(shown)


def test_fewer_folds_are_explained(tmp_path: Path, data: Path):
    path = tmp_path / "rare.csv"
    path.write_text("x,y\n" + "".join(f"{i},{'ab'[i > 36]}\n" for i in range(40)))
    shown = words(run("fit", path, "--target", "y", "--preset", "cart").stdout)
    assert "3-fold" in shown and "fewer folds, because class 'b' has 3 rows" in shown
    assert "fewer folds" not in run("fit", data, *FIT, "--folds", 2).stdout


def test_many_classes(tmp_path: Path):
    path = tmp_path / "many.csv"
    lines = [f"{i % 20 + 0.1 * (i % 3)},k{i % 20}\n" for i in range(200)]
    path.write_text("x,y\n" + "".join([*lines, "5,k1\n", "5,k1\n"]))
    shown = run("fit", path, "--target", "y", "--preset", "cart", "--folds", 3).stdout
    assert "most frequent confusions" in words(shown) and "matrix" not in shown
    row = next(line for line in shown.splitlines() if line.startswith("│ k1 "))
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ["k1", "k5", "2"]


def test_no_warnings_of_other_libraries(data: Path, monkeypatch):
    """Ours become notes, each once; others do not reach the terminal."""
    fit = OmniTreeClassifier.fit

    def loud(self, *args, **options):
        warnings.warn("column 'id'\nlooks like a row number", stacklevel=1)
        warnings.warn_explicit("lbfgs failed", UserWarning, "x.py", 1, "sklearn.linear")
        np.log(np.zeros(1))
        return fit(self, *args, **options)

    monkeypatch.setattr(OmniTreeClassifier, "fit", loud)
    loud.__globals__["__name__"] = "omnitree.tests"  # where the warning is laid
    try:
        result = run("fit", data, "--target", "risk", "--folds", 3, "--drop", "id")
    finally:
        loud.__globals__["__name__"] = __name__
    assert result.exit_code == 0
    assert result.stderr == "note: column 'id' looks like a row number\n"


# -- options --------------------------------------------------------------------------


def test_dropped_columns_are_no_features(data: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    drop = ["--drop", "id", "--drop", "years,home", "--weight", "w", "--folds", 0]
    assert run("fit", data, *FIT, *drop, "-o", model).exit_code == 0
    assert load(model).feature_names_in_.tolist() == ["income"]
    new = tmp_path / "new.csv"
    new.write_text("income\n20\n70\n")
    rows = list(csv.DictReader(io.StringIO(run("predict", model, new).stdout)))
    assert [row["predicted"] for row in rows] == ["bad", "good"]


def test_columns_taken_as_categories(tmp_path: Path):
    """Codes that are numbers, and ids that would be left out, with a missing cell."""
    rng = np.random.default_rng(0)
    code, name = rng.integers(1, 7, size=300), [f"n{i}" for i in range(300)]
    risk = np.where((code % 2 == 0) ^ (rng.random(300) < 0.05), "bad", "good")
    frame = pd.DataFrame({"code": code, "name": name, "risk": risk})
    frame["code"] = frame["code"].astype("Int64").mask(frame.index == 3)
    data, model = tmp_path / "data.csv", tmp_path / "model.json"
    frame.to_csv(data, index=False)
    options = ["--categorical", "code,name", "--folds", 0, "-o", model]
    assert run("fit", data, *FIT, *options).exit_code == 0
    kinds = [f["kind"] for f in load(model).tree_.schema.to_dict()["features"]]
    assert kinds == ["categorical", "categorical"]
    rows = list(csv.DictReader(io.StringIO(run("predict", model, data).stdout)))
    assert np.mean([r["predicted"] == r["risk"] for r in rows]) > 0.9
    wrong = run("fit", data, *FIT, "--categorical", "risk")
    assert wrong.exit_code == 1 and "not a feature" in words(wrong.output)


def test_weights_are_those_of_python(data: Path, loans: pd.DataFrame, tmp_path: Path):
    model = tmp_path / "model.json"
    shown = run("fit", data, *FIT, "--weight", "w", "--folds", 5, "-o", model).stdout
    X = loans.drop(columns=["w", "risk"])
    expected = presets.make("cart", random_state=0).fit(
        X, loans["risk"], sample_weight=loans["w"]
    )
    assert load(model).describe() == expected.describe()
    assert "240 rows, weighted" in words(shown) and "Sums of weights" in shown
    both = sum(numbers(shown, "bad")[:2])
    assert both == loans.loc[loans["risk"] == "bad", "w"].sum()


def test_rows_without_weight(data: Path, loans: pd.DataFrame):
    loans.loc[:9, "w"] = 0
    loans.to_csv(data, index=False)
    result = run("fit", data, *FIT, "--weight", "w", "--folds", 3)
    assert "note: 10 rows of weight 0 left out" in result.stderr
    assert "230 rows, weighted" in words(result.stdout)
    loans["w"] = loans["w"].astype(object)
    for bad in ("", -1, "heavy"):
        loans.loc[20, "w"] = bad
        loans.to_csv(data, index=False)
        result = run("fit", data, *FIT, "--weight", "w")
        assert result.exit_code == 1 and "the weights in 'w'" in result.stderr


def test_groups_stay_together(data: Path, loans: pd.DataFrame, tmp_path: Path):
    """Thirty rows, each eight times: with groups nobody learns copies by heart."""
    rng = np.random.default_rng(0)
    few = (
        loans.drop(columns=["id", "w"])
        .head(30)
        .assign(risk=rng.permutation(["bad", "good"] * 15), customer=range(30))
    )
    copies = pd.concat([few] * 8, ignore_index=True)
    copies.loc[3, "customer"] = None
    copies.to_csv(data, index=False)
    model = tmp_path / "model.json"
    apart = run("fit", data, *FIT, "--drop", "customer", "--folds", 5).stdout
    result = run("fit", data, *FIT, "--groups", "customer", "--folds", 5, "-o", model)
    assert (
        "note: 1 row without a value in 'customer': each is a group of its own"
        in result.stderr
    )
    assert "240 rows, 31 groups kept together" in words(result.stdout)
    assert numbers(apart, "error")[0] < 10 < numbers(result.stdout, "error")[0]
    _, low, high, _ = numbers(result.stdout, "error")
    assert high - low > 25  # as of thirty rows, not 240
    assert "better than always answering" in words(result.stdout)
    assert "customer" not in load(model).feature_names_in_
    groups = copies["customer"].fillna(30)
    X = copies.drop(columns=["risk", "customer"])
    clf = presets.make("cart", random_state=0).fit(X, copies["risk"], groups=groups)
    assert load(model).describe() == clf.describe()


def test_groups_of_rare_classes(tmp_path: Path):
    path = tmp_path / "data.csv"
    lines = [f"{i},{i // 4},{'ab'[i > 31]}\n" for i in range(40)]
    path.write_text("x,g,y\n" + "".join(lines))
    fit = ["fit", path, "--preset", "cart", "--groups", "g", "--target"]
    shown = words(run(*fit, "y").stdout)
    assert "2-fold" in shown and "class 'b' has 2 groups" in shown
    number = ["fit", path, "--groups", "g", "--target", "x", "--drop", "y"]
    path.write_text(
        "x,g,y,z\n" + "".join(f"{line[:-1]},{len(line)}\n" for line in lines)
    )
    assert "10-fold" in words(run(*number).stdout)
    path.write_text("x,g,y\n" + "".join(f"{i},0,{'ab'[i > 9]}\n" for i in range(20)))
    assert "No estimate of the error" in run(*fit, "y").stdout


def test_class_weights_and_costs(data: Path, loans: pd.DataFrame, tmp_path: Path):
    loans = loans.drop(columns="w")  # it gives the class away
    loans.to_csv(data, index=False)
    X, y = loans.drop(columns="risk"), loans["risk"]
    model, matrix = tmp_path / "model.json", tmp_path / "costs.csv"
    matrix.write_text("true,good,bad\nbad,5,0\ngood,,1\n")
    asked = {
        ("--class-weight", "balanced"): {"class_weight": "balanced"},
        ("--class-weight", "bad=4"): {"class_weight": {"bad": 4, "good": 1}},
        ("--cost", "bad:good=5"): {
            "cost_matrix": {"bad": {"good": 5}, "good": {"bad": 1}}
        },
        ("--cost", matrix): {"cost_matrix": {"bad": {"good": 5}, "good": {"bad": 1}}},
    }
    plain = numbers(run("fit", data, *FIT, "--folds", 3).stdout, "sensitivity")[0]
    for options, expected in asked.items():
        result = run("fit", data, *FIT, *options, "--folds", 3, "-o", model)
        assert result.exit_code == 0
        clf = presets.make("cart", random_state=0).set_params(**expected).fit(X, y)
        assert load(model).describe() == clf.describe()
        assert numbers(result.stdout, "sensitivity")[0] > plain
    assert "cost per row" in result.stdout
    cost = numbers(result.stdout, "cost per row")
    assert cost[1] < cost[0] < cost[2] and cost[3] > 0


@pytest.mark.parametrize("loss", ["error", "log_loss", "cost"])
def test_what_to_optimise(data: Path, loans: pd.DataFrame, tmp_path: Path, loss: str):
    loans = loans.drop(columns=["id", "w"])
    loans.to_csv(data, index=False)
    model = tmp_path / "model.json"
    fit = ["fit", data, "--target", "risk", "--folds", 0, "--optimise", loss]
    cost = {"bad": {"good": 2}, "good": {"bad": 1}} if loss == "cost" else None
    more = ["--cost", "bad:good=2"] if cost else []
    assert run(*fit, *more, "-o", model).exit_code == 0
    clf = OmniTreeClassifier(optimise=loss, cost_matrix=cost, random_state=0)
    assert (
        load(model).describe() == clf.fit(loans.iloc[:, :-1], loans["risk"]).describe()
    )
    assert "'cart' has no optimise" in refused(*fit, *more, "--preset", "cart")
    number = run(*fit, *more, "--target", "income")
    assert number.exit_code == 1 and "for classification" in number.stderr
    if cost:
        assert "needs --cost" in refused(*fit)


def test_costs_with_a_class_that_a_fold_lacks(tmp_path: Path):
    path = tmp_path / "data.csv"
    lines = [f"{i},{'abc'[(i > 19) + (i == 39)]}\n" for i in range(40)]
    path.write_text("x,y\n" + "".join(lines))
    for option in (("--cost", "a:b=2"), ("--class-weight", "c=3")):
        result = run("fit", path, "--target", "y", "--preset", "cart", *option)
        assert result.exit_code == 0 and "class 'c' has 1 row)" in words(result.stdout)


def test_options_in_words():
    assert class_weights("a=b=2,c=0.5", ["a=b", "c"]) == {"a=b": 2, "c": 0.5}
    found = costs("a:b:c=3", ["a", "b:c"])
    assert found == {"a": {"a": 0, "b:c": 3}, "b:c": {"a": 1, "b:c": 0}}
    for text, word in (
        ("x:b=1", "'x'"),
        ("a=1", "TRUE:ANSWER"),
        ("a:b=-1", "at least"),
    ):
        with pytest.raises(InputError, match=word):
            costs(text, ["a", "b"])
    with pytest.raises(InputError, match="must be 0"):
        costs("a:a=1", ["a", "b"])
    for text in ("heavy", "a=x", "z=1"):
        with pytest.raises(InputError, match=r"balanced or LABEL|at least 0|class 'z'"):
            class_weights(text, ["a", "b"])


def test_cost_files_that_say_too_little(tmp_path: Path):
    path = tmp_path / "costs.csv"
    for text, word in (
        ("true,a\na,0\nb,1\n", "no costs for class 'b'"),
        ("true,a,b\na,0,1\n", "no costs for class 'b'"),
        ("true,a,b\na,0,\nb,1,0\n", "at least 0"),
        ("true,a,c\na,0,1\nb,1,0\n", "class 'c'"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=word):
            costs(str(path), ["a", "b"])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--drop", "incme"], "did you mean 'income'"),
        (["--drop", "risk"], "as both --target and --drop"),
        (["--weight", "w", "--groups", "w"], "as both --weight and --groups"),
        (["--drop", "id,income,years,home,w"], "no feature columns left"),
        (["--weight", "home"], "the weights in 'home'"),
        (["--class-weight", "god=2"], "did you mean 'good'"),
        (["--cost", "bad=2"], "TRUE:ANSWER"),
        (["--target", "income", "--cost", "a:b=1"], "--cost works only for class"),
        (["--sep", "ab"], "--sep is one sign"),
        (["--decimal", ";"], "--decimal is"),
        (["--sheet", "1"], "--sheet is not for"),
    ],
)
def test_bad_options(data: Path, options: list[str], word: str):
    result = run("fit", data, "--target", "risk", *options)
    assert result.exit_code == 1 and result.stdout == ""
    assert word in result.stderr.splitlines()[-1]


# -- files ----------------------------------------------------------------------------


def test_any_file_through_all_commands(data: Path, loans: pd.DataFrame, tmp_path: Path):
    """Semicolons, decimal commas, latin-1 and a comment: as the plain file."""
    loans["home"] = loans["home"].replace("own", "für sich")
    loans.to_csv(data, index=False)
    other = tmp_path / "other.csv"
    text = "# of 2024\n" + loans.to_csv(index=False, sep=";", decimal=",")
    other.write_bytes(text.encode("latin-1"))
    models = []
    for path in (data, other):
        model = tmp_path / f"{path.stem}.json"
        assert run("fit", path, *FIT, "--folds", 0, "-o", model).exit_code == 0
        models.append(model)
    assert models[0].read_bytes() == models[1].read_bytes()
    plain = run("predict", models[0], data).stdout
    result = run("predict", models[1], other)
    assert "note: " in result.stderr and "Windows-1252" in result.stderr
    assert result.stdout.splitlines()[0].startswith("id;income;")
    expected = pd.read_csv(io.StringIO(plain))
    found = pd.read_csv(io.StringIO(result.stdout), sep=";", decimal=",")
    pd.testing.assert_frame_equal(found, expected)
    options = ["--sep", ";", "--decimal", ",", "--encoding", "latin-1"]
    shown = [
        run("explain", models[0], path, "--row", 3, *more).stdout
        for path, more in ((data, []), (other, options))
    ]
    assert shown[0] == shown[1] != ""
    compared = run(
        *("compare", other, "--target", "risk", "--presets", "c4.5", "--jobs", 1),
        *("--protocol", "2fold", *options),
    )
    assert compared.exit_code == 0 and "c4.5" in compared.stdout
    assert "but no file" in refused("compare", "iris", "--sep", ";")


def test_cells_that_are_no_numbers_are_told(data: Path, loans, tmp_path: Path):
    loans["income"] = loans["income"].astype(object)
    model = tmp_path / "model.json"
    trees = []
    for token in ("", "N/A", "-", "unknown", "xyz"):
        loans.loc[5, "income"] = token
        loans.to_csv(data, index=False)
        more = ["--missing", "xyz"] if token == "xyz" else []
        result = run("fit", data, *FIT, "--folds", 0, "-o", model, *more)
        told = f"column 'income': 1 of 240 cells are no numbers ('{token}')"
        assert (told in result.stderr) == (token in ("-", "unknown"))
        predicted = run("predict", model, data, *more)
        assert predicted.exit_code == 0
        assert (told in predicted.stderr) == (token in ("-", "unknown"))
        trees.append(load(model).describe())
    assert len(set(trees)) == 1


def test_large_tables_have_fewer_folds(data: Path, monkeypatch):
    monkeypatch.setattr(fit_command, "LARGE", 500)
    assert "3-fold stratified" in words(run("fit", data, *FIT).stdout)


def test_files_that_are_cut_off(data: Path, tmp_path: Path):
    import gzip

    raw = gzip.compress(data.read_bytes())
    bad = tmp_path / "bad.csv.gz"
    for content in (raw[:-9], raw[:20], b"\x1f\x8b\x08garbage", b"PK\x03\x04garbage"):
        bad.write_bytes(content)
        assert "bad.csv.gz is damaged" in refused("fit", bad, "--target", "risk")
