"""Tables from files of every kind, and the cells that mean missing."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_numeric_dtype

from omnitree import presets
from omnitree.data.reading import MISSING, FileFormat, InputError, TableFile, read_table

ARFF = """% a comment
@relation play
@attribute outlook {sunny, overcast, rain}
@attribute 'degrees C' real
@attribute code {1, 2}
@attribute play {yes, no}
@data
sunny, 30.5, 1, no
rain, ?, 2, yes
?, 20, 1, yes
"""


@pytest.fixture(autouse=True)
def warnings_are_errors() -> Iterator[None]:
    """Whatever the reader says must be expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def penguins() -> pd.DataFrame:
    """Like the penguins: three numeric columns, a category, and a class."""
    rng = np.random.default_rng(0)
    species = np.arange(150) % 3
    return pd.DataFrame(
        {
            "bill": np.round(rng.normal(40 + 5 * species, 2), 1),
            "flipper": np.round(rng.normal(190 + 15 * (species == 2), 5), 1),
            "mass": 10 * rng.integers(300, 600, 150) + 0.5,
            "island": np.array(["Dream", "Biscoe", "Torgersen"])[
                rng.integers(0, 3, 150)
            ],
            "species": np.array(["Adelie", "Chinstrap", "Gentoo"])[species],
        }
    )


def written(frame: pd.DataFrame, **options) -> str:
    return frame.to_csv(index=False, **options)


def read(folder: Path, content: str | bytes, name: str = "data.csv", **options):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(path, format=FileFormat(**options))


def assert_same(table: TableFile, frame: pd.DataFrame) -> None:
    assert table.header == list(frame.columns)
    pd.testing.assert_frame_equal(table.frame, frame, check_dtype=False)


# -- cells that mean missing ----------------------------------------------------------


@pytest.mark.parametrize("token", ["N/A", "NULL", "null", "None", "#N/A", "?", "NaN"])
def test_missing_everywhere(tmp_path: Path, penguins: pd.DataFrame, token: str):
    assert token in MISSING
    penguins.loc[7, ["bill", "island"]] = np.nan
    assert_same(read(tmp_path, written(penguins, na_rep=token)), penguins)


def test_tokens_are_those_of_pandas():
    for token in MISSING:
        cells = pd.read_csv(io.StringIO(f"a,b\n{token},x\n"))["a"]
        assert cells.isna().all() or token == "?"


@pytest.mark.parametrize("token", [".", "-"])
def test_missing_among_numbers_only(tmp_path: Path, penguins: pd.DataFrame, token: str):
    lines = written(penguins).splitlines()
    for i in range(1, 100):  # most of the cells: the others are numbers
        lines[i] = ",".join([token, *lines[i].split(",")[1:]])
    lines[5] = lines[5].replace(lines[5].split(",")[3], token)
    with pytest.warns(
        UserWarning, match="column 'bill': 99 of 150 .* taken as missing"
    ):
        table = read(tmp_path, "\n".join(lines))
    assert table.frame["bill"].isna().sum() == 99
    assert table.frame["island"][4] == token


def test_a_hyphen_is_a_category_beside_one_number(tmp_path: Path):
    text = "flag,y\n" + "1,a\n-,b\n" * 20
    with pytest.warns(UserWarning, match="'flag' holds categories"):
        table = read(tmp_path, text)
    assert set(table.frame["flag"]) == {"1", "-"}


@pytest.mark.parametrize("token", ["N/A", "-", "abc"])
@pytest.mark.parametrize("preset", ["c4.5", "cart"])
def test_same_tree_as_with_an_empty_cell(
    tmp_path: Path, penguins: pd.DataFrame, token: str, preset: str
):
    penguins.loc[7, "bill"] = None
    trees = []
    for text in ("", token):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = read(tmp_path, written(penguins, na_rep=text))
        X, y, _ = table.features_and_target("species")
        trees.append(presets.make(preset, random_state=0).fit(X, y).describe())
    assert trees[0] == trees[1]


