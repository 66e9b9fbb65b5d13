"""Columns to learn from and labels of a table that was read."""

from __future__ import annotations

import pytest

from omnitree.data.reading import FileFormat, InputError, read_table


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{i},{i / 4},{'ab'[i % 2]}" for i in range(40)]
    path.write_text("\n".join(["id,x,class", *lines, "40,1.0,?", "41,,a"]) + "\n")
    return read_table(path)


def test_rows_as_written(table):
    rows = list(table.rows())
    assert len(rows) == 42
    assert rows[1] == ["1", "0.25", "b"] and rows[-1] == ["41", "", "a"]


def test_rows_without_a_label_are_left_out(table):
    X, y, left_out = table.features_and_target("class")
    assert (list(X.columns), len(X), left_out) == (["id", "x"], 41, 1)
    assert y.tolist()[:3] == ["a", "b", "a"]


def test_none_is_a_class_beside_words(tmp_path):
    path = tmp_path / "improved.csv"
    labels = ["None", "Some", "Marked", "NA"] * 5
    path.write_text("\n".join(["x,y", *(f"{i},{v}" for i, v in enumerate(labels))]))
    with pytest.warns(UserWarning, match="'None' in 'y' is taken as a class"):
        _, y, left_out = read_table(path).features_and_target("y")
    assert (set(y), left_out) == ({"None", "Some", "Marked"}, 5)
    named = read_table(path, None, FileFormat().with_missing(("None",)))
    assert named.features_and_target("y")[2] == 10
    path.write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(9)) + "9,None\n")
    assert read_table(path).features_and_target("y")[2] == 1


def test_numbers_to_predict(table, tmp_path):
    path = tmp_path / "u.csv"
    cells = [f'"{1000 * i:,}"' for i in range(1, 40)]
    path.write_text(
        "\n".join(["x,y", *(f"{i},{c}" for i, c in enumerate(cells)), "1,n.b."])
    )
    with pytest.warns(UserWarning, match=r"n\.b\."):
        X, y, left_out = read_table(
            path, None, FileFormat(decimal="."), ["y"]
        ).features_and_target("y")
    assert y.tolist()[:2] == ["1000", "2000"]
    assert (len(X), left_out) == (39, 1)


@pytest.mark.parametrize("name", ["", '""', "Unnamed: 0"])
def test_row_labels_are_no_feature(name, tmp_path):
    """pandas' `to_csv` and R's `write.csv` put them first, without a name."""
    path = tmp_path / "labelled.csv"
    path.write_text(f"{name},x,class\n" + "".join(f"{i},{i % 7},a\n" for i in range(9)))
    table = read_table(path)
    assert next(table.rows()) == ["0", "0", "a"]
    with pytest.warns(UserWarning, match="the first column has no name"):
        X, _, _ = table.features_and_target("class")
    assert list(X.columns) == ["x"]
    path.write_text("x,,class\n1,2,a\n")
    with pytest.raises(InputError, match="column 2 has no name"):
        read_table(path)


def test_wrong_names(table, tmp_path):
    with pytest.raises(InputError, match="did you mean 'class'"):
        table.check_column("clas")
    path = tmp_path / "one.csv"
    path.write_text("a\n1\n2\n")
    with pytest.raises(InputError, match="no column but the target"):
        read_table(path).features_and_target("a")
