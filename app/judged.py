"""One kernel, judged outside of any run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.guest_kernels import judged_guest
from app.sandboxes import make_sandbox, refuse_seed, refuse_shapes_elsewhere
from app.task_folders import open_sound_task
from records.errors import UsageError
from records.stopping import StopSignal

if TYPE_CHECKING:
    from app.settings import Settings
    from records.evaluation import Evaluation


def judge(
    settings: Settings,
    source: str,
    task: str,
    target: str,
    on: str,
    *,
    seed: int = 0,
    tunables: Mapping[str, int] | None = None,
    shapes: Sequence[str] = (),
    is_whole: bool = False,
    whole_s: float = 0.0,
    exact: bool = False,
    keep: Path | None = None,
    stop: StopSignal | None = None,
) -> Evaluation:
    """Compile, verify and time a kernel; `is_whole` executes every case as large as it is timed.

    `whole_s` is the processor time that this may take, where it is not to be the usual; `stop` ends it.
    """
    from sandbox.dispatched import asking
    from sandbox.target import load_target
    from sandbox.walk import needs_confirmation
    from tasks.extra_shapes import with_shapes

    refuse_seed(seed)
    refuse_shapes_elsewhere(on, shapes)
    loaded = with_shapes(open_sound_task(settings, task, load_target(target).name), shapes)
    sandbox = make_sandbox(settings, target, on, seed, exact=exact, keep=keep, whole_s=whole_s, stop=stop)
    prepared = sandbox.prepare(source, loaded, dict(tunables or {}) or None)
    if prepared.candidate.language != "hip":
        if on != "lab":
            raise UsageError("kernels in Triton and in assembly are judged by the lab alone: use --on lab")
        return judged_guest(settings, target, prepared, seed)
    ask = asking(sandbox)
    evaluation = ask("benchmark", prepared)
    if is_whole and evaluation.verdict.accepted and needs_confirmation(evaluation):
        return confirmed(evaluation, ask("confirm", prepared))
    return evaluation


def fault_on_small_cases(settings: Settings, source: str, task: str, target: str) -> str:
    """Find the lab's first finding against a kernel on a task's first two tests and shapes between them; else empty."""
    from sandbox.dispatched import asking
    from sandbox.target import load_target

    loaded = open_sound_task(settings, task, load_target(target).name)
    tests = loaded.tests[:2]
    small = replace(loaded, tests=tests, benchmarks=(replace(tests[-1], role="benchmark"),))
    sandbox = make_sandbox(settings, target, "lab", 0)
    verdict = asking(sandbox)("verify", sandbox.prepare(source, small, None)).verdict
    messages = [finding.message for finding in verdict.findings] or [str(verdict.code)]
    return "" if verdict.accepted else messages[0]


def confirmed(evaluation: Evaluation, confirmation: Evaluation) -> Evaluation:
    """Confirm the evaluation with the cases of its confirmation; without times where that rejects it."""
    if confirmation.verdict.accepted:
        return replace(evaluation, cases=confirmation.cases)
    return confirmation
