"""Tasks whose cases let a lazy kernel pass are refused, and those that only look like it are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.linter import lint
from tasks.loader import load_task, task_names

Folder = Callable[..., Path]
DRAW = 'return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)}'
NORMAL = 'rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)'
BY_ROW = ('shape = ["rows", "cols"]\n\n[scalars]', 'shape = ["rows"]\n\n[scalars]')
LAZY = {  # what the task computes, from which inputs, and a shortcut that they let pass
    "the largest first": ("x.max(axis=1)", f"-np.sort(-{NORMAL})", "the first element along axis 1"),
    "the largest last": ("x.max(axis=1)", f"np.sort({NORMAL})", "the last element along axis 1"),
    "equal halves": ("x.sum(axis=1)", f"np.tile({NORMAL}, 2)[:, ::2].repeat(2, 1)[:, :70]", "every second element"),
    "one row again": ("np.cumsum(x, axis=0)", f"np.tile({NORMAL}[:1], (case.dims['rows'], 1))", "element along axis 0"),
    "a short period": ("x * x", f"np.resize({NORMAL}[0, :16], {NORMAL}.shape)", "the first 16 elements along axis 1"),
    "zeros behind": ("x.sum(axis=1)", f"{NORMAL} * (np.arange(case.dims['cols']) < 9)", "the first 16 elements"),
    "zeros at the end": ("x * x", f"{NORMAL} * (np.arange(case.dims['cols']) < 69)", "last element along axis 1 of"),
    "nothing below zero": ("x * x * x", f"np.abs({NORMAL})", ""),
}
SOUND = ["x * x", "np.abs(x)", "x.sum(axis=1)", "x.max(axis=1)", "np.cumsum(x, axis=1)", "np.sort(x, axis=1)", "x * 2"]
SOUND += ["x * (np.arange(70) < 69)"]  # that nothing reaches the last column is no luck of the inputs


def problems(folder: Folder, manifest: str, code: str, form: str, drawn: str) -> str:
    """The linter's sentences on a task with this operation and these inputs."""
    code = code.replace(DRAW, f'return {{"x": np.ascontiguousarray({drawn}, np.float32)}}')
    code = code.replace('inputs["x"].astype(np.float64) * 2', f"(lambda x: {form})(inputs['x'].astype(np.float64))")
    code = code.replace('inputs["x"] * np.float32(2)', f"(lambda x: {form})(inputs['x']).astype(np.float32)")
    manifest = manifest.replace("rows = 5\ncols = 7", "rows = 20\ncols = 70").replace(
        "rows = 8\ncols = 3", "rows = 7\ncols = 70"
    )
    if "axis=1)" in form and "cumsum" not in form and "sort" not in form:
        manifest = manifest.replace(*BY_ROW)
    return " | ".join(lint(load_task(folder(manifest, code))))


@pytest.mark.parametrize(("form", "drawn", "words"), LAZY.values(), ids=LAZY)
def test_inputs_that_let_a_shortcut_pass_are_named(
    folder: Folder, manifest: str, code: str, form: str, drawn: str, words: str
) -> None:
    found = problems(folder, manifest, code, form, drawn)
    assert (words in found) if words else (found == "")


@pytest.mark.parametrize("form", SOUND)
def test_what_the_operation_allows_is_no_shortcut(folder: Folder, manifest: str, code: str, form: str) -> None:
    """A sum needs no order, a square no sign: only inputs that hide a difference are refused."""
    assert problems(folder, manifest, code, form, NORMAL) == ""


def test_one_case_that_refuses_a_shortcut_is_enough(folder: Folder, manifest: str, code: str) -> None:
    drawn = f"-np.sort(-{NORMAL}) if case.dims['rows'] == 7 else {NORMAL} + 9 * np.eye(20, 70)[:, ::-1]"
    assert problems(folder, manifest, code, "x.max(axis=1)", drawn) == ""


def test_a_variant_that_refuses_a_shortcut_is_enough(folder: Folder, manifest: str, code: str) -> None:
    code += "\ndef variants(inputs, case, rng):\n    return {'turned': {'x': inputs['x'][:, ::-1].copy()}}\n"
    manifest = manifest.replace('title = "', 'variants = ["turned"]\ntitle = "')
    assert "first element" not in problems(folder, manifest, code, "x.max(axis=1)", f"-np.sort(-{NORMAL})")


@pytest.mark.parametrize(("factor", "is_named"), [("1", True), ("1 + 1e-9", True), ("1.5", False)])
def test_a_tasks_own_shortcut_must_be_refused(
    folder: Folder, manifest: str, code: str, factor: str, is_named: bool
) -> None:
    code += f"\ndef shortcuts(inputs, case):\n    return {{'the lazy one': {{'y': inputs['x'] * 2 * ({factor})}}}}\n"
    found = " | ".join(lint(load_task(folder(manifest, code))))
    assert ("the task's own shortcut 'the lazy one' passes every case" in found) == is_named


@pytest.mark.parametrize("name", task_names())
def test_every_shipped_task_declares_shortcuts(name: str) -> None:
    """Those in which a kernel has many ways to lose digits or terms declare more than the others need."""
    task = load_task(name)
    assert task.shortcuts is not None
    case = task.tests[0]
    needed = 8 if name in ("fp8_block_gemm", "rms_norm", "row_softmax", "transpose") else 3
    assert len(task.shortcuts(task.draw(case), case)) >= needed
