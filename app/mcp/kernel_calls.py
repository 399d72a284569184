"""The tools that compile or execute kernels, as functions from plain data to plain data; each call has a process."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.mcp.concealing import HELD_OUT, clipped, without_shapes
from records.errors import MachineError, ScientistError, UsageError

if TYPE_CHECKING:
    from app.settings import Settings
    from records.evaluation import Evaluation
    from records.machine_code import InnerLoop
    from records.stopping import StopSignal
    from tasks.task import Task

MOST_SOURCE = 20_000  # characters of a seed or a reference that is shown
USED = ("agents.scientist.observations", "app.judged", "app.mcp.advice", "app.task_folders", "app.wiring")  # by calls
TIMED = ("case", "time_us", "warm_us", "bound_us", "roofline_us", "bound")


@dataclass(frozen=True)
class KernelRequest:
    """A kernel's text with what it is for."""

    source: str
    task: str  # a shipped task's name, or the path of a folder that the workspace has
    target: str = "mi300x"
    on: str = "lab"
    tunables: Mapping[str, int] = field(default_factory=dict)
    shapes: tuple[str, ...] = ()
    whole: bool = False
    seed: int = 0  # of the held-out cases: the server's own, which no client is told
    stop: StopSignal | None = None  # of the call


def show_task(settings: Settings, task: str, target: str) -> dict[str, Any]:
    """Return the fields of a `TaskSheet`."""
    from agents.scientist.views import reference_text, task_view
    from app.task_folders import open_task
    from sandbox.target import load_target
    from tasks.loader import seed_text

    loaded, gpu = open_task(settings, task, load_target(target).name), load_target(target)
    view = task_view(loaded)
    names = ("name", "title", "description", "inputs", "outputs", "scalars", "multiples", "tests", "benchmarks")
    seed = seed_text(loaded.seeds[0]) if loaded.seeds else ""
    return {
        **{name: view[name] for name in (*names, "flops", "bytes")},
        "tolerance_ratio": loaded.tolerance.ratio,
        "target": gpu.name,
        "target_brief": gpu.brief.strip(),
        "seeds": [path.name for path in loaded.seeds],
        "seed_source": clipped(seed, MOST_SOURCE),
        "reference": clipped(reference_text(loaded), MOST_SOURCE),
    }