def test_few_cells_that_are_no_numbers(tmp_path: Path):
    numbers = [f"{i}.5" for i in range(400)]
    for place, text in ((3, "abc"), (50, "n.d."), (399, "abc")):
        numbers[place] = text
    text = "size,y\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(numbers))
    with pytest.warns(UserWarning) as said:
        table = read(tmp_path, text)
    assert [str(w.message) for w in said] == [
        "column 'size': 3 of 400 cells are no numbers ('abc', 'n.d.'); they are taken as "
        "missing"
    ]
    assert table.frame["size"].isna().sum() == 3 and table.frame["size"][4] == 4.5


@pytest.mark.parametrize(
    ("numbers", "others"),
    [
        ([f"{i}.5" for i in range(90)], ["abc"] * 10),  # too many cells
        ([f"{i}.5" for i in range(300)], list("abcdef")),  # too many different texts
        ([str(i % 4) for i in range(100)], ["x", "x"]),  # codes
    ],
)
def test_columns_that_stay_categories(tmp_path: Path, numbers, others):
    text = "size,y\n" + "".join(f"{cell},1\n" for cell in [*numbers, *others])
    with pytest.warns(
        UserWarning, match=f"'size' holds categories, since {len(others)}"
    ):
        table = read(tmp_path, text)
    assert set(others) < set(table.frame["size"])
    extra = read(tmp_path, text, missing=(*MISSING, *set(others))).frame["size"]
    assert is_numeric_dtype(extra) and extra.isna().sum() == len(others)


def test_categories_and_booleans_are_nothing_to_speak_of(tmp_path: Path):
    table = read(tmp_path, "a,b,c\nred,True,1\n2,,2\nblue,False,3\n-,True,4\n")
    assert table.frame["a"].tolist() == ["red", "2", "blue", "-"]


def test_number_as_the_missing_token(tmp_path: Path):
    table = read(tmp_path, "a,b\n1,x\n-999,y\n2,-999\n", missing=(*MISSING, "-999"))
    assert table.frame["a"].isna().tolist() == [False, True, False]
    assert table.frame["b"].isna().tolist() == [False, False, True]


def test_numbers_of_a_model(tmp_path: Path, penguins: pd.DataFrame):
    """A model knows what is numeric: any text is missing, unless most cells are text."""
    X = penguins.drop(columns="species")
    schema = presets.make("c4.5").fit(X, penguins["species"]).tree_.schema
    path = tmp_path / "new.csv"
    head = "bill,flipper,mass,island\n"
    for cell in ("-", ".", "abc"):
        path.write_text(f"{head}40,190,{cell},Dream\n41,180,3000,-\n")
        with pytest.warns(UserWarning, match="'mass': 1 of 2 cells are no numbers"):
            frame = read_table(path, schema).frame
        assert frame["mass"].isna().tolist() == [True, False]
        assert frame["island"].tolist() == ["Dream", "-"]
    path.write_text(f"{head}40,190,-,Dream\n")
    with pytest.warns(UserWarning, match="taken as missing"):
        assert read_table(path, schema).frame["mass"].isna().all()
    path.write_text(f"{head}40,190,heavy,Dream\n")
    assert read_table(path, schema).frame["mass"].tolist() == ["heavy"]


def test_target_that_is_a_number_but_for_a_few_rows(tmp_path: Path):
    text = "x,price\n" + "".join(f"{i},{i}.25\n" for i in range(100)) + "7,-\n8,sold\n"
    with pytest.warns(UserWarning, match="'price': 2 of 102 cells are no numbers"):
        X, y, left_out = read(tmp_path, text).features_and_target("price")
    assert left_out == 2 and len(X) == 100 and y[3] == "3.25"


