"""The benchmark of digests: recorded trees are found again, and changes are noticed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
digests = pytest.importorskip("digests")


@pytest.mark.skipif(
    not (digests.find_shared() / "data").is_dir(), reason="needs ../shared/data"
)
def test_recorded_digests_are_found_again():
    command = [sys.executable, str(ROOT / "benchmarks" / "digests.py")]
    command += ["--check", "--only", "preset/c4.5/[hv]*"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 of 3 differ, 0 not recorded" in run.stdout


def test_digests_ignore_noise_but_no_changes():
    nodes = [{"kind": "axis", "weights": [1.0, 0.25, 1e-17]}, {"value": [3.0, 0.0]}]
    noisy = [{"kind": "axis", "weights": [1 - 1e-15, 0.25, 0.0]}, {"value": [3, -0.0]}]
    moved = [{"kind": "axis", "weights": [1.0, 0.25000001, 0.0]}, {"value": [3.0, 0.0]}]
    assert digests.digest(nodes) == digests.digest(noisy)
    assert digests.digest(nodes) != digests.digest(moved)


def test_comparison_names_what_differs(capsys):
    one = dict.fromkeys(digests.DIGESTS, "a") | {"nodes": 3, "score": 0.9}
    expected = {"same": one, "other": one, "lost": one}
    found = {"same": one, "other": one | {"tree": "b"}, "new": one}
    assert digests.compare(expected, found) == ["lost", "other"]
    out = capsys.readouterr().out
    assert "| lost | gone |" in out and "| other | tree |" in out
    assert "2 of 3 differ, 1 not recorded" in out