def make_task(settings: Settings, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Make a task of a text; its name, its folder and sentences about it."""
    from app.user_text import task_name, task_of_text, user_text_of

    prepared = task_of_text(settings, user_text_of(fields))
    return {"task": task_name(prepared), "folder": prepared.task, "notes": list(prepared.notes)}


def check(settings: Settings, request: KernelRequest) -> dict[str, Any]:
    """Return the fields of a `KernelVerdict`."""
    loaded, evaluation = _judged(settings, request)
    return verdict_of(evaluation, loaded, request.source)


def compare(settings: Settings, left: KernelRequest, right: KernelRequest) -> dict[str, Any]:
    """Return the fields of a `SideBySide`; measured times that are close are timed in turns."""
    from agents.bench import BenchKernel
    from agents.scientist.observations import compared_text

    (loaded, old), (_, new) = _judged(settings, left), _judged(settings, right)
    sides = BenchKernel("left", left.source, old), BenchKernel("right", right.source, new)
    before, after = old.geomean_us, new.geomean_us
    fields: dict[str, Any] = {
        "left": verdict_of(old, loaded, left.source),
        "right": verdict_of(new, loaded, right.source),
        "verdict": contrast(settings, left, right, old, new),
        "speedup": None if not before or not after else round(before / after, 4),
        "text": "",
    }
    if old.measurements and new.measurements:
        fields["text"] = without_shapes(compared_text(*sides, loaded), _listed_names(loaded))
    return fields


def isa(settings: Settings, request: KernelRequest) -> dict[str, Any]:
    """Return the fields of a `MachineListing`."""
    from agents.scientist.observations import loops_text
    from app.wiring import make_compiler, make_disassembler

    make_compiler(settings, request.target)  # which refuses a target whose code is not shown
    disassembler = make_disassembler(settings, request.target)
    assert disassembler is not None
    loaded, sandbox, prepared = _prepared(settings, request)
    compiled = sandbox.compile(prepared)
    verdict = verdict_of(compiled, loaded, request.source)
    loops: tuple[InnerLoop, ...] = ()
    if compiled.verdict.accepted:
        chosen = prepared.choose(compiled.tunables)
        singles = [arm.prepared for arm in chosen.arms] or [chosen]
        loops = tuple(loop for single in singles if single.refusal is None for loop in disassembler.loops(single))
    return {
        "compiles": compiled.verdict.accepted,
        "findings": verdict["findings"],
        "resources": verdict["resources"],
        "text": loops_text("the kernel", loops, request.source) if loops else "",
    }


def verdict_of(evaluation: Evaluation, task: Task, source: str) -> dict[str, Any]:
    """Return the fields of a `KernelVerdict`, without what held-out cases hold."""
    from agents.scientist.views import evidence_of, failure_view
    from app.mcp.advice import advice_of
    from records.concealment import HELD_OUT as TOLD

    failure, evidence, listed = failure_view(evaluation, task), evidence_of(evaluation, source, {}), _listed_names(task)
    findings = [
        {**f, "message": without_shapes(f["message"], listed), "advice": advice_of(f["kind"])}
        for f in failure["findings"]
    ]
    times = [
        {**{name: row[name] for name in TIMED}, "resources_us": dict(row["shares"]), "stalls_us": dict(row["stalls"])}
        for row in evidence["times"]
    ]
    return {
        "accepted": evaluation.verdict.accepted,
        **{name: failure[name] for name in ("stage", "code", "meaning")},
        "findings": [{**f, "case": HELD_OUT if f["case"] == TOLD else f["case"]} for f in findings],
        "more_findings": failure["more"],
        "wrong_cases": [{**c, "name": HELD_OUT if c["name"] == TOLD else c["name"]} for c in failure["wrong"]],
        "right_cases": failure["right"],
        "tunables": dict(evaluation.tunables),
        "time_kind": evidence["time_kind"],
        "geomean_us": evaluation.geomean_us,
        "time_error": evaluation.time_error or None,
        "times": times,
        "resources": evidence["resources"],
        "counters": {row["name"]: float(row["value"]) for row in evidence["counters"]},
        "hot_lines": evidence["hot_lines"],
        "explanation": evidence["explanation"],
    }


def _listed_names(task: Task) -> set[str]:
    return {case.name for case in (*task.tests, *task.benchmarks)}


def _prepared(settings: Settings, request: KernelRequest) -> tuple[Any, Any, Any]:
    from app.sandboxes import make_sandbox
    from app.task_folders import open_sound_task
    from sandbox.target import load_target
    from tasks.extra_shapes import with_shapes

    if request.on not in ("lab", "device", "auto"):
        raise UsageError(f"`on` is lab, device or auto, not {request.on[:40]!r}")
    loaded = with_shapes(open_sound_task(settings, request.task, load_target(request.target).name), request.shapes)
    sandbox = make_sandbox(settings, request.target, request.on, request.seed, stop=request.stop)
    return loaded, sandbox, sandbox.prepare(request.source, loaded, dict(request.tunables) or None)


def _judged(settings: Settings, request: KernelRequest) -> tuple[Task, Evaluation]:
    from app.judged import confirmed
    from sandbox.dispatched import asking
    from sandbox.walk import needs_confirmation

    loaded, sandbox, prepared = _prepared(settings, request)
    try:
        ask = asking(sandbox)
        evaluation = ask("benchmark", prepared)
        if request.whole and evaluation.verdict.accepted and needs_confirmation(evaluation):
            evaluation = confirmed(evaluation, ask("confirm", prepared))
    except MachineError as error:  # which may name the case at which it arose
        raise type(error)(without_shapes(str(error), _listed_names(loaded))) from None
    return loaded, evaluation


def contrast(settings: Settings, left: KernelRequest, right: KernelRequest, old: Evaluation, new: Evaluation) -> str:
    """Compare the right kernel with the left one; measured times that are close are taken in turns."""
    from records.ranking import by_level, is_shorter

    before, after = old.geomean_us, new.geomean_us
    if not before or not after or old.time_kind != new.time_kind:
        return "not comparable"
    if new.time_kind == "predicted":
        return "faster" if is_shorter(new, old) else "slower" if is_shorter(old, new) else "same"
    decided = by_level(new, old)
    if decided is None:
        _, sandbox, challenger = _prepared(settings, right)
        return str(sandbox.compare(challenger, _prepared(settings, left)[2]).verdict)
    return "faster" if decided else "slower"


def answer_call(request: Mapping[str, Any], stop: StopSignal | None = None) -> dict[str, Any]:
    """Answer one call in plain data: `answer`, or `refused` with a sentence; `stop` ends what it is at."""
    from app.settings import load_settings

    try:
        settings = load_settings()
        kernels = [
            KernelRequest(**{**kernel, "shapes": tuple(kernel["shapes"]), "stop": stop})
            for kernel in request["kernels"]
        ]
        match request["call"]:
            case "show_task":
                return {"answer": show_task(settings, request["task"], request["target"])}
            case "make_task":
                return {"answer": make_task(settings, request["user_text"])}
            case "check":
                return {"answer": check(settings, *kernels)}
            case "compare":
                return {"answer": compare(settings, *kernels)}
            case _:
                return {"answer": isa(settings, *kernels)}
    except ScientistError as error:
        return {"refused": " ".join(str(error).split())}


def main() -> None:
    """One call: a line of JSON on standard input, a line on standard output. It ends when its input does."""
    from records.scratch_folder import leave
    from records.stopping import StopSignal, stoppable

    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed goes where a server's messages go
    line = sys.stdin.readline()
    if not line.endswith("\n"):  # the server went before it had asked
        return
    request, stop = json.loads(line), StopSignal()

    def watch() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)  # the server has gone, or the call was cancelled

    threading.Thread(target=watch, daemon=True).start()
    for name in USED:  # a signal ends the process meanwhile: an exception that cuts an import short harms the library
        importlib.import_module(name)
    with (
        stoppable(stop),
        contextlib.suppress(KeyboardInterrupt),
    ):  # nobody waits for the answer of a call that was cancelled
        output.write(json.dumps(answer_call(request, stop)) + "\n")
        output.flush()
    leave(0)  # the watching thread waits for input that does not come
