"""Races a kernel with PyTorch, a library's call or a shared object on this machine's GPU: one line of JSON each way.

A process of its own: it executes the user's code. Both sides work on the same memory and the default stream; each
window is one call with cold caches, and the windows of the two come in turns, as the judge's own do (`contrast.py`).
"""

from __future__ import annotations

import json
import math
import random
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.beating.incumbent_names import Incumbent
from app.beating.race_calls import Call, RaceMemory, incumbent_call, torch_of
from records.errors import ScientistError, UsageError
from records.evaluation import CaseComparison
from sandbox.gpu.timing.contrast import CHALLENGER, INCUMBENT, Rule, decide

RULE = Rule(most=384)
APART = 0.1  # of the largest value: results further from each other are of two computations
WARM_CALLS = 3  # compilation and a library's own choices happen then


class RaceWindows:
    """Windows of two calls, as `decide` takes them; keeps what each took."""

    def __init__(self, calls: Mapping[str, Call], window: Callable[[Call], float]) -> None:
        """`window` gives the microseconds of one call."""
        self._calls, self._window = calls, window
        self.times_us: dict[str, list[float]] = {tag: [] for tag in calls}

    def take(self, order: Sequence[str]) -> Sequence[float]:
        """Time a window for each tag in turn."""
        times = [self._window(self._calls[tag]) for tag in order]
        for tag, time_us in zip(order, times, strict=True):
            self.times_us[tag].append(time_us)
        return times


def contest(case: str, windows: RaceWindows, rng: random.Random) -> tuple[CaseComparison, float, float]:
    """Compare the two calls on one case; the medians of both, ours first."""
    decision = decide(windows, RULE, rng)
    low, high = max(decision.low, 1e-6), min(decision.high, 1e6)
    medians = [statistics.median(windows.times_us[tag]) for tag in (CHALLENGER, INCUMBENT)]
    return CaseComparison(case, decision.ratio, low, high, decision.verdict, decision.windows), medians[0], medians[1]


def race(request: Mapping[str, Any]) -> dict[str, Any]:
    """Race on each benchmark case; `fault` says why that cannot be."""
    from app.beating.bound_kernels import File
    from sandbox.candidate.prepare import prepare
    from sandbox.gpu.compile.gpu_compiler import GpuCompiler
    from sandbox.gpu.driver.driver import open_driver
    from sandbox.target import load_target
    from tasks.loader import load_task

    torch, target = torch_of(), load_target(str(request["target"]))
    task, incumbent = load_task(str(request["task"]), target.name), Incumbent(*request["incumbent"])
    torch.zeros(1, device="cuda")  # makes the context that both sides share
    device = open_driver(target.vendor).device()
    compiler = GpuCompiler(target, Path(str(request["cache"])))
    prepared = prepare(str(request["source"]), task)
    prepared = prepared.choose(dict(request["tunables"]))
    rows, ours_us, theirs_us, total = list[CaseComparison](), 0.0, 0.0, 0.0
    for case in task.benchmarks:
        memory = RaceMemory(torch, device, task, case)
        one = prepared.arm(case).prepared if prepared.arms else prepared
        bound = File(device, compiler, one.source, one.tunables).bind(task, case, memory.buffers)
        theirs = incumbent_call(incumbent, task, case, memory)
        for call in (bound, theirs):
            for _ in range(WARM_CALLS):
                call()
        device.synchronize()
        apart = memory.apart(bound, theirs)
        if apart > APART:
            raise UsageError(
                f"on {case.name} its result differs from the kernel's by {apart:.2g} of the largest value, so that it "
                "computes something else than the task"
            )
        windows = RaceWindows({CHALLENGER: bound, INCUMBENT: theirs}, memory.window)
        row, mine, other = contest(case.name, windows, random.Random())
        rows.append(row)
        ours_us, theirs_us = ours_us + case.weight * math.log(mine), theirs_us + case.weight * math.log(other)
        total += case.weight
        bound.free()
    compiler.close()
    means = {"ours_us": math.exp(ours_us / total), "theirs_us": math.exp(theirs_us / total)}
    return {"cases": [asdict(row) for row in rows], **means}


def main() -> None:
    """Answer one request; what the incumbent cannot do is a sentence."""
    try:
        answer = race(json.load(sys.stdin))
    except ScientistError as error:
        answer = {"fault": " ".join(str(error).split())}
    except (RuntimeError, ValueError, TypeError, AttributeError, NameError, LookupError, ImportError, OSError) as error:
        words = " ".join(str(error).split())[:300]
        answer = {"fault": f"it ended with {type(error).__name__}: {words}"}  # PyTorch's, a library's, the user's
    sys.stdout.write(json.dumps(answer) + "\n")
