"""The right answers, on the judge's side only: inputs, float64 references and baselines, drawn from a secret seed.

The child gets inputs. The outputs they must give are computed here, once for each case, and kept as long as they may be
needed.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from records.evaluation import Finding
from sandbox.candidate.codes import wrong_result
from sandbox.candidate.prepare import Prepared
from sandbox.cases.derived import candidate_secret, derived_cases
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.in_slices import expected_in_slices
from sandbox.cases.inputs.more_outputs import has_few, more_outputs
from sandbox.gpu.layout import FILLED, Layout, content, draw, set_seed
from sandbox.gpu.memory_file import Raw, filled_file
from tasks.admission import Admission
from tasks.dtypes import numpy_dtype
from tasks.own_check import refusal, stored
from tasks.task import Array, Case, Task
from tasks.yardstick import Yardstick

KEPT_SHARE = 0.2  # of the machine's memory: references that may be needed again
KNOWN = 2  # contents of a benchmark case with known answers
TOGETHER = 16  # candidates that meet the same family on the same benchmark case: its reference is computed once


@dataclass(frozen=True)
class Reference:
    """Inputs as flat bytes in the task's order, and the yardstick of each output."""

    inputs: Mapping[str, Array]
    flat: Raw
    yardsticks: Mapping[str, Yardstick]
    has_check: bool  # the task's own, where it accepts the baseline on these inputs

    @property
    def nbytes(self) -> int:
        """The memory that keeping it takes."""
        return (
            self.flat.nbytes
            + sum(a.nbytes for a in self.inputs.values())
            + sum(y.nbytes for y in self.yardsticks.values())
        )


@dataclass(frozen=True)
class Grade:
    """A comparison of outputs: their error over the baseline's own, and findings where it is too large."""

    error: float
    findings: tuple[Finding, ...]