def test_hyphen_as_a_class(tmp_path: Path):
    text = "x,y\n" + "".join(f"{i},{label}\n" for i in range(9) for label in "01-")
    with pytest.warns(UserWarning, match="'y'"):  # as a feature it would be
        table = read(tmp_path, text)
    _, y, left_out = table.features_and_target("y")
    assert set(y) == {"0", "1", "-"} and left_out == 0
    assert set(read_table(table.path, untouched=["y"]).frame["y"]) == {"0", "1", "-"}


# -- separators, decimal signs, comments ----------------------------------------------


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_and_decimal_signs(tmp_path: Path, penguins, sep: str, decimal: str):
    table = read(tmp_path, written(penguins, sep=sep, decimal=decimal))
    assert_same(table, penguins)
    assert (table.separator, table.decimal) == (sep, decimal)
    first = next(table.rows())
    assert first[0] == str(penguins["bill"][0]).replace(".", decimal)


def test_commas_in_a_target(tmp_path: Path):
    table = read(tmp_path, "x;y\n1;2,5\n2;3\n3;NA\n4;4,75\n")
    _, y, left_out = table.features_and_target("y")
    assert y.tolist() == ["2.5", "3", "4.75"] and left_out == 1
    path = tmp_path / "thousands.csv"
    path.write_text('x,y\n1.5,"1,250"\n2.5,"2,000,000"\n3.5,7\n')
    _, y, _ = read_table(path, untouched=["y"]).features_and_target("y")
    assert y.tolist() == ["1250", "2000000", "7"]


@pytest.mark.parametrize("cell", ["1,234,567", "1,234.5", "12,345"])
def test_thousands(tmp_path: Path, cell: str):
    text = f'a;b\n"{cell}";1.5\n"2,345";2.5\n34;-\n'
    with pytest.warns(UserWarning) as said:
        table = read(tmp_path, text.replace(";", ","))
    assert table.frame["a"].tolist() == [float(cell.replace(",", "")), 2345, 34]
    assert [str(w.message) for w in said] == [
        f"column 'a': {cell} is read as {cell.replace(',', '')}",
        "column 'b': 1 of 3 cells are no numbers ('-'); they are taken as missing",
    ]
    assert table.frame["b"].isna().tolist() == [False, False, True]


def test_numbers_with_commas_among_words(tmp_path: Path):
    text = 'x,note\n1.5,"1,5"\n2.5,or so\n3.5,perhaps\n'
    assert read(tmp_path, text).frame["x"].tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    ("text", "option", "value"),
    [
        ("a,b;c\nx,y;z\n", "sep", ";"),
        ("a;b\n1,5;2.5\n3,5;4.5\n", "decimal", ","),
        ("a;b\n1,234;x\n5,678;y\n", "decimal", ","),
        ("#a,b\nx,y\nz,w\n", "comment", "#"),
        ("#a,b\nx,y\nz,w\n", "comment", ""),
    ],
)
def test_an_option_where_nobody_can_tell(tmp_path: Path, text, option, value):
    with pytest.raises(InputError, match=rf"data\.csv.*--{option}"):
        read(tmp_path, text)
    given = {option: value}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read(tmp_path, text, **given)
    assert len(table.header) == 2


def test_single_sign_that_is_no_usual_separator(tmp_path: Path, penguins):
    for sep in (":", " "):
        text = written(penguins, sep=sep)
        assert_same(read(tmp_path, text, sep={" ": "space"}.get(sep, sep)), penguins)
    with pytest.raises(InputError, match="one sign"):
        read(tmp_path, "a,b\n1,2\n", sep=",,")
    with pytest.raises(InputError, match="--decimal is"):
        read(tmp_path, "a,b\n1,2\n", decimal=";")


def test_comment_lines(tmp_path: Path, penguins: pd.DataFrame):
    lines = written(penguins).splitlines()
    text = "\n".join(["# made by hand", '# of "what', *lines[:9], "# more", *lines[9:]])
    assert_same(read(tmp_path, text + "\n#"), penguins)
    assert_same(read(tmp_path, text.replace("# ", "% "), comment="%"), penguins)
    with pytest.raises(InputError, match=r"line 20: 1 cell .*--comment '#'"):
        read(tmp_path, "\n".join([*lines[:19], "# footer"]))
    with pytest.raises(InputError, match="line 5: 6 cells"):
        read(tmp_path, "\n".join(["# one", *lines[:2], "# two", lines[3] + ",x"]))


