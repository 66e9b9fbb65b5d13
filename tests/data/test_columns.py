"""Columns as people have them: ids, names, dates, many categories, row numbers.

Each goes the whole way: fit, predict, save and load, exports, the command line.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from typer.testing import CliRunner

from omnitree import (
    OmniTreeClassifier,
    OmniTreeRegressor,
    TreeClassifier,
    TreeRegressor,
    load,
    presets,
    save,
)
from omnitree.cli.app import app
from omnitree.data.encoding.learning import (
    ENOUGH_ROWS,
    MANY_CATEGORIES,
    MOST_CATEGORIES,
    TRIAL_CATEGORIES,
)
from omnitree.data.table import encode, learn_table

PRESETS = ("cart", "c4.5", "ldt", "lmt")


@pytest.fixture(scope="module")
def passengers():
    """A table like the Titanic's, without names."""
    rng = np.random.default_rng(1)
    n = 400
    X = pd.DataFrame(
        {
            "sex": rng.choice(["female", "male"], n),
            "age": rng.integers(1, 80, n).astype(float),
            "class": rng.choice(["1st", "2nd", "3rd"], n),
        }
    )
    logit = 2.0 * (X["sex"] == "female") - 1.5 * (X["class"] == "3rd") - X["age"] / 60
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def weather():
    """Four years of days; the season and a little noise decide."""
    rng = np.random.default_rng(2)
    dates = pd.date_range("2012-01-01", "2015-12-31")
    season = np.cos(2 * np.pi * (dates.day_of_year - 20) / 365.25)
    wet = rng.exponential(size=len(dates))
    score = season + 0.7 * (wet - 1) + rng.normal(scale=0.7, size=len(dates))
    y = np.select([score > 0.8, score > 0], ["rain", "fog"], "sun")
    X = pd.DataFrame(
        {"date": dates.strftime("%Y-%m-%d"), "wet": wet, "wind": rng.random(len(dates))}
    )
    return X, y


def names(n: int) -> list[str]:
    return [f"Person {i:04}, Mr. {chr(65 + i % 26)}" for i in range(n)]


