"""Kernels in languages other than HIP: how they are compiled for a check and to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from records.errors import PlanError, UsageError

if TYPE_CHECKING:
    from app.settings import Settings
    from records.evaluation import Evaluation
    from sandbox.amdgcn.compiler import Compilation
    from sandbox.candidate.prepare import Prepared
    from sandbox.guests.listed_plan import PlanCompiler


def judged_guest(settings: Settings, target: str, prepared: Prepared, seed: int) -> Evaluation:
    """Return the verdict of the machine on a kernel, without a time."""
    from records.evaluation import Evaluation, Verdict
    from sandbox.amdgcn.toolchain import find_toolchain
    from sandbox.lab.guest_verify import GuestLab
    from sandbox.lab.machine_lab import MachineLab
    from sandbox.target import load_target

    verdict = prepared.refusal or Verdict("compile", True, "OK")
    begun = Evaluation(prepared.id, prepared.id, prepared.tunables, verdict)
    if prepared.refusal is not None:
        return begun
    compiler, gpu = _plan_compiler(settings, target), load_target(target)
    toolchain = find_toolchain(settings.cache_folder / "toolchain")
    lab = MachineLab(toolchain, settings.cache_folder / "kernels", gpu, settings.cores)
    return GuestLab(lab, compiler, seed).verify(prepared, replace(begun, isolation=toolchain.cage.level))


def guest_compilations(
    settings: Settings, target: str, source: str, task: str, tunables: Mapping[str, int]
) -> tuple[Compilation, ...]:
    """Compile a file's kernels for a task's first test; PlanError for a plan that does not fit."""
    from app.task_folders import open_task
    from sandbox.amdgcn.compiler import Compilation
    from sandbox.candidate.language import language_of
    from sandbox.candidate.parse import parse
    from sandbox.candidate.prepare import prepare

    if not task and language_of(source) == "assembly":
        return (_plan_compiler(settings, target).assembled(parse(source)),)
    if not task:
        raise UsageError(
            "say for which task: --task NAME; a Triton kernel is compiled for a case's types and constants"
        )
    loaded = open_task(settings, task, target)
    prepared = prepare(source, loaded, dict(tunables) or None)
    if prepared.refusal is not None:
        finding = prepared.refusal.findings[0]
        raise PlanError(finding.message, finding.line)
    listed = _plan_compiler(settings, target).compile(prepared, loaded.tests[0])
    return listed.compilations or (Compilation(False, listed.findings),)


def _plan_compiler(settings: Settings, target: str) -> PlanCompiler:
    from app.wiring import make_compiler
    from sandbox.guests.listed_plan import PlanCompiler

    return PlanCompiler(make_compiler(settings, target), settings.cache_folder / "kernels")