def test_number_sign_in_cells_and_header(tmp_path: Path):
    table = read(tmp_path, '#,text\n1,"a\n#b"\n2,C#\n')
    assert table.frame["#"].tolist() == [1, 2]
    assert table.frame["text"].tolist() == ["a\n#b", "C#"]
    table = read(tmp_path, '# c\nn,text\n1,"a\n#b"\n#2,x\n')
    assert table.frame["text"].tolist() == ["a\n#b"]


# -- encodings and packings -----------------------------------------------------------


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"],
)
def test_encodings(tmp_path: Path, penguins: pd.DataFrame, encoding: str):
    penguins["island"] = penguins["island"].replace("Dream", "Träum")
    raw = written(penguins).encode(encoding)
    if encoding == "latin-1":
        with pytest.warns(UserWarning, match=r"no text in UTF-8.*--encoding"):
            table = read(tmp_path, raw)
    else:
        table = read(tmp_path, raw)
    assert_same(table, penguins)
    assert_same(read(tmp_path, raw, encoding=encoding), penguins)


def test_encodings_that_must_be_given(tmp_path: Path):
    raw = "имя,ответ\nда,нет\n".encode("cp1251")
    with pytest.raises(InputError, match="--encoding"):
        read(tmp_path, raw)
    assert read(tmp_path, raw, encoding="cp1251").header == ["имя", "ответ"]
    with pytest.raises(InputError, match="no encoding 'cp9999'"):
        read(tmp_path, raw, encoding="cp9999")
    with pytest.raises(InputError, match="no text in utf-8"):
        read(tmp_path, raw, encoding="utf-8")


def zipped(raw: bytes, *names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, raw)
    return out.getvalue()


PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda raw: zipped(raw, "data.tsv"),
}