def quiet(action, *args, **options):
    """The result, and that nothing was warned about."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        return action(*args, **options)


# ---- columns that identify rows


@pytest.mark.parametrize("preset", PRESETS)
def test_names_change_nothing(passengers, preset):
    X, y = passengers
    plain = presets.make(preset, random_state=0).fit(X, y)
    ids = [str(uuid.UUID(int=i**5)) for i in range(len(X))]
    wide = X.assign(name=names(len(X)), id=ids)[["id", "sex", "name", "age", "class"]]
    with pytest.warns(UserWarning, match="'id' .*'name'") as caught:
        clf = presets.make(preset, random_state=0).fit(wide, y)
    assert len(caught) == 1  # of all columns together
    assert clf.tree_.to_dict()["nodes"] == plain.tree_.to_dict()["nodes"]
    assert clf.n_features_in_ == 5
    assert clf.feature_names_in_.tolist() == list(wide.columns)
    np.testing.assert_allclose(
        clf.feature_importances_[[1, 3, 4]], plain.feature_importances_
    )
    assert not clf.feature_importances_[[0, 2]].any()
    # Whatever the columns hold later is of no account, nor whether they are there.
    new = wide.assign(id=np.arange(len(X)), name=None)
    np.testing.assert_array_equal(clf.predict(new), plain.predict(X))
    np.testing.assert_array_equal(clf.predict(X), plain.predict(X))
    np.testing.assert_array_equal(quiet(clf.predict, wide), plain.predict(X))


def test_the_front_door_leaves_names_out(passengers):
    X, y = passengers
    plain = OmniTreeClassifier(random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="400 different values in 400 rows"):
        clf = OmniTreeClassifier(random_state=0).fit(X.assign(name=names(len(X))), y)
    assert clf.describe() == plain.describe()


def test_regression_leaves_names_out(passengers):
    X, _ = passengers
    y = X["age"].to_numpy()
    X = X.drop(columns="age")
    with pytest.warns(UserWarning, match="Left out"):
        reg = TreeRegressor().fit(X.assign(name=names(len(X))), y)
    np.testing.assert_array_equal(
        reg.predict(X.assign(name="")), TreeRegressor().fit(X, y).predict(X)
    )


@pytest.mark.parametrize("library", [pd, pl])
def test_a_categorical_type_overrules(library):
    y = np.arange(60) % 2
    words = names(60)
    with pytest.warns(UserWarning, match="make it categorical"):
        left_out = learn_table(library.DataFrame({"name": words, "y": y}))
    assert left_out.schema.left_out == ("name",)
    if library is pd:
        declared = pd.DataFrame({"name": pd.Categorical(words), "y": y})
    else:
        declared = pl.DataFrame(
            {"name": pl.Series(words, dtype=pl.Categorical), "y": y}
        )
    kept = quiet(learn_table, declared)
    assert kept.schema.left_out == ()
    assert len(kept.schema.features[0].categories) == 60


def test_rows_by_position_may_hold_names_too(passengers):
    X, y = passengers
    rows = X.assign(name=names(len(X)))[["name", "sex", "age", "class"]].to_numpy(
        object
    )
    with pytest.warns(UserWarning, match="'x0'"):
        clf = TreeClassifier(max_depth=3).fit(rows, y)
    assert not hasattr(clf, "feature_names_in_")
    plain = TreeClassifier(max_depth=3).fit(rows[:, 1:], y)
    np.testing.assert_array_equal(
        clf.predict(rows.tolist()), plain.predict(rows[:, 1:])
    )
    with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 4"):
        clf.predict(rows[:, 1:])


def test_short_tables_and_few_categories_stay():
    words = np.array([f"w{i}" for i in range(20)])
    assert quiet(learn_table, words[:, None]).schema.n_features == 1
    often = np.repeat(words, 5)[:, None]
    assert quiet(learn_table, often).schema.features[0].n_categories == 20


def test_a_table_of_ids_alone_is_refused():
    with pytest.raises(ValueError, match=r"No column is left.*'x0' .*categorical"):
        learn_table(np.array(names(50))[:, None])


def test_missing_cells_do_not_count():
    """Of 1,000 rows 900 have no cabin; the other cabins are all different."""
    cabin = pd.Series([None] * 900 + [f"C{i}" for i in range(100)])
    with pytest.warns(UserWarning, match="100 different values in 100 rows"):
        table = learn_table(pd.DataFrame({"cabin": cabin, "x": np.arange(1000.0) ** 2}))
    assert table.schema.left_out == ("cabin",)


# ---- many categories


def test_rare_categories_count_as_missing():
    rng = np.random.default_rng(0)
    often = [f"A{i}" for i in range(3)]
    rare = [f"Z{i:03}" for i in range(MANY_CATEGORIES)]
    cells = np.array(often * 150 + rare * (ENOUGH_ROWS - 1))
    rng.shuffle(cells)
    X = pd.DataFrame({"place": cells, "x": rng.random(len(cells))})
    with pytest.warns(UserWarning, match=r"'place' \(64 of 67\)") as caught:
        table = learn_table(X)
    assert len(caught) == 1
    assert table.schema.features[0].categories == tuple(often)
    assert table.missing_by_feature[0] == len(rare) * (ENOUGH_ROWS - 1)
    codes = encode(
        pd.DataFrame({"place": ["A1", "Z001", "new"], "x": 0.0}), table.schema
    )
    np.testing.assert_array_equal(codes.values[:, 0], [1, np.nan, np.nan])
    declared = quiet(learn_table, X.astype({"place": "category"}))
    assert len(declared.schema.features[0].categories) == 67


def places(counts: list[int]) -> pd.DataFrame:
    """A column with so many cells of each place."""
    cells = np.repeat([f"A{i:04}" for i in range(len(counts))], counts)
    return pd.DataFrame({"place": cells, "x": np.sin(np.arange(len(cells)))})


def test_many_categories_with_enough_rows_stay():
    table = quiet(learn_table, places([5] * 100))
    assert len(table.schema.features[0].categories) == 100


def test_no_more_categories_than_tests_can_use():
    """The most frequent stay; where they are less than half, the column goes."""
    with pytest.warns(UserWarning, match=r"'place' \(44 of 300\)"):
        table = learn_table(places([9] * 44 + [10] * 256))
    assert table.schema.features[0].categories[0] == "A0044"
    assert len(table.schema.features[0].categories) == MOST_CATEGORIES
    with pytest.warns(UserWarning, match="600 different values in 6000 rows"):
        table = learn_table(places([10] * 600))
    assert table.schema.left_out == ("place",)


def test_a_few_rows_a_category_are_too_few():
    with pytest.warns(UserWarning, match="100 different values in 400 rows"):
        assert learn_table(places([4] * 100)).schema.left_out == ("place",)
    kept = quiet(learn_table, places([4] * 60))
    assert len(kept.schema.features[0].categories) == 60


@pytest.mark.parametrize("preset", PRESETS)
def test_places_do_not_hurt(passengers, preset):
    """150 places without a meaning, mostly rare: as good as without them, nearly."""
    X, y = passengers
    rng = np.random.default_rng(5)
    place = rng.choice([f"P{i}" for i in range(150)], len(X), p=_shares(150))
    clf = presets.make(preset, random_state=0)
    without = cross_val_score(clf, X, y, cv=3).mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        beside = cross_val_score(clf, X.assign(place=place), y, cv=3).mean()
    assert beside > without - 0.05


def _shares(n: int) -> np.ndarray:
    shares = 1 / np.arange(1, n + 1)
    return shares / shares.sum()


# ---- categories that tell nothing about the target


def learners() -> dict[str, object]:
    """Presets, and the defaults for classes and numbers."""
    made = {name: presets.make(name, random_state=0) for name in (*PRESETS, "omni")}
    return made | {
        "OmniTreeClassifier": OmniTreeClassifier(random_state=0),
        "TreeRegressor": TreeRegressor(max_depth=4),
        "OmniTreeRegressor": OmniTreeRegressor(random_state=0),
    }


def with_states(X: pd.DataFrame, n: int = 50) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    return X.assign(state=[f"S{i:02}" for i in rng.integers(n, size=len(X))])


def target_of(name: str, y: np.ndarray) -> np.ndarray:
    return (y == "yes").astype(float) if name.endswith("Regressor") else y


@pytest.mark.parametrize("name", learners())
def test_states_without_a_meaning_change_nothing(passengers, name):
    X, y = passengers
    y = target_of(name, y)
    plain = learners()[name].fit(X, y)
    wide = with_states(X)
    with pytest.warns(
        UserWarning, match=r"nothing of the target.* 'state' \(50 cat"
    ) as caught:
        model = learners()[name].fit(wide, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.tree_.to_dict()["nodes"] == plain.tree_.to_dict()["nodes"]
    assert model.tree_.schema.left_out == ("state",)
    assert model.feature_names_in_.tolist() == list(wide.columns)
    np.testing.assert_array_equal(quiet(model.predict, wide), plain.predict(X))
    np.testing.assert_array_equal(model.predict(X.iloc[:1]), plain.predict(X.iloc[:1]))


@pytest.mark.parametrize("name", learners())
def test_states_with_a_meaning_are_kept(passengers, name):
    X, y = passengers
    wide = with_states(X)
    tells = wide["state"].isin([f"S{i:02}" for i in range(0, 50, 3)])
    y = target_of(name, np.where(tells, "yes", y))
    model = quiet(learners()[name].fit, wide, y)
    assert model.tree_.schema.left_out == ()
    assert model.feature_importances_[-1] > 0.2


def test_a_categorical_type_keeps_states(passengers):
    X, y = passengers
    declared = with_states(X).astype({"state": "category"})
    clf = quiet(presets.make("cart", pruning=None).fit, declared, y)
    assert clf.tree_.schema.features[-1].n_categories == 50
    assert clf.feature_importances_[-1] > 0


def test_few_categories_need_no_proof(passengers):
    X, y = passengers
    clf = quiet(TreeClassifier(max_depth=2).fit, with_states(X, TRIAL_CATEGORIES), y)
    assert clf.tree_.schema.left_out == ()
    with pytest.warns(UserWarning, match="'state'"):
        TreeClassifier(max_depth=2).fit(with_states(X, TRIAL_CATEGORIES + 1), y)


def test_states_alone_stay(passengers):
    """Nothing else to learn from, so there is nothing they could hide."""
    X, y = passengers
    clf = quiet(TreeClassifier(max_depth=1).fit, with_states(X)[["state"]], y)
    assert clf.tree_.schema.features[0].n_categories == 50


def test_states_of_patients_are_judged_on_other_patients(passengers):
    """A state is where a patient lives; of each patient there are eight rows."""
    X, _ = passengers
    rng = np.random.default_rng(4)
    patient = np.arange(len(X)) // 8
    wide = X.assign(state=[f"S{i:02}" for i in rng.integers(15, size=50)[patient]])
    y = np.where(rng.random(50) < 0.5, "ill", "well")[patient]
    assert quiet(TreeClassifier().fit, wide, y).tree_.schema.left_out == ()
    with pytest.warns(UserWarning, match="'state'"):
        TreeClassifier().fit(wide, y, groups=patient)


def test_rare_states_are_not_reported_twice(passengers):
    X, y = passengers
    X = pd.concat([X] * 3, ignore_index=True)
    rng = np.random.default_rng(6)
    place = rng.choice([f"P{i}" for i in range(150)], len(X), p=_shares(150))
    with pytest.warns(UserWarning, match=r"'place' \(140 categories\)") as caught:
        TreeClassifier(max_depth=2).fit(X.assign(place=place), np.tile(y, 3))
    assert "count as missing" not in str(caught[0].message)


def test_the_command_line_names_states_and_keeps_them_if_told(passengers, tmp_path):
    X, y = passengers
    with_states(X).assign(y=y).to_csv(tmp_path / "train.csv", index=False)
    model = str(tmp_path / "model.json")
    fit = ["fit", str(tmp_path / "train.csv"), "--preset", "cart", "--output", model]
    told = CliRunner().invoke(app, [*fit, "--target", "y"])
    assert told.exit_code == 0, told.output
    assert "note: Left out, because their many categories" in told.stderr
    assert load(model).tree_.schema.left_out == ("state",)
    kept = CliRunner().invoke(app, [*fit, "--target", "y", "--categorical", "state"])
    assert kept.exit_code == 0, kept.output
    assert "Left out" not in kept.stderr
    assert load(model).tree_.schema.left_out == ()


def test_published_data_sets_are_taken_as_they_are():
    """None of the data sets of published experiments meets a rule, nor do parts of it."""
    beside = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("OMNITREE_DATA", beside))
    files = sorted({*folder.rglob("*.csv")} - {folder / "regression/references.csv"})
    if not files:
        pytest.skip(f"no data sets in {folder}; set OMNITREE_DATA")
    for file in files:
        data = pd.read_csv(file, keep_default_na=False, na_values=[""])
        X, target = data.iloc[:, :-1], data.iloc[:, -1]
        if file.parent.name == "regression":
            y = target.to_numpy(np.float64)
        else:
            y = np.unique(target.astype(str), return_inverse=True)[1].astype(np.int32)
        schema = quiet(learn_table, X, y).schema
        assert schema.is_plain, file.name
        for feature in schema.features:
            if feature.kind == "categorical":
                assert len(feature.categories) == X[feature.name].nunique(), file.name
        for part in range(3):
            rows = np.arange(len(X)) % 3 != part
            schema = quiet(learn_table, X[rows], y[rows]).schema
            assert schema.left_out == (), file.name


# ---- row numbers


@pytest.mark.parametrize("start", [0, 1, 1000])
def test_row_numbers_are_kept_and_reported(start):
    rng = np.random.default_rng(3)
    X = rng.random((80, 3))
    X[:, 1] = start + rng.permutation(80)
    with pytest.warns(UserWarning, match=rf"'x1' \({start} to {start + 79}\)"):
        table = learn_table(X)
    assert table.schema.n_features == 3
    with pytest.warns(UserWarning, match="'id' .*Drop such a column"):
        learn_table(pd.DataFrame(X, columns=["a", "id", "b"]))


def test_other_numbers_are_no_row_numbers():
    n = np.arange(80.0)
    for column in (n // 2, n * 2, n + 0.5, np.where(n == 3, np.nan, n), n[::-1] ** 2):
        quiet(learn_table, np.column_stack([column, np.sin(n)]))
    quiet(learn_table, n[:50, None].repeat(2, axis=1))  # few rows
    quiet(learn_table, n[:, None])  # nothing else to learn from


# ---- dates


@pytest.mark.parametrize("preset", PRESETS)
def test_a_date_in_text_helps_instead_of_hurting(weather, preset):
    X, y = weather
    clf = presets.make(preset, random_state=0)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    without = cross_val_score(clf, X.drop(columns="date"), y, cv=folds).mean()
    quiet(clf.fit, X, y)
    assert cross_val_score(clf, X, y, cv=folds).mean() > without + 0.02
    assert clf.tree_.schema.names[:4] == (
        "date: year",
        "date: month",
        "date: weekday",
        "date: days since 2012-01-01",
    )
    assert clf.n_features_in_ == 3
    assert len(clf.feature_importances_) == 3
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


def frames(X: pd.DataFrame) -> dict[str, object]:
    """The same table with its dates in every form."""
    dates = pd.to_datetime(X["date"])
    return {
        "datetime64": X.assign(date=dates),
        "zoned": X.assign(date=dates.dt.tz_localize("Europe/Berlin")),
        "period": X.assign(date=dates.dt.to_period("D")),
        "objects": X.assign(date=dates.dt.date.astype(object)),
        "dots": X.assign(date=dates.dt.strftime("%d.%m.%Y")),
        "american": X.assign(date=dates.dt.strftime("%m/%d/%Y")),
        "polars date": pl.DataFrame(X.assign(date=dates)).with_columns(
            pl.col("date").cast(pl.Date)
        ),
        "polars datetime": pl.DataFrame(X.assign(date=dates)),
        "polars text": pl.DataFrame(X),
    }


def test_dates_in_every_form_are_the_same(weather):
    X, y = weather
    expected = TreeClassifier(max_depth=6).fit(X, y)
    for form, frame in frames(X).items():
        clf = quiet(TreeClassifier(max_depth=6).fit, frame, y)
        assert clf.tree_.to_dict()["nodes"] == expected.tree_.to_dict()["nodes"], form
        if form not in ("american", "polars text"):  # text: year first, or days first
            np.testing.assert_array_equal(expected.predict(frame), expected.predict(X))
        np.testing.assert_array_equal(clf.predict(X), expected.predict(X))


def test_cells_that_are_no_dates_are_missing(weather):
    X, y = weather
    X = X.copy()
    X.loc[[5, 7], "date"] = ["unknown", None]
    with pytest.warns(UserWarning, match=r"'date' \(1 of 1460 cells\)"):
        table = learn_table(X)
    assert table.missing_by_feature.tolist() == [2, 2, 2, 2, 0, 0]
    clf = TreeClassifier(missing="fractional").fit(X.drop(index=5), y[X.index != 5])
    rows = pd.DataFrame({"date": ["never", None], "wet": 1.0, "wind": 0.5})
    np.testing.assert_array_equal(*clf.predict_proba(rows))


def test_a_column_of_dates_must_stay_one(weather):
    X, y = weather
    clf = TreeClassifier(max_depth=3).fit(X, y)
    with pytest.raises(ValueError, match="'date' held dates in training"):
        clf.predict(X.assign(date=np.arange(len(X))))
    with pytest.raises(ValueError, match="'wet' holds dates, but was numeric"):
        clf.predict(X.assign(wet=pd.Timestamp("2012-01-01")))


def test_declared_categories_are_no_dates(weather):
    X, _ = weather
    months = X.assign(date=X["date"].str[:8] + "01").astype({"date": "category"})
    assert learn_table(months).schema.features[0].kind == "categorical"


def test_dates_alone_and_without_any_value():
    dates = pd.DataFrame(
        {"t": pd.to_datetime(["2012-01-01"] * 3), "x": [1.0, 2.0, 3.0]}
    )
    assert learn_table(dates).schema.names == ("t: days since 2012-01-01", "x")
    empty = dates.assign(t=pd.NaT)
    schema = learn_table(empty).schema
    assert schema.names == ("t", "x")
    assert np.isnan(encode(dates, schema).values[:, 0]).all()


def test_options_name_columns_or_parts(weather):
    X, y = weather
    two = np.where(y == "sun", "sun", "other")
    days = "date: days since 2012-01-01"

    def fit(**options):
        clf = presets.make("cart", pruning=None, max_depth=4, missing="mean")
        clf.set_params(**{k: v for k, v in options.items() if k == "feature_costs"})
        rules = {k: v for k, v in options.items() if k != "feature_costs"}
        if rules:
            clf.learner.set_params(**rules)
        return clf.fit(X, two)

    assert fit(feature_costs={"date": 1.0}).tree_.n_leaves > 1
    assert fit(feature_costs=[1.0, 0.0, 0.0]).tree_.n_leaves > 1
    with pytest.raises(ValueError, match="shape"):
        fit(feature_costs=np.zeros(6))
    apart = fit(interactions=[["date"], ["wet", "wind"]])
    for leaf in np.flatnonzero(apart.tree_.kind == 0):
        inputs = {
            apart.tree_.schema.features[j].input
            for j in _features_above(apart.tree_, int(leaf))
        }
        assert "date" not in inputs or inputs == {"date"}
    assert fit(monotone={days: 1}).tree_.n_leaves > 1
    assert fit(monotone=[0, -1, 0]).tree_.n_leaves > 1
    with pytest.raises(
        ValueError, match="monotone names a date; name one of its parts"
    ):
        fit(monotone={"date": 1})


def _features_above(tree, node: int) -> set[int]:
    nodes = tree.to_dict()["nodes"]
    found = set()
    while (node := nodes[node]["parent"]) >= 0:
        found.add(nodes[node]["test"]["feature"])
    return found


def test_a_date_is_paid_for_once(weather):
    """A path that has tested one part of a date gets the others for nothing."""
    from dataclasses import replace

    from tests.samples import sample_of

    from omnitree.growing.missing import MISSING
    from omnitree.growing.node import Node, Rules

    X, y = weather
    sample = sample_of(X, np.unique(y, return_inverse=True)[1])
    costs = np.array([3.0, 1.0, 0.0])
    root = Node.root(sample, Rules(MISSING.resolve("mean"), feature_costs=costs))
    assert root.price({0}, 1.0) == root.price({0, 1, 3}, 1.0) == 1.75
    below = replace(root, tested=frozenset({1}))
    assert below.price({0}, 1.0) == 1.0
    assert below.price({0, 4}, 1.0) == 1.25


def test_explain_takes_a_row_as_the_user_has_it(weather):
    X, y = weather
    clf = TreeClassifier(max_depth=3).fit(X, y)
    text = str(clf.explain(X.iloc[0]))
    assert str(clf.explain(dict(X.iloc[0]))) == text
    assert "date: " in text


# ---- to files and back


@pytest.fixture
def everything(weather):
    """A table with dates, names and row numbers, and its tree."""
    X, y = weather
    X = X.assign(name=names(len(X)), row=np.arange(len(X)))
    with pytest.warns(UserWarning) as caught:
        clf = TreeClassifier(max_depth=5).fit(X, y)
    assert len(caught) == 1
    for part in ("'name' (1461 different values", "'row' (0 to 1460)"):
        assert part in str(caught[0].message)
    return clf, X, y


def test_saved_models_keep_the_dates(everything, tmp_path):
    clf, X, _ = everything
    save(clf, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.tree_.schema == clf.tree_.schema
    assert again.feature_names_in_.tolist() == list(X.columns)
    assert again.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def inputs_of(clf, X) -> list[dict]:
    """The rows as exports read them."""
    table = encode(X, clf.tree_.schema)
    columns = {}
    for feature, cells in zip(clf.tree_.schema.features, table.values.T, strict=True):
        words = feature.categories
        columns[feature.name] = [words[int(c)] if words else c for c in cells]
    return pd.DataFrame(columns).to_dict("records")


def test_python_export(everything):
    clf, X, _ = everything
    source = clf.export("python")
    assert "'date: month' is the month of date, 1 to 12" in source
    assert "name" not in source.split("CLASSES")[1].split("def predict")[1]
    space: dict = {}
    exec(source, space)
    for rows in (inputs_of(clf, X), X.to_dict("records")):
        found = [space["predict"](row)[0] for row in rows]
        np.testing.assert_array_equal(found, clf.predict(X))


@pytest.mark.parametrize("form", ["datetime64", "zoned", "period", "objects", "dots"])
def test_python_export_of_dates_in_every_form(weather, form):
    X, y = weather
    times = pd.to_datetime(X["date"]) + pd.to_timedelta(X["wind"] * 24, unit="h")
    clf = TreeClassifier(max_depth=6).fit(X.assign(date=times), y)
    space: dict = {}
    exec(clf.export("python"), space)
    given = frames(X)[form] if form in ("period", "objects") else X.assign(date=times)
    if form == "zoned":
        given["date"] = given["date"].dt.tz_localize("Europe/Berlin", nonexistent="NaT")
    elif form == "dots":
        given["date"] = given["date"].dt.strftime("%d.%m.%Y %H:%M:%S.%f")
    found = [space["predict"](row)[0] for row in given.to_dict("records")]
    np.testing.assert_array_equal(found, clf.predict(given))


def test_sql_export(everything):
    clf, X, _ = everything
    expression = clf.export("sql")
    assert "'date: month' is the month of date, 1 to 12" in expression
    with sqlite3.connect(":memory:") as db:
        pd.DataFrame(inputs_of(clf, X)).to_sql("t", db, index=False)
        found = [row[0] for row in db.execute(f"SELECT {expression} FROM t")]
    np.testing.assert_array_equal(found, clf.predict(X))


def test_other_exports_know_the_parts(everything):
    clf, _, _ = everything
    assert "date: month" in clf.describe()
    assert "month of date, 1 to 12" in clf.export("c")
    assert "date: month" in clf.export("pmml")


def test_command_line(everything, tmp_path):
    _, X, y = everything
    X.assign(class_=y).to_csv(tmp_path / "train.csv", index=False)
    run = CliRunner().invoke
    model = str(tmp_path / "model.json")
    fitted = run(
        app,
        [
            *("fit", str(tmp_path / "train.csv"), "--target", "class_"),
            *("--preset", "cart", "--output", model),
        ],
    )
    assert fitted.exit_code == 0, fitted.output
    X.assign(class_=y).head(200).to_csv(tmp_path / "new.csv", index=False)
    answered = run(app, ["predict", model, str(tmp_path / "new.csv")])
    assert answered.exit_code == 0, answered.output
    expected = load(model).predict(X.head(200))
    lines = answered.stdout.strip().splitlines()
    assert len(lines) == 201
    assert [e in line for e, line in zip(expected, lines[1:], strict=True)] == [
        True
    ] * 200
