"""Kernel files in languages other than HIP: how they are named, checked and shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from records.errors import PlanError, UsageError

if TYPE_CHECKING:
    from app.settings import Settings
    from records.evaluation import Evaluation
    from sandbox.amdgcn.compiler import Compilation
    from sandbox.candidate.prepare import Prepared
    from sandbox.guests.listed_plan import PlanCompiler

_FORMS = {
    "triton": 'a docstring that opens with """/*+++ and holds the plan in TOML up to +++*/',
    "assembly": "the comment /*+++ ... +++*/ that holds the plan in TOML, and then .amdgcn_target",
}


def read_kernel(file: Path) -> tuple[str, Path, str]:
    """The text of `FILE` or `FILE.py:NAME`, its path, and the name; UsageError where it is no such kernel file."""
    from app.commands.check import read_source
    from sandbox.candidate.language import SUFFIXES, language_of

    path, name = _split(file)
    source, wanted = read_source(path), SUFFIXES.get(path.suffix)
    if wanted and language_of(source) != wanted:
        raise UsageError(f"{path} has no launch plan: begin it with {_FORMS[wanted]}")
    if name:
        _check_name(source, path, name)
    return source, path, name


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
    """What a file's kernels are compiled to for a task's first test; PlanError for a plan that does not fit."""
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


def _split(file: Path) -> tuple[Path, str]:
    """`kernel.py:NAME` as a path and a name; a file whose own name has a colon is itself."""
    if file.exists() or ":" not in file.name:
        return file, ""
    place, _, name = str(file).rpartition(":")
    return Path(place), name


def _check_name(source: str, path: Path, name: str) -> None:
    from sandbox.candidate.parse import parse

    try:
        launched = {launch.kernel for launch in parse(source).plan.launches if not launch.is_step}
    except PlanError:
        return  # the verdict says what is wrong with the plan
    if name not in launched:
        raise UsageError(f"the plan of {path} does not launch {name!r}; it launches {', '.join(sorted(launched))}")


def _plan_compiler(settings: Settings, target: str) -> PlanCompiler:
    from app.wiring import make_compiler
    from sandbox.guests.listed_plan import PlanCompiler

    return PlanCompiler(make_compiler(settings, target), settings.cache_folder / "kernels")


def _begun(prepared: Prepared) -> Evaluation:
    from records.evaluation import Evaluation, Verdict

    verdict = prepared.refusal or Verdict("compile", True, "OK")
    return Evaluation(prepared.id, prepared.id, prepared.tunables, verdict)
