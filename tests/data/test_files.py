"""Files are replaced whole, with the permissions that a user would expect."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from omnitree.data.files import replace_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions(tmp_path: Path):
    """A private file stays private; a new one gets what the umask allows."""
    private = tmp_path / "private.json"
    private.write_text("old")
    private.chmod(0o600)
    replace_file(private, "new")
    assert private.read_text() == "new" and mode(private) == 0o600
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "new.json", b"new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new.json") == 0o640


def test_links_are_followed(tmp_path: Path):
    (tmp_path / "model.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "model.json")
    replace_file(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "model.json").read_text() == "new"


@pytest.mark.parametrize("name", ["n" * 255, "ü" * 127, "\U0001f332" * 63])
def test_long_names(name: str, tmp_path: Path):
    replace_file(tmp_path / name, "new")
    assert os.listdir(tmp_path) == [name]


def test_errors_name_the_file_and_leave_nothing(tmp_path: Path):
    path = tmp_path / "none" / "model.json"
    with pytest.raises(FileNotFoundError) as found:
        replace_file(path, "new")
    assert found.value.filename == str(path)
    with pytest.raises(OSError, match="no regular file"):
        replace_file(tmp_path, "new")
    with pytest.raises(UnicodeEncodeError):
        replace_file(tmp_path / "model.json", "\ud800")
    assert os.listdir(tmp_path) == []