@pytest.mark.parametrize("kind", PACK)
def test_packed_files(tmp_path: Path, penguins: pd.DataFrame, kind: str):
    packed = PACK[kind](written(penguins, sep="\t").encode())
    for name in (f"data.tsv.{kind}", "data.csv"):  # whatever it is called
        assert_same(read(tmp_path, packed, name), penguins)
    with pytest.raises(InputError, match="damaged or cut off"):
        read(tmp_path, packed[: len(packed) // 2])


def test_archives_that_are_no_table(tmp_path: Path):
    with pytest.raises(InputError, match="holds 2 files"):
        read(tmp_path, zipped(b"a,b\n1,2\n", "a.csv", "b.csv"))
    with pytest.raises(InputError, match="Zstandard"):
        read(tmp_path, b"\x28\xb5\x2f\xfd and more")


def test_archives_with_damaged_directories(tmp_path: Path):
    """Wrong offsets, names and methods, over which zipfile raises all kinds of errors."""
    raw = zipped(b"a,b\n1,2\n" * 20, "data.csv")
    for at in range(0, len(raw), 3):
        for byte in (0, 0xFF):
            damaged = raw[:at] + bytes([byte]) + raw[at + 1 :]
            with suppress(InputError, UserWarning):
                read(tmp_path, damaged)
    with pytest.raises(InputError, match="damaged or cut off"):
        read(tmp_path, raw[4:] if raw[4:].startswith(b"PK") else raw[:30] + raw[60:])


# -- Excel ----------------------------------------------------------------------------


def workbook(**sheets: pd.DataFrame) -> bytes:
    pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    out = io.BytesIO()
    with pd.ExcelWriter(out) as book:
        for name, frame in sheets.items():
            frame.to_excel(book, sheet_name=name, index=False)
    return out.getvalue()


def test_excel(tmp_path: Path, penguins: pd.DataFrame):
    cells = penguins.astype(object)
    cells.loc[3, "bill"] = "N/A"
    cells.loc[6, "mass"] = f"{cells.loc[6, 'mass']:,}"
    cells.loc[4, "mass"] = "-"
    cells.loc[5, "mass"] = "lost"
    penguins.loc[3, "bill"] = penguins.loc[[4, 5], "mass"] = None
    with pytest.warns(UserWarning, match="'mass'") as said:
        assert_same(read(tmp_path, workbook(one=cells), "data.xlsx"), penguins)
    assert "2 of 150 cells" in str(said[-1].message) and len(said) == 2


def test_sheets(tmp_path: Path, penguins: pd.DataFrame):
    raw = workbook(one=penguins, two=penguins.head(20))
    with pytest.warns(UserWarning, match=r"'one' is read, of one, two \(--sheet\)"):
        assert_same(read(tmp_path, raw, "data.xlsx"), penguins)
    for sheet in ("two", "2"):
        assert len(read(tmp_path, raw, "data.xlsx", sheet=sheet).frame) == 20
    with pytest.raises(InputError, match="no sheet '3'; it has one, two"):
        read(tmp_path, raw, "data.xlsx", sheet="3")
    with pytest.raises(InputError, match="--sheet is not for"):
        read(tmp_path, "a,b\n1,2\n", sheet="1")
    with pytest.raises(InputError, match="--sep is not for"):
        read(tmp_path, raw, "data.xlsx", sep=";")


def test_damaged_and_old_excel(tmp_path: Path, penguins: pd.DataFrame):
    raw = workbook(one=penguins)
    with pytest.raises(InputError, match=r"data\.xlsx is"):
        read(tmp_path, raw[:-100], "data.xlsx")
    for at in range(0, len(raw), 397):
        with suppress(InputError, UserWarning):
            read(tmp_path, raw[:at] + b"\xff" + raw[at + 1 :], "data.xlsx")
    with pytest.raises(InputError, match="old Excel"):
        read(tmp_path, b"\xd0\xcf\x11\xe0 and more", "data.xls")


def test_excel_without_its_package(tmp_path: Path, penguins, monkeypatch):
    raw = workbook(one=penguins)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"pip install 'omnitree\[excel\]'"):
        read(tmp_path, raw, "data.xlsx")


# -- ARFF and Parquet -----------------------------------------------------------------


def test_arff(tmp_path: Path):
    path = tmp_path / "play.arff"
    path.write_text(ARFF)
    table = read_table(path)
    assert table.header == ["outlook", "degrees C", "code", "play"]
    X, y, left_out = table.features_and_target("play")
    assert y.tolist() == ["no", "yes", "yes"] and left_out == 0
    assert X["degrees C"].isna().tolist() == [False, True, False]
    assert X["outlook"].isna().tolist() == [False, False, True]
    # Categories, though they look like numbers.
    assert X["code"].tolist() == ["1", "2", "1"]
    assert next(table.rows()) == ["sunny", "30.5", "1", "no"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no arff",
        "@",
        "@relation x\n@attribute\n@data\n1\n",
        "@relation x\n@attribute a string\n@data\nb\n",
        ARFF + "x,1\n",
    ],
)
def test_damaged_arff(tmp_path: Path, text: str):
    path = tmp_path / "bad.arff"
    path.write_text(text)
    with pytest.raises(InputError, match=r"bad\.arff"):
        read_table(path)


def test_parquet(tmp_path: Path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path = tmp_path / "play.parquet"
    frame = pd.DataFrame(
        {"a": [1.5, None, 3.0], "b": ["x", None, "y"], "class": ["1", "2", None]}
    )
    frame.to_parquet(path)
    X, y, left_out = read_table(path).features_and_target("class")
    assert y.tolist() == ["1", "2"] and left_out == 1
    assert X["a"].isna().tolist() == [False, True]
    with pytest.raises(InputError, match="--missing is not for"):
        read_table(path, format=FileFormat().with_missing(("x",)))
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match="Parquet"):
        read_table(path)
