"""One kernel of the corpus, judged by the machine."""

from __future__ import annotations

from functools import cache

from records.evaluation import Evaluation, Finding, Verdict
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.prepare import prepare
from sandbox.guests.listed_plan import PlanCompiler
from sandbox.lab.guest_verify import GuestLab
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task
from tests.kernels.triton.planted import PlantedKernel
from tests.support.compiler_cache import COMPILED, toolchain


@cache
def guest_lab() -> GuestLab:
    target = load_target("mi300x")
    compiler = PlanCompiler(Compiler(toolchain(), COMPILED, target), COMPILED)
    return GuestLab(MachineLab(toolchain(), COMPILED, target, cores=2), compiler)


def findings(kernel: PlantedKernel) -> tuple[Finding, ...]:
    """The findings on the first case that has any; none for a right kernel."""
    prepared = prepare(kernel.source, load_task(kernel.task, "mi300x"))
    begun = Evaluation("", prepared.id, prepared.tunables, Verdict("compile", True, "OK"))
    return guest_lab().verify(prepared, begun).verdict.findings
