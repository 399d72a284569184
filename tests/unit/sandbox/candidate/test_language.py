from __future__ import annotations

import time

import pytest

from records.errors import PlanError
from sandbox.candidate.language import language_of, plan_start
from sandbox.candidate.parse import normalise, parse
from tests.support.triton_kernels import SCALED

PLAN = '/*+++\n[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [64]\nargs = ["x"]\n+++*/\n'


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (f"{PLAN}#include <hip/hip_runtime.h>\n", "hip"),
        (f"\n{PLAN}extern float x; // .text\n", "hip"),
        (f'{PLAN}.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n', "assembly"),
        (f"{PLAN}; a comment\n// another\n/* one\nmore */\n  .text\n", "assembly"),
        (SCALED, "triton"),
        (f"#!/usr/bin/env python3\n# Licence\n\n{SCALED}", "triton"),
        (f"\ufeff{SCALED}", "triton"),
        (SCALED.replace('"""', 'r"""', 1), "triton"),
        ("int x;", "hip"),
        ("", "hip"),
    ],
)
def test_the_beginning_of_a_file_tells_its_language(text: str, language: str) -> None:
    assert language_of(text) == language


def test_the_plan_of_a_python_file_begins_inside_its_docstring() -> None:
    text = f"# Licence\n{SCALED}"
    assert text[plan_start(text) :].startswith("/*+++\n")
    assert parse(text).plan.launches[0].line == 3


def test_what_reads_cpp_leaves_other_languages_alone() -> None:
    python = SCALED + "\n\ndef main():\n    kernel<<<1, 2>>>(x)  # no host half of C++\n"
    assert normalise(python) == python
    assert parse(python).plan.tunables == {"BLOCK": (256, 512)}


def test_a_plan_in_a_file_without_marks_is_asked_for_in_both_forms() -> None:
    with pytest.raises(PlanError, match="a Python file: with a docstring that begins with it"):
        parse("import triton\n")


@pytest.mark.parametrize("text", ["\n" * 200_000, "#\n" * 100_000, f"{PLAN}" + "/*" * 200_000, PLAN + ";\n" * 200_000])
def test_long_files_are_told_apart_at_once(text: str) -> None:
    started = time.process_time()
    language_of(text)
    plan_start(text)
    assert time.process_time() - started < 5  # by the square of its length it would be minutes
