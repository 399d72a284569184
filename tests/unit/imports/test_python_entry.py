"""The parameters of an original function, written and read again."""

from __future__ import annotations

import pytest

from imports.python_entry import entry_names, python_entry
from tasks.parameters import parameters_text, read_parameters

TEXT = """
import numpy as np
def _inner(x): return x
def half(x): return x / 2
def f(x, j0, *, eps=1e-5, axis=-1): return half(x) + j0
"""


def test_a_functions_parameters_come_back_with_defaults_and_the_names_that_the_task_has() -> None:
    entry = python_entry(TEXT, "")
    assert entry is not None and entry.name == "f" and entry_names(TEXT) == ["f"]
    assert [(p.name, p.task_name, p.default, p.is_keyword) for p in entry.parameters] == [
        ("x", "x", "", False),
        ("j0", "j0_1", "", False),  # a name that generated kernels keep for themselves
        ("eps", "eps", "1e-05", True),
        ("axis", "axis", "-1", True),
    ]
    assert read_parameters(parameters_text(entry.parameters)) == entry.parameters
    assert entry.reals() == {"eps": 1e-5}
    assert entry.given({"axis": 0}).parameters[-1].default == "0"


@pytest.mark.parametrize("text", ["def f(*a): pass", "x = 1", "def f(:", "def f(x): pass\ndef g(x): pass"])
def test_what_has_no_plain_function_has_no_entry(text: str) -> None:
    assert python_entry(text, "") is None
