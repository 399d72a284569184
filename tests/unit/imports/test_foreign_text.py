"""Texts of strangers as Python, or one sentence."""

from __future__ import annotations

import ast

import pytest

from imports.foreign_text import parsed
from imports.refusal import ImportRefused


def test_the_mark_that_editors_put_in_front_is_no_part_of_a_text() -> None:
    assert ast.unparse(parsed("it", "\ufeffrows = 4\n")) == "rows = 4"


@pytest.mark.parametrize(
    ("text", "message"), [("x = 1\ndef f(x:\n", r"'\(' was never closed \(line 2\)"), ("x = '\0'", "null bytes")]
)
def test_what_is_no_python_is_said_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ImportRefused, match=f"it is not Python: .*{message}"):
        parsed("it", text)
