from __future__ import annotations

import ast

import pytest

from sandbox.guests.triton_source import MOST_NODES, PythonSourceError, taken_from
from tests.support.triton_kernels import SCALED, line_of

HEAD = "import triton\nimport triton.language as tl\n"
KERNEL = "@triton.jit\ndef k(x):\n    pass\n"


def test_kernels_stay_on_their_lines_and_all_else_goes() -> None:
    source = taken_from(SCALED)
    before, after = SCALED.split("\n"), source.text.split("\n")
    assert len(after) == len(before)
    changed = {line_of(a): b for a, b in zip(before, after, strict=True) if a != b and b}
    assert changed == {
        line_of("import triton"): "from __future__ import annotations; import triton",
        line_of("@triton.auto"): "@triton.jit",  # on the line of the first decorator
    }
    assert "os" not in {name.id for name in ast.walk(ast.parse(source.text)) if isinstance(name, ast.Name)}
    assert source.kernels == {"_times": line_of("def _times"), "scaled": line_of("def scaled")}
    assert source.notes == [(line_of("@triton.auto"), "@triton.autotune of scaled is left out; the plan decides")]
    assert source.omitted["os"] == (line_of("import os"), "it is the module os")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A = 4\n", "A = 4"),
        ("A = tl.constexpr(4)\n", "A = tl.constexpr(4)"),
        ("A: tl.constexpr = 4\n", "A: tl.constexpr = 4"),
        ("A = 4\nB = -2 * A + 1.5\n", "B = -2 * A + 1.5"),
        ("A = (1, 'two', tl.float16)\n", "A = (1, 'two', tl.float16)"),
        ("A = tl.constexpr(open('f'))\n", ""),
        ("A = int('4')\n", ""),
        ("A = B = 4\n", ""),
        ("A = [print(x) for x in (1,)]\n", ""),
        ("A = lambda: 4\n", ""),
        ("A = f'{print(1)}'\n", ""),
        ("print('hello')\n", ""),
        ("class A:\n    b = print(1)\n", ""),
        ("if True:\n    A = 4\n", ""),
        ("import os; A = 3\n", "A = 3"),
    ],
)
def test_only_constants_made_of_literals_are_taken(text: str, expected: str) -> None:
    lines = [line for line in taken_from(HEAD + text).text.split("\n")[2:] if line]
    assert lines[-1:] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from vllm.triton_utils import tl, triton", "import triton.language as tl; import triton as triton"),
        ("from triton.language.extra import libdevice", "from triton.language.extra import libdevice as libdevice"),
        ("from triton import jit, cdiv as c", "from triton import jit as jit; from triton import cdiv as c"),
        ("from torch import nn", ""),
        ("from triton.tools.mxfp import MXFP4Tensor", ""),
        ("from .near import helper", ""),
        ("from triton import *", ""),
        ("import triton as t", "import triton as t"),
    ],
)
def test_imports_are_of_triton_alone(line: str, expected: str) -> None:
    text = taken_from(f"{line}\n").text
    assert text.removeprefix("from __future__ import annotations").removeprefix("; ").rstrip() == expected


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("@triton.jit", "@triton.jit"),
        ("@triton.jit(noinline=True, repr=print)", "@triton.jit(noinline=True)"),
        ("@triton.jit(debug=f())", "@triton.jit"),
        ("@print\n@triton.jit", "@triton.jit"),
        ("@triton.heuristics({'A': lambda a: 1})\n@triton.jit()", "@triton.jit"),
    ],
)
def test_of_the_decorators_triton_s_own_remains(decorator: str, expected: str) -> None:
    lines = taken_from(f"{HEAD}{decorator}\ndef k(x: print(1)) -> print(2):\n    pass\n").text.split("\n")
    assert [line for line in lines if line.startswith("@")] == [expected]
    assert "from __future__ import annotations" in lines[0]  # or the annotations would be called


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        (f"{HEAD}def k(x):\n    pass\n", "k", "it is a function without @triton.jit"),
        (f"{HEAD}@other.jit\ndef k(x):\n    pass\n", "k", "it is a function without @triton.jit"),
        (f"{HEAD}@triton.jit\ndef k(*x):\n    pass\n", "k", "it takes any number of arguments"),
        (f"{HEAD}if True:\n    @triton.jit\n    def k(x):\n        pass\n", "k", "it stands inside another statement"),
        (f"{HEAD}class k:\n    pass\n", "k", "it is a class"),
        ("from far import k\n", "k", "it comes from far"),
    ],
)
def test_what_is_left_out_is_remembered_with_the_reason(text: str, name: str, why: str) -> None:
    source = taken_from(text)
    assert name not in source.kernels
    assert source.omitted[name][1].startswith(why)


def test_a_default_that_is_no_constant_is_left_to_the_plan() -> None:
    text = (
        f"{HEAD}@triton.jit\ndef k(x, é=f(1,\n   2), z: int = torch.finfo(q).max, *, y=4, w='é', v=os.x):\n    pass\n"
    )
    lines = taken_from(text).text.split("\n")
    assert lines[3:6] == ["def k(x, é=...", ", z: int = ..., *, y=4, w='é', v=...):", "    pass"]


def test_a_kernel_under_another_name_of_triton_s_is_found() -> None:
    for head in ("import triton as t\n@t.jit\n", "from triton import jit\n@jit\n"):
        assert taken_from(f"{head}def k(x):\n    pass\n").kernels == {"k": 3}
    assert taken_from(f"import jax as triton\n{KERNEL}").kernels == {}


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("x = (\n", 1, "no valid Python"),
        (f"{HEAD}def k(:\n", 3, "no valid Python"),
        ("x = " + "-" * 100_000 + "1\n", 1, "too deeply nested|no valid Python"),
        ("x = [" + "1," * MOST_NODES + "]\n", 1, "too long"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_at_its_line(text: str, line: int, expected: str) -> None:
    with pytest.raises(PythonSourceError, match=expected) as caught:
        taken_from(text)
    assert caught.value.line == line
