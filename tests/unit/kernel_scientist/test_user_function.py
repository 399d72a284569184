"""A function that a program holds becomes a file, and example arrays become words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from app.function_text import text_of_function
from kernel_scientist.user_function import declared_words, user_file_of
from records.errors import UsageError

HALF = 0.5
TABLE = {"a": 1}


def inner(x: Any) -> Any:
    return x * HALF


def outer(x: Any, y: Any, eps: float = 1e-5) -> Any:
    return inner(x) / np.sqrt(y + eps) + math.pi


def uses_a_table(x: Any) -> Any:
    return x * TABLE["a"]


def test_the_text_has_all_that_the_function_needs_and_nothing_else() -> None:
    space: dict[str, Any] = {}
    exec(text_of_function(outer), space)
    x = np.array([1.0, 4.0])
    assert np.array_equal(space["outer"](x, x), outer(x, x))
    assert "pytest" not in text_of_function(outer)


def test_what_has_no_text_is_one_sentence() -> None:
    for function in (uses_a_table, np.sqrt, eval("lambda x: x")):
        with pytest.raises(UsageError):
            text_of_function(function)


def test_arrays_and_words_are_inputs() -> None:
    x, bias = np.zeros((64, 128), np.float32), np.zeros((1, 128), np.float16)
    words, sizes = declared_words({"x": x, "bias": bias, "eps": 1e-5, "y": "f32[n1]", "k": True})
    assert words == ("x=f32[n0,n1]", "bias=f16[1,n1]", "eps=1e-05", "y=f32[n1]", "k=True")
    assert sizes == {"n0": 64, "n1": 128}
    with pytest.raises(UsageError, match="no array"):
        declared_words({"x": object()})
    with user_file_of(outer, {"x": x, "y": x}, {}, "", ((), ()), "") as user_file:
        assert user_file.title == "outer" and user_file.sizes == ("n0=64", "n1=128")