class References:
    """The references of one task; safe from several threads."""

    def __init__(self, task: Task, secret: int, room_bytes: float | None = None, facts: Path | None = None) -> None:
        """`secret` decides every drawn value; whoever knows it can embed the answers. `room_bytes` may be kept.

        `facts` is a folder for what is measured of the task's families of inputs.
        """
        self.task, self._secret = task, secret
        self.facts = str(facts or "")
        self.families, self._candidates = InputFamilies(task, facts), 0
        self.threads = ThreadPoolExecutor(max(1, min(8, len(os.sched_getaffinity(0)) // 2)), "compare")
        self._recent: OrderedDict[tuple[Any, ...], Reference] = OrderedDict()
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._room = KEPT_SHARE * memory if room_bytes is None else room_bytes
        self._files: dict[tuple[str, int], int] = {}
        self._lock = threading.RLock()

    def cases(self, prepared: Prepared) -> list[Case]:
        """List tests with secret values, then the shapes derived from them and from the plan."""
        tests = self.tests()
        return [*tests, *derived_cases(prepared, self._secret & 0xFFFFFFFF, (*tests, *self.benchmarks()))]

    def first(self) -> Case:
        """Return the case that meets every family of inputs."""
        return replace(self.tests()[0], role="held_out")

    def secret_of(self, prepared: Prepared) -> int:
        """Derive a secret of this candidate's own."""
        return candidate_secret(prepared, self._secret)

    def drawn_family(self) -> tuple[Case, str] | None:
        """Draw a benchmark case and a family of inputs, kept for this candidate and the next ones; None without any."""
        with self._lock:
            turn, self._candidates = self._candidates // TOGETHER, self._candidates + 1
        names, cases = self.families.names, self.benchmarks()
        number = draw(self._secret ^ 2, turn)
        return (cases[number % len(cases)], names[(number >> 32) % len(names)]) if names else None

    def tests(self) -> list[Case]:
        """List the tests with secret values."""
        return [self._secretly(case) for case in self.task.tests]

    def benchmarks(self) -> list[Case]:
        """List the benchmark cases with secret values."""
        return [self._secretly(case) for case in self.task.benchmarks]

    def known(self, case: Case, sets: int) -> list[tuple[int, int]]:
        """Choose seed and set of contents whose outputs are compared: the same for all candidates, so computed once."""
        drawn = [draw(self._secret ^ case.seed, n) for n in range(2 * KNOWN)]
        return [(seed >> 1, number % sets) for seed, number in zip(drawn[::2], drawn[1::2], strict=True)]

    def verified(self, case: Case, variant: str | None) -> Reference:
        """Compute the reference of a test, for its own inputs."""
        return self._keep(
            (case.name, case.seed, variant), lambda: self._reference(case, self._inputs(case, variant), variant)
        )

    def bases(self, case: Case) -> int:
        """Write a file with both bases' inputs of a benchmark case, one after the other; made once."""
        key = (case.name, case.seed)
        with self._lock:
            if key not in self._files:
                self._files[key] = filled_file(
                    "bases", np.concatenate([self._flat(self._base(case, number), case) for number in (0, 1)])
                )
            return self._files[key]

    def two_inputs(self, case: Case) -> tuple[Case, Case]:
        """Pair a test with the same shape on other inputs."""
        return case, replace(case, seed=draw(self._secret ^ 1, case.seed) >> 32)

    def prepare(self) -> None:
        """Draw the inputs of the benchmark cases, once."""
        for case in self.benchmarks():
            self.bases(case)
        _ = (
            self.families.names,
            self.families.ranges,
            self.families.independent,
        )  # measured here, for other processes too

    def close(self) -> None:
        """Give the files and threads back."""
        self.threads.shutdown(cancel_futures=True)
        for handle in self._files.values():
            os.close(handle)
        self._files.clear()

    def whole(self, case: Case, number: int) -> Reference:
        """Compute the reference of a benchmark case, for the contents of one base."""
        return self._keep(
            (case.name, case.seed, "whole", number), lambda: self._reference(case, self._base(case, number))
        )

    def mixed(self, case: Case, layout: Layout, seed: int, number: int) -> Reference:
        """Compute the reference of a benchmark case, for the contents of the set `number` under this seed."""

        def make() -> Reference:
            a, b = (self._base(case, n) for n in (0, 1))
            mixture_seed, inputs = set_seed(seed, number), {}
            for spec in self.task.inputs_of(case):
                bases = [self.task.flatten(spec, base[spec.name], case) for base in (a, b)]
                buffer = layout[self.task.initials.get(spec.name, spec.name)]
                flat = content(bases[0], bases[1], buffer, mixture_seed, not self.task.mix)
                shape, strides = self.task.shape_of(spec, case), self.task.strides_of(spec, case)
                inputs[spec.name] = spec.unflatten(flat, shape, strides)
            return self._reference(case, inputs)

        offsets = tuple(p.offset for p in layout.places if p.role in FILLED)
        return self._keep((case.name, case.seed, seed, number, offsets), make)

    def grade(self, case: Case, reference: Reference, outputs: Mapping[str, Raw]) -> Grade:
        """Compare a call's outputs with the reference."""
        worst, findings, arrays = 0.0, list[Finding](), dict[str, Array]()
        for spec in self.task.outputs:
            shape = self.task.shape_of(spec, case)
            arrays[spec.name] = spec.unflatten(outputs[spec.name].view(numpy_dtype(spec.dtype)), shape)
            verdict = reference.yardsticks[spec.name].judge(arrays[spec.name])
            worst = max(worst, verdict.error)
            if not verdict.correct:
                findings.append(wrong_result(spec.name, verdict, case.name))
        if not findings and reference.has_check and (refused := refusal(self.task, reference.inputs, arrays, case)):
            findings.append(Finding("wrong_result", refused, case=case.name))
        return Grade(worst, tuple(findings))

    def _secretly(self, case: Case) -> Case:
        return replace(case, seed=draw(self._secret, case.seed) >> 32)

    def _inputs(self, case: Case, variant: str | None) -> Mapping[str, Array]:
        return self.families.typed(case, variant)

    def _base(self, case: Case, number: int) -> Mapping[str, Array]:
        return self._keep(
            (case.name, case.seed, "base", number),
            lambda: self._plain(self._inputs(replace(case, seed=case.seed + number), None), case),
        ).inputs

    def _plain(self, inputs: Mapping[str, Array], case: Case) -> Reference:
        return Reference(inputs, self._flat(inputs, case), {}, has_check=False)

    def fresh(self, case: Case, family: str | None) -> Reference:
        """Compute the reference of a case that is met once: nothing is kept."""
        return self._reference(case, self._inputs(case, family), family)

    def _reference(self, case: Case, inputs: Mapping[str, Array], family: str | None = None) -> Reference:
        reference, baseline = expected_in_slices(self.task, lambda: self.families.independent, inputs, case)
        yardsticks, admission = dict[str, Yardstick](), Admission(self.task, inputs, case)
        for spec in self.task.outputs:
            name, tolerance = spec.name, self.families.tolerance(spec, family)
            few = has_few(case, reference[name].size)
            beside = partial(more_outputs, self.families, case, family, name) if few else None
            yardsticks[name] = Yardstick(
                reference[name],
                baseline[name],
                numpy_dtype(spec.dtype),
                tolerance,
                beside,
                partial(admission.of, spec, tolerance.ratio),
            )
        has_check = self.task.check is not None and not refusal(self.task, inputs, stored(self.task, baseline), case)
        return Reference(inputs, self._flat(inputs, case), yardsticks, has_check=has_check)

    def _flat(self, inputs: Mapping[str, Array], case: Case) -> Raw:
        specs = self.task.inputs_of(case)
        return np.concatenate([self.task.flatten(s, inputs[s.name], case).view(np.uint8) for s in specs])

    def _keep(self, key: tuple[Any, ...], make: Callable[[], Reference]) -> Reference:
        with self._lock:
            if key in self._recent:
                self._recent.move_to_end(key)
                return self._recent[key]
        reference = make()
        with self._lock:
            self._recent[key] = reference
            while len(self._recent) > 1 and sum(a.nbytes for a in self._recent.values()) > self._room:
                self._recent.popitem(last=False)
        return reference
