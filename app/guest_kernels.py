"""Kernels in languages other than HIP: how they are compiled for a check and to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from records.errors import PlanError, UsageError

if TYPE_CHECKING:
    from app.settings import Settings
    from records.evaluation import Evaluation
    from sandbox.amdgcn.compiler import Compilation
    from sandbox.candidate.prepare import Prepared
    from sandbox.guests.listed_plan import PlanCompiler


def compiled_guest(settings: Settings, target: str, prepared: Prepared) -> Evaluation:
    """The refusal of a kernel on the task's tests; UsageError where nothing but its execution is left to do."""
    from dataclasses import replace

    from sandbox.candidate.codes import rejected

    begun = _begun(prepared)
    if prepared.refusal is not None:
        return begun
    compiler = _plan_compiler(settings, target)
    for case in prepared.task.tests:
        if findings := compiler.compile(prepared, case).findings:
            return replace(begun, verdict=rejected("compile", findings))
    raise UsageError(
        f"the kernel compiles for every test of {prepared.task.name}, and the lab cannot execute "
        f"{prepared.candidate.language} yet; `kernel-scientist isa` shows its machine code"
    )


def guest_compilations(
    settings: Settings, target: str, source: str, task: str, tunables: Mapping[str, int]
) -> tuple[Compilation, ...]:
    """A file's kernels compiled for a task's first test; PlanError for a plan that does not fit."""
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


def _begun(prepared: Prepared) -> Evaluation:
    from records.evaluation import Evaluation, Verdict

    verdict = prepared.refusal or Verdict("compile", True, "OK")
    return Evaluation(prepared.id, prepared.id, prepared.tunables, verdict)
