"""Words of `--input` and `--size`."""

from __future__ import annotations

import pytest

from imports.declared_inputs import declared
from records.errors import UsageError


def test_tensors_numbers_and_sizes_are_told_apart() -> None:
    words = ["x=f32[rows, cols]", "ids=i64[rows]:vocab", "eps=1e-5", "dim=-1", "keep=True"]
    inputs = declared(words, ["rows=4,cols=8"])
    assert inputs.specs == {"x": ("f32", ["rows", "cols"], ""), "ids": ("i64", ["rows"], "vocab")}
    assert inputs.numbers == {"eps": 1e-5, "dim": -1, "keep": True}
    assert [type(value) for value in inputs.numbers.values()] == [float, int, bool]
    assert inputs.sizeless == ("vocab",)


@pytest.mark.parametrize(
    ("inputs", "sizes", "word"),
    [
        (["x=f32"], [], "takes NAME=TYPE"),
        (["x=f99[n]"], [], "takes NAME=TYPE"),
        (["x=f32[n]:m"], ["n=4,m=4"], "have a limit"),
        (["x=f32[n]"], [], "no --size does"),
        (["x=f32[n]"], ["n=four"], "takes DIM=N"),
        (["n=f32[n]"], ["n=4"], "stands for a size and for an input"),
        (["x=f32[n-4]"], ["n=4"], "no elements"),
        (["x=i8[n]:m"], ["n=4,m=4096"], "wider type"),
    ],
)
def test_what_cannot_be_is_one_sentence(inputs: list[str], sizes: list[str], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        declared(inputs, sizes).checked()
