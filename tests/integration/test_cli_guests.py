"""Kernel files in Triton and in assembly on the command line: `check` and `isa`."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from app.cli import run_command
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.parse import parse
from sandbox.target import load_target
from tasks.loader import FOLDER
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.triton_kernels import needs_triton
from tests.unit.sandbox.guests.test_assembler import SCALE

SOFTMAX = '''"""/*+++
[[launch]]
kernel = "softmax"
grid = ["rows"]
args = ["x", "y", "cols"]
constants = {BLOCK = "1 << log2(2 * cols - 1)"}
+++*/"""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * cols + column, mask=column < cols, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + tl.program_id(0) * cols + column, power / tl.sum(power, axis=0), mask=column < cols)
'''
pytestmark = pytest.mark.usefixtures("compiler_cache")


@pytest.fixture(autouse=True)
def settings(compiler_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))


def test_assembly_is_shown_beside_its_own_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.s").write_text(SCALE, encoding="utf-8")
    assert run_command(["isa", str(tmp_path / "k.s"), "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert kernel["name"] == "scale" and kernel["resources"]["vgpr"] == 2
    lines = SCALE.split("\n")
    assert lines[kernel["listing"][0]["line"] - 1].strip().startswith("s_load_dwordx4")


def test_a_fault_of_assembly_is_told_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.s").write_text(SCALE.replace("v_mul_f32", "v_mull_f32"), encoding="utf-8")
    assert run_command(["isa", str(tmp_path / "k.s")]) == 1
    assert "line 25: compile error: the assembler refuses this" in capsys.readouterr().out


@pytest.mark.skipif(importlib.util.find_spec("triton") is not None, reason="the extra `triton` is installed")
def test_without_triton_the_sentence_says_how_to_install_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.py").write_text(SOFTMAX, encoding="utf-8")
    assert run_command(["check", str(tmp_path / "k.py:softmax"), "--task", "row_softmax"]) == 3
    assert "install this project's extra" in capsys.readouterr().err


@needs_triton
def test_a_kernel_of_triton_s_is_shown_beside_the_lines_of_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.py").write_text(SOFTMAX, encoding="utf-8")
    assert run_command(["isa", str(tmp_path / "k.py:softmax"), "--task", "row_softmax", "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    stores = {row["line"] for row in kernel["listing"] if row["text"].startswith("buffer_store")}
    assert kernel["name"] == "softmax" and stores == {18}
    assert run_command(["isa", str(tmp_path / "k.py")]) == 2
    assert "say for which task" in capsys.readouterr().err


@needs_triton
def test_check_tells_what_triton_refuses_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.py").write_text(SOFTMAX.replace("power / tl", "powers / tl"), encoding="utf-8")
    assert run_command(["check", str(tmp_path / "k.py"), "--task", "row_softmax"]) == 1
    assert "line 18: compile error: Triton's compiler refuses the kernel: powers is not" in capsys.readouterr().out


@needs_triton
def test_a_right_kernel_of_triton_s_is_accepted_and_a_wrong_one_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.py").write_text(SOFTMAX, encoding="utf-8")
    assert run_command(["check", str(tmp_path / "k.py:softmax"), "--task", "row_softmax", "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["stage"] == "correct" and len(verdict["cases"]) > 12
    (tmp_path / "k.py").write_text(SOFTMAX.replace(", mask=column < cols, other", ", other"), encoding="utf-8")
    assert run_command(["check", str(tmp_path / "k.py"), "--task", "row_softmax", "--json"]) == 1
    assert capsys.readouterr().out
    (tmp_path / "k.py").write_text(SOFTMAX.replace("axis=0), mask=column < cols", "axis=0)"), encoding="utf-8")
    assert run_command(["check", str(tmp_path / "k.py"), "--task", "row_softmax", "--json"]) == 1
    (finding, *_) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["kind"], finding["line"]) in {("out_of_bounds", 18), ("race", 18)}


def test_a_compiler_s_listing_is_judged_as_assembly_and_a_lost_wait_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = (FOLDER / "row_softmax" / "seed.hip").read_text(encoding="utf-8")
    listing = (
        Compiler(toolchain(), COMPILED, load_target("mi300x")).compile(parse(seed), {}, is_assembled=False).listing
    )
    text = f"{seed.partition('+++*/')[0]}+++*/\n{listing}"
    (tmp_path / "k.s").write_text(text, encoding="utf-8")
    assert run_command(["check", str(tmp_path / "k.s"), "--task", "row_softmax", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accepted"]
    before, wait, after = text.rpartition("\ts_waitcnt vmcnt(0)\n")
    (tmp_path / "k.s").write_text(f"{before}\n{after}", encoding="utf-8")
    assert wait and run_command(["check", str(tmp_path / "k.s"), "--task", "row_softmax", "--json"]) == 1
    (finding, *_) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["kind"] == "missing_wait"
