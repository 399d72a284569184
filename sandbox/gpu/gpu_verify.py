"""The verdict on one case: executed in a child process, compared on the judge's side.

Every case runs twice on a GPU that holds nothing else, at a newly drawn address: other poison, the same inputs.
Outputs must be right both times and, unless the plan declares otherwise, the same to the last bit; inputs and red zones
must be as they were.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from records.evaluation import CaseResult, Finding
from sandbox.gpu.child_messages import CallRequest
from sandbox.gpu.compiled import LoadedCandidate, layout_of
from sandbox.gpu.layout import BLOCK, FILLED, BufferPlace, Layout, noise, set_seed, takes_b
from sandbox.gpu.memory_file import Raw, shared_file
from sandbox.gpu.references import References
from tasks.dtypes import is_float, numpy_dtype, size_bytes
from tasks.task import Case, Task

CHANCE = 10  # times as many noisy elements untouched as chance leaves: they were not written
RARE = 1e-3  # the probability of as many, where chance leaves few
REPEATS = 4  # further calls of a candidate that may give other bits each time


def is_by_chance(count: int, expected: float) -> bool:
    """Tell whether so many elements may hold the noise that was there, of which chance writes `expected` again."""
    if count <= CHANCE * expected:
        return True
    fewer = sum(math.exp(i * math.log(expected) - expected - math.lgamma(i + 1)) for i in range(count) if i < CHANCE)
    return count <= CHANCE and 1 - fewer > RARE


def verify_case(
    loaded: LoadedCandidate, references: References, case: Case, variant: str | None
) -> tuple[CaseResult, list[Finding]]:
    """Run and compare one case. ChildFault when a call does not come to its end."""
    name = case.name if variant is None else f"{case.name} [{variant}]"
    reference, is_free = references.verified(case, variant), loaded.compiled.is_nondeterministic
    layout = layout_of(loaded.task, case, loaded.compiled)
    with shared_file("inputs", np.concatenate([reference.flat, reference.flat])) as handle:
        loaded.bind(layout, handle, 1, is_whole=False)
    launches, outputs = loaded.compiled.launches(case), tuple(p.name for p in layout.outputs)
    worst, first, findings = 0.0, dict[str, Raw](), list[Finding]()
    for number in range(2 + REPEATS * is_free):
        request = CallRequest(loaded.tag, launches, loaded.rng.getrandbits(63), 0, outputs)
        called = loaded.child.call(request, loaded.deadline_s)
        grade = references.grade(case, reference, called.outputs)
        worst = max(worst, grade.error)
        findings = damage(loaded, layout, reference.flat, called.changed)
        if grade.findings and not findings:
            findings = unwritten(loaded.task, layout, request.seed, called.outputs, loaded.child.noise_seed) or list(
                grade.findings
            )
        if findings:
            break
        if number and not is_free:
            findings = differences(loaded.task, first, called.outputs)
        first = first or dict(called.outputs)
    findings = [replace(f, case=name) for f in findings]
    return CaseResult(name, case.role, not findings, worst, message=findings[0].message if findings else ""), findings


def damage(loaded: LoadedCandidate, layout: Layout, flat: Raw, changed: int) -> list[Finding]:
    """Name what was written and may not be, when the trusted kernels have found something."""
    if not changed:
        return []
    inputs = [p for p in layout.places if p.role == "input"]
    contents, offset = loaded.child.read([p.name for p in inputs]), 0
    for buffer in (p for p in layout.places if p.role in FILLED):
        if buffer.role == "input" and not np.array_equal(contents[buffer.name], flat[offset : offset + buffer.nbytes]):
            return [
                Finding(
                    "input_written",
                    f"the input {buffer.name} is written to; write to the outputs and workspaces only",
                    buffer=buffer.name,
                )
            ]
        offset += buffer.nbytes
    return [
        Finding(
            "out_of_bounds",
            f"{16 * changed} bytes around the buffers are written to; check the indices of "
            "all stores against the sizes",
        )
    ]


def unwritten(
    task: Task, layout: Layout, seed: int, outputs: Mapping[str, Raw], noise_seed: int, is_whole: bool = False
) -> list[Finding]:
    """Report outputs of the first set under a seed that still hold their poison."""
    findings = []
    for spec in (s for s in task.outputs if not s.initial):
        size, buffer = size_bytes(spec.dtype), layout[spec.name]
        was, is_noise = poison(buffer, set_seed(seed, 0), noise_seed, is_whole)
        left = (outputs[spec.name] == was).reshape(-1, size).all(axis=1)
        count, noisy = int(left.sum()), is_noise[::size]
        is_nan = is_float(numpy_dtype(spec.dtype)) and bool(left[~noisy].any())  # no kernel writes just this one
        if is_nan or not is_by_chance(int(left[noisy].sum()), int(noisy.sum()) / 256**size):
            findings.append(
                Finding(
                    "unwritten_output",
                    f"{count} of {len(left)} elements of {spec.name} are never "
                    f"written; the first is number {int(np.argmax(left))}: launch enough work-items or "
                    "fix the guard",
                    buffer=spec.name,
                )
            )
    return findings


def poison(
    buffer: BufferPlace, mixture_seed: int, noise_seed: int, is_whole: bool = False
) -> tuple[Raw, npt.NDArray[np.bool_]]:
    """Compute the bytes of an output before the call, ones or noise by blocks, and which of them were noise."""
    first, blocks = buffer.offset // BLOCK, -(-buffer.nbytes // BLOCK)
    noisy = noise(noise_seed, 2 * (first + blocks))[2 * first :].view(np.uint8)
    choice = np.repeat(takes_b(mixture_seed, first, blocks, is_whole), BLOCK)[: buffer.nbytes]
    return np.where(choice, noisy[: buffer.nbytes], np.uint8(255)), choice


def differences(task: Task, first: Mapping[str, Raw], second: Mapping[str, Raw]) -> list[Finding]:
    """Report outputs whose bits differ from one call to the next."""
    findings = []
    for spec in task.outputs:
        bytes_off = int((first[spec.name] != second[spec.name]).sum())
        if bytes_off:
            findings.append(
                Finding(
                    "nondeterministic",
                    f"{spec.name} differs in {bytes_off} bytes between two calls on "
                    "the same inputs: look for a race, or say `nondeterministic = true` in the plan "
                    "where the order of atomics is meant to be free",
                    buffer=spec.name,
                )
            )
    return findings
