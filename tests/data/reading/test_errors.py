"""What goes wrong with the user's input becomes one line."""

from __future__ import annotations

import pytest

from omnitree.data.reading.errors import InputError, check_input, input_at_fault


@pytest.mark.parametrize("error", [ValueError("bad"), TypeError("bad"), OSError("bad")])
def test_errors_of_the_input(error):
    with pytest.raises(InputError, match=r"^bad$"), input_at_fault():
        raise error


def test_the_file_is_named_and_other_errors_pass(tmp_path):
    with pytest.raises(InputError, match="nowhere: No such file"), input_at_fault():
        (tmp_path / "nowhere").read_bytes()
    for error in (BrokenPipeError(), KeyError("x"), InputError("as it is")):
        with pytest.raises(type(error)) as caught, input_at_fault():
            raise error
        assert caught.value is error


def test_what_is_no_file(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        check_input(tmp_path)
    with pytest.raises(InputError, match="there is no file"):
        check_input(tmp_path / "nowhere")
