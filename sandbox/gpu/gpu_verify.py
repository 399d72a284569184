"""Is a candidate right? Asked of one seat, answered on the judge's side.

Every case runs twice on a GPU that holds nothing else, at an address drawn anew: other poison, the same inputs.
Outputs must be right both times and, unless the plan says otherwise, the same to the last bit; inputs and red zones
must be as they were.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from records.evaluation import CaseResult, Finding
from sandbox.gpu.child_messages import shared_file
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.compiled import CompiledCandidate, layout_of
from sandbox.gpu.layout import BLOCK, BufferPlace, Layout, noise, set_seed, takes_b
from sandbox.gpu.references import Raw, References
from tasks.dtypes import is_float, numpy_dtype, size_bytes
from tasks.task import Case, Task

DEADLINE_S = 10.0  # for one call; a kernel that takes longer is taken for endless
SPREAD_BYTES = 2 << 20  # the arena begins somewhere in so many bytes, so that addresses tell nothing
CHANCE = 10  # times as many noisy elements untouched as chance leaves: they were not written
REPEATS = 4  # further calls of a candidate that may give other bits each time


@dataclass(frozen=True)
class DeviceTrial:
    """One candidate loaded on one seat under a tag."""

    seat: ChildProcess
    tag: str
    entry: CompiledCandidate
    rng: random.Random  # secret
    deadline_s: float = DEADLINE_S

    @property
    def task(self) -> Task:
        """The task it is a candidate for."""
        return self.entry.prepared.task


def verify_case(
    trial: DeviceTrial, answers: References, case: Case, variant: str | None
) -> tuple[CaseResult, list[Finding]]:
    """Run and compare one case. ChildFault when a call does not come to its end."""
    name = case.name if variant is None else f"{case.name} [{variant}]"
    answer = answers.verified(case, variant)
    layout = layout_of(trial.task, case, trial.entry)
    with shared_file("inputs", np.concatenate([answer.flat, answer.flat])) as handle:
        bind_to(trial, layout, handle, 1, is_whole=False)
    launches, worst = trial.entry.launches(case), 0.0
    first: Mapping[str, Raw] = {}
    findings: list[Finding] = []
    for number in range(2 + REPEATS * trial.entry.prepared.candidate.plan.nondeterministic):
        seed = trial.rng.getrandbits(63)
        called = trial.seat.call(trial.tag, launches, layout, seed, 0, trial.deadline_s)
        mark = answers.mark(case, answer, called.outputs)
        worst = max(worst, mark.error)
        findings = damage(trial, layout, answer.flat, called.changed)
        if mark.findings and not findings:
            findings = unwritten(trial, layout, seed, called.outputs) or list(mark.findings)
        if findings:
            break
        if number and not trial.entry.prepared.candidate.plan.nondeterministic:
            findings = differences(trial.task, first, called.outputs)
        first = first or called.outputs
    findings = [replace(f, case=name) for f in findings]
    return CaseResult(name, case.role, not findings, worst, message=findings[0].message if findings else ""), findings


def bind_to(trial: DeviceTrial, layout: Layout, inputs: int, sets: int, is_whole: bool) -> None:
    """Allocate for a case at an address that nobody can foretell; `inputs` is a file with both bases' inputs."""
    skip = BLOCK * 16 * trial.rng.randrange(SPREAD_BYTES // (BLOCK * 16))
    trial.seat.bind(layout, inputs, sets, is_whole, trial.rng.getrandbits(63), skip)


def damage(trial: DeviceTrial, layout: Layout, flat: Raw, changed: int) -> list[Finding]:
    """What was written that must not be, when the trusted kernels have found something."""
    if not changed:
        return []
    inputs = [p for p in layout.places if p.role == "input"]
    found, at = trial.seat.read([p.name for p in inputs], layout), 0
    for place in inputs:
        if not np.array_equal(found[place.name], flat[at : at + place.nbytes]):
            return [
                Finding(
                    "input_written",
                    f"the input {place.name} is written to; write to the outputs and workspaces only",
                    buffer=place.name,
                )
            ]
        at += place.nbytes
    return [
        Finding(
            "out_of_bounds",
            f"{16 * changed} bytes around the buffers are written to; check the indices of "
            "all stores against the sizes",
        )
    ]


def unwritten(trial: DeviceTrial, layout: Layout, seed: int, outputs: Mapping[str, Raw]) -> list[Finding]:
    """Outputs that still hold their poison."""
    found = []
    for spec in trial.task.outputs:
        size, place = size_bytes(spec.dtype), layout[spec.name]
        was, is_noise = poison(place, set_seed(seed, 0), trial.seat.noise_seed)
        whole = (outputs[spec.name] == was).reshape(-1, size).all(axis=1)
        count, noisy = int(whole.sum()), is_noise[::size]
        is_nan = is_float(numpy_dtype(spec.dtype)) and bool(whole[~noisy].any())  # no kernel writes just this one
        if is_nan or int(whole[noisy].sum()) > CHANCE * int(noisy.sum()) / 256**size:
            found.append(
                Finding(
                    "unwritten_output",
                    f"{count} of {len(whole)} elements of {spec.name} are never "
                    f"written; the first is number {int(np.argmax(whole))}: launch enough work-items or "
                    "mend the guard",
                    buffer=spec.name,
                )
            )
    return found


def poison(place: BufferPlace, own: int, noise_seed: int) -> tuple[Raw, npt.NDArray[np.bool_]]:
    """What an output held before the call, ones or noise block by block, and which of its bytes were noise."""
    first, blocks = place.offset // BLOCK, -(-place.nbytes // BLOCK)
    noisy = noise(noise_seed, 2 * (first + blocks))[2 * first :].view(np.uint8)
    choice = np.repeat(takes_b(own, first, blocks, whole=False), BLOCK)[: place.nbytes]
    return np.where(choice, noisy[: place.nbytes], np.uint8(255)), choice


def differences(task: Task, first: Mapping[str, Raw], second: Mapping[str, Raw]) -> list[Finding]:
    """Outputs whose bits differ from one call to the next."""
    found = []
    for spec in task.outputs:
        bytes_off = int((first[spec.name] != second[spec.name]).sum())
        if bytes_off:
            found.append(
                Finding(
                    "nondeterministic",
                    f"{spec.name} differs in {bytes_off} bytes between two calls on "
                    "the same inputs: look for a race, or say `nondeterministic = true` in the plan "
                    "where the order of atomics is meant to be free",
                    buffer=spec.name,
                )
            )
    return found
