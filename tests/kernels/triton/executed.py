"""One kernel of the corpus, compiled for each test of its task and executed, until something is found."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from records.evaluation import Finding
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.language import SOURCE_NAMES
from sandbox.candidate.prepare import prepare
from sandbox.guests.listed_plan import PlanCompiler
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task
from tests.kernels.triton.planted import PlantedKernel
from tests.support.compiler_cache import COMPILED, toolchain


@cache
def machine() -> MachineLab:
    return MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=2)


@cache
def plan_compiler() -> PlanCompiler:
    return PlanCompiler(Compiler(toolchain(), COMPILED, load_target("mi300x")), COMPILED)


def findings(kernel: PlantedKernel) -> tuple[Finding, ...]:
    """The findings on the first test that has any; none for a right kernel."""
    prepared = prepare(kernel.source, load_task(kernel.task, "mi300x"))
    for case in prepared.task.tests:
        listed = plan_compiler().compile(prepared, case)
        assert not listed.findings, listed.findings
        compilation, plan = listed.merged()
        symbols = {kernel.name: kernel.symbol for kernel in compilation.kernels}
        program = machine().program(compilation.listing, symbols, SOURCE_NAMES[prepared.candidate.language])
        assert not isinstance(program, tuple), program
        own = replace(prepared)
        own._known[(case.name, *sorted(case.dims.items()), *sorted(own.tunables.items()))] = plan
        if found := Judge(machine(), Built(own, compilation, program)).run(case)[1]:
            return found
    return ()
