"""One budget for all tools of a build: what is spent is spent, whoever spent it."""

from __future__ import annotations

import secrets
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from sandbox.amdgcn.build_budget import BuildBudget
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.front_end import LIMITS, Tools
from sandbox.candidate.diagnostics import BUILD_CPU_S
from sandbox.candidate.parse import parse
from sandbox.process import Completed
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

SOURCE = """/*+++
[[launch]]
kernel = "k"
grid = [1]
block = [1]
args = ["x"]
+++*/
#include <hip/hip_runtime.h>
__global__ void k(float *x) { x[0] = 1.25f; }
"""
ENDED = Completed(0, "", "", False, 1.0)


def test_each_tool_gets_what_the_others_left() -> None:
    budget = BuildBudget(30.0)
    assert budget.limits(replace(LIMITS, cpu_s=20)) == replace(LIMITS, cpu_s=20)
    budget.charge(replace(ENDED, cpu_s=25.0))
    left = budget.limits(LIMITS)
    assert left is not None
    assert left.cpu_s <= 5
    budget.charge(replace(ENDED, cpu_s=5.0))
    assert budget.limits(LIMITS) is None


def test_reading_what_tools_wrote_is_paid_for_as_well() -> None:
    budget = BuildBudget(30.0, spent_s=2.0)
    until_s = time.thread_time() + 0.05
    while time.thread_time() < until_s:
        pass
    assert budget.spent_s >= 2.05


def test_a_tool_for_which_nothing_is_left_does_not_run(tmp_path: Path) -> None:
    completed = Tools(toolchain(), budget=BuildBudget(0.0)).run(tmp_path, "clang", "--version")
    assert completed.timed_out
    assert not completed.stdout


def test_a_compilation_pays_for_its_assembly_out_of_what_is_left() -> None:
    compiler = Compiler(toolchain(), COMPILED, load_target("mi300x"))
    # A kernel that no cache has assembled before.
    candidate = parse(SOURCE.replace("1.25f", f"{secrets.randbelow(1 << 30)}.25f"))
    compilation = compiler.compile(candidate, {}, is_assembled=False)
    assert compilation.ok
    with tempfile.TemporaryDirectory() as work:
        spent = Tools(toolchain(), budget=BuildBudget(BUILD_CPU_S, spent_s=BUILD_CPU_S))
        late = compiler._assembled(spent, Path(work), compilation)
    assert not late.ok and not late.is_final
    assert f"may take {BUILD_CPU_S:g} s of processor time" in late.findings[0].message
    assert compiler.compile(candidate, {}).code_object
