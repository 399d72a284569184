"""Inputs that a function's own text states, and the sentence for what it does not state."""

from __future__ import annotations

import shlex

import pytest

from imports.declared_inputs import SPEC
from imports.stated_inputs import completed, stated_inputs
from records.errors import UsageError

TEXT = '''
cols = 512
def annotated(x: "f16[rows, cols]", ids: "int64[rows]:vocab", eps=1e-6): return x
def documented(x, table, axis=0):
    """Do something.

    x: [rows, 3 * cols]
    - `table`: bfloat16[vocab,cols]
    """
def silent(x, w, eps: float = 1e-6): return x
class Layer:
    def forward(self, x: "f32[rows]"): return x
'''


def test_annotations_and_lines_of_the_docstring_state_types_shapes_and_limits() -> None:
    sizes = {"rows": 64, "vocab": 100}
    specs, dims = completed(TEXT, "f.py", "annotated", "t", sizes)
    assert specs == {"x": ("f16", ["rows", "cols"], ""), "ids": ("i64", ["rows"], "vocab")}
    assert dims == {"rows": 64, "cols": 512, "vocab": 100}
    specs, _ = completed(TEXT, "f.py", "documented", "t", sizes)
    assert specs == {"x": ("f32", ["rows", "3 * cols"], ""), "table": ("bf16", ["vocab", "cols"], "")}
    assert completed(TEXT, "f.py", "Layer", "t", sizes)[1] == {"rows": 64}


@pytest.mark.parametrize(
    ("function", "words", "inputs", "sizes"),
    [
        ("silent", "what x and w are", ["x=f32[rows,cols]", "w=f32[rows,cols]"], "rows=4096,cols=4096"),
        ("annotated", "the size of rows and vocab", ["x=f16[rows,cols]", "ids=i64[rows]:vocab"], "rows=4096,cols=512"),
    ],
)
def test_what_is_missing_is_named_with_the_whole_command(
    function: str, words: str, inputs: list[str], sizes: str
) -> None:
    with pytest.raises(UsageError) as caught:
        completed(TEXT, "f.py", function, "mine", {})
    text = str(caught.value)
    command = shlex.split(text[text.index("kernel-scientist tasks new") :])
    assert words in text and command[3:6] == ["mine", "--from", f"f.py:{function}"]
    given = [command[i + 1] for i, word in enumerate(command) if word == "--input"]
    assert given == inputs and all(SPEC.fullmatch(spec) for spec in given)
    assert command[command.index("--size") + 1].startswith(sizes)


def test_a_file_that_draws_its_inputs_or_has_several_functions_is_left_to_the_import() -> None:
    assert completed(f"{TEXT}\ndef get_inputs(): return []\n", "f.py", "silent", "t", {}) == ({}, {})
    assert stated_inputs(TEXT, "") is None and stated_inputs("int main() {", "") is None
