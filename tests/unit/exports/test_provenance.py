"""What every export says of its kernel stays within a comment, a docstring and a string."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from exports.gpumode_submission import gpumode_submission
from exports.kernelbench_model import kernelbench_model
from exports.provenance import lines_of, spoken
from exports.torch_module import torch_module
from records.program_version import program_version
from tests.support.exports import KNOWN, operator

HOSTILE = 'A "title"""\\\n*/ raise SystemExit  #\x1b[31m.'


def test_a_title_is_one_line_without_quotes_and_ends_of_comments() -> None:
    assert spoken(HOSTILE) == "A 'title'''/ * / raise SystemExit # [31m"
    assert spoken("Softmax of each row.") == "Softmax of each row"
    assert f"GPU Kernel Scientist {program_version()}." in lines_of(KNOWN)[0]
    assert "a'b" in lines_of(replace(KNOWN, task='a"b'))[0]


@pytest.mark.parametrize("writer", [torch_module, kernelbench_model, gpumode_submission])
def test_no_title_and_no_name_of_a_folder_becomes_code(writer: object) -> None:
    transpose = operator("transpose")
    transpose.launcher.task = replace(transpose.launcher.task, title=HOSTILE)
    text = writer(transpose, replace(KNOWN, task=HOSTILE))  # type: ignore[operator]
    assert not any(
        isinstance(node, ast.Raise) and "SystemExit" in ast.unparse(node) for node in ast.walk(ast.parse(text))
    )
