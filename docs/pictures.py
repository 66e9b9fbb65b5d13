"""The pictures of README.md and of the documentation, made from the current code.

`make pictures` runs it and writes to docs/_static:

| file | what |
|---|---|
| `explorer.png`, `explorer_dark.png` | the explorer, a tree with several kinds of nodes |
| `boundary.png` | two features of the penguins, by CART and by the default classifier |
| `accuracy.svg`, `accuracy_dark.svg` | error against size, from `results/omni.md` |

The explorer is photographed in Chromium by playwright (extra `test`), as in the tests.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from playwright.sync_api import sync_playwright

from omnitree import OmniTreeClassifier, presets
from omnitree.lab import data

ROOT = Path(__file__).parent.parent
STATIC = ROOT / "docs" / "_static"
RESULTS = ROOT / "benchmarks" / "results" / "omni.md"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The panel of the selected node, scrolled to its curves or weights.
TO_CURVES = """() => [...document.querySelectorAll("#node h3")]
    .find((head) => /curves|weights/i.test(head.textContent))?.scrollIntoView()"""
# Our own method, named ones, others, and text.
LIGHT = ("#2f6aa8", "#c98a54", "#c9d0d8", "#1c2632")
DARK = ("#7db3e8", "#d9a273", "#56616e", "#d6dce3")
# Names by which readers know a method, and where the label stands beside its point.
NAMED = {
    "omni": ("omnitree", (10, -4)),
    "lmt": ("LMT", (8, -3)),
    "cruise": ("CRUISE", (8, 4)),
    "ldt": ("LDT", (8, -3)),
    "cart": ("CART", (-38, -3)),
    "c4.5": ("C4.5", (8, 2)),
    "sklearn CART": ("scikit-learn, pruned", (-8, 8)),
    "oc1": ("OC1", (8, -3)),
    "ft": ("FT", (8, -3)),
    "qua": ("quadratic", (8, -3)),
    "STree": ("STree", (-34, 8)),
    "id3": ("ID3", (8, -3)),
    "lmdt": ("LMDT", (8, -3)),
}


def explorer() -> None:
    """The tree on thyroid patients; a test on several features is selected."""
    table = data.load("thyroid")
    clf = OmniTreeClassifier(random_state=0).fit(table.X, table.y)
    nodes = clf.tree_.to_dict()["nodes"]
    many = [n for n in nodes if len(n.get("importance", ())) > 1] or nodes
    curved = [n for n in many if n["kind"].startswith("additive")] or many
    node = max(curved, key=lambda n: sum(n["value"]))["id"]
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_path = Path(folder) / "tree.html"
        title = "Thyroid patients: hypothyroid or not"
        clf.to_html(page_path, table.X, table.y, title=title)
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox"]
        )
        for scheme, name in (("light", "explorer"), ("dark", "explorer_dark")):
            page = browser.new_page(
                viewport={"width": 1280, "height": 680},
                device_scale_factor=1.5,
                color_scheme=scheme,
            )
            page.goto(page_path.as_uri())
            page.wait_for_timeout(500)
            page.fill("#search", f"#{node}")
            page.keyboard.press("Enter")
            page.fill("#search", "")
            page.click("#zoom-fit")
            page.evaluate(TO_CURVES)
            page.wait_for_timeout(500)
            page.screenshot(path=STATIC / f"{name}.png")
        browser.close()


def boundary() -> None:
    """Bills and flippers of the penguins."""
    table = data.load("penguins")
    X = table.X[["bill_length_mm", "flipper_length_mm"]]
    there = X.notna().all(axis=1).to_numpy()
    X, y = X[there], table.y[there]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    trees = {
        "CART: one feature at a time": presets.make("cart", random_state=0),
        "omnitree: both features where that helps": OmniTreeClassifier(random_state=0),
    }
    for axis, (title, tree) in zip(axes, trees.items(), strict=True):
        tree.fit(X, y).plot_boundary(X, y, ax=axis)
        leaves = f"{tree.tree_.n_leaves} leaves"
        axis.set_title(f"{title} ({leaves})", fontsize=11)
        axis.set(xlabel="bill length (mm)", ylabel="flipper length (mm)")
    figure.savefig(STATIC / "boundary.png", dpi=110)
    plt.close(figure)


def read_results(text: str) -> dict[str, tuple[float, float]]:
    """Error and parameters of each method, from the first table of `omni.md`.

    >>> read_results("| method | error | parameters |\\n|---|---|---|\\n| a | 3.5 | 17 |")
    {'a': (3.5, 17.0)}
    """
    lines = iter(text.splitlines())
    head = next(line for line in lines if re.match(r"\| method .*parameters", line))
    names = [cell.strip() for cell in head.strip("|").split("|")]
    next(lines)
    found = {}
    for line in lines:
        if not line.startswith("|"):
            break
        row = dict(
            zip(names, (c.strip() for c in line.strip("|").split("|")), strict=True)
        )
        if row["parameters"] != "–":
            found[row["method"]] = float(row["error"]), float(row["parameters"])
    return found


def accuracy(dark: bool = False) -> None:
    """Mean error against mean number of parameters."""
    own, named, others, ink = DARK if dark else LIGHT
    text = RESULTS.read_text(encoding="utf-8")
    sets = re.search(r"(\d+) data sets, \d+ methods", text)
    assert sets is not None, f"{RESULTS} does not say how many data sets it has"
    found = read_results(text)
    figure, axis = plt.subplots(figsize=(8, 4.4), layout="constrained")
    figure.patch.set_alpha(0)
    axis.patch.set_alpha(0)
    for method, (error, size) in found.items():
        ours = method == "omni"
        colour = own if ours else named if method in NAMED else others
        axis.scatter(size, error, s=90 if ours else 36, color=colour, zorder=3)
        if method in NAMED:
            words, shift = NAMED[method]
            axis.annotate(
                words,
                (size, error),
                shift,
                textcoords="offset points",
                fontsize=11 if ours else 9,
                fontweight="bold" if ours else "normal",
                color=own if ours else ink,
            )
    worst = max(error for method, (error, _) in found.items() if method in NAMED)
    axis.set_ylim(top=worst + 1)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:,.0f}")
    axis.set(
        xlabel="parameters of the tree (log scale)", ylabel="error on held-out rows, %"
    )
    for text in (axis.xaxis.label, axis.yaxis.label, axis.title):
        text.set_color(ink)
    axis.tick_params(which="both", colors=ink)
    for spine in axis.spines.values():
        spine.set_color(ink)
    axis.set_title(
        f"Single trees on {sets[1]} data sets: lower and further left is better",
        fontsize=11,
        loc="left",
        color=ink,
    )
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)
    plt.rcParams["svg.hashsalt"] = "omnitree"  # the same picture gives the same file
    name = "accuracy_dark.svg" if dark else "accuracy.svg"
    figure.savefig(STATIC / name, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """All pictures."""
    STATIC.mkdir(exist_ok=True)
    accuracy()
    accuracy(dark=True)
    boundary()
    explorer()
    for path in sorted(STATIC.glob("[abe]*.*g")):
        print(f"docs/_static/{path.name}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
