"""Inputs in search of what a candidate does rarely: around numbers that it compares data with, and beside them.

Further inputs are made for each candidate (`sandbox/cases/inputs/searched.py`) on small shapes, and judged as
any are: the more, the more numbers it compares with.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from records.errors import TaskError
from records.evaluation import CaseResult, Finding
from sandbox.cases.inputs.searched import SearchedInputs
from sandbox.lab.lab import Lab
from sandbox.lab.lab_verify import Judge
from sandbox.lab.listed_case import ListedCase, has_few_items
from sandbox.lab.listed_values import ListedValues
from sandbox.lab.overlap import overlapping
from sandbox.lab.session_inputs import SessionInputs
from tasks.held_out import SMALL, cost
from tasks.loader import TASK_FAULTS
from tasks.task import Case

MADE = "inputs made for this kernel"  # the name of their row, behind how many there were
TRIES = 20  # executions for a candidate with a comparison of one outcome
EACH, MOST = 4, 12  # of others for each number that they compare with, and together
MORE = 8  # times as many where more time was asked for
LONG_SHARE = 1 / 4  # of the time in which families meet long lines
TRIAL = 1 / 5  # of a deadline: a try that takes longer says nothing


@dataclass(frozen=True)
class SearchedCase:
    """One small case of one candidate on inputs made for it."""

    judge: Judge
    case: Case
    family: str
    searched: SearchedInputs

    def run(self) -> tuple[CaseResult | None, tuple[Finding, ...]]:
        """Execute and compare it; nothing where no answer is known, or no end comes in a part of the deadline."""
        assert self.judge.listed is not None
        values = self.judge.listed.of(self.case, self.family)
        try:
            tensors = values.inputs, values.reference, values.baseline
            is_sound = self.searched.is_sound(self.case, self.family, *tensors)
        except (TaskError, *TASK_FAULTS):
            is_sound = False  # the task's own code knows no answer on such inputs
        if not is_sound:
            return None, ()
        row, findings = self.judge.within(TRIAL).run(self.case, self.family)
        return (None, ()) if any(finding.kind == "timeout" for finding in findings) else (row, findings)


def searched(judge: Judge, inputs: SessionInputs) -> tuple[list[CaseResult], tuple[Finding, ...]]:
    """One row for all tries, or that of the one which failed and its findings; no row where there are none."""
    begun_s = spent_s(judge.lab)
    rows, findings = on_long_lines(judge, inputs, begun_s)
    if findings:
        return rows[-1:], findings
    met, worst = len(rows), max((row.error or 0.0 for row in rows), default=0.0)
    for row, findings in overlapping(searched_cases(judge, inputs, begun_s), SearchedCase.run):
        if findings:
            return [row] if row else [], findings
        met, worst = (met + 1, max(worst, row.error or 0.0)) if row else (met, worst)
    return [CaseResult(f"{met} {MADE}", "held_out", correct=True, error=worst)] if met else [], ()


def on_long_lines(judge: Judge, inputs: SessionInputs, begun_s: float) -> tuple[list[CaseResult], tuple[Finding, ...]]:
    """Meet the shape with the longest lines on the general families, while a comparison has had one outcome so far.

    A buffer of a thousand elements, or the second turn of a loop over blocks, is not met on the short lines of a test.
    """
    rows, case = list[CaseResult](), inputs.with_long_lines
    if case is None or not judge.one_sided or not has_few_items(judge, case):
        return rows, ()
    names = [name for name in inputs.listed.families.names if name not in judge.task.variant_names]
    limit_s = LONG_SHARE * judge.patience.searched_s * (MORE if judge.patience.is_longer else 1)
    for index in inputs.rng.permutation(len(names)):
        if spent_s(judge.lab) - begun_s > limit_s or not judge.one_sided:
            break
        drawn = replace(case, seed=int(inputs.rng.integers(2**32)))
        row, findings = ListedCase(judge.within(TRIAL), drawn, names[int(index)], inputs).run()
        if any(finding.kind == "timeout" for finding in findings):
            break
        rows.append(row)
        if findings:
            return rows, findings
    return rows, ()


def small_shapes(judge: Judge, inputs: SessionInputs) -> list[Case]:
    """Shapes on which many executions cost little."""
    task, swept = judge.task, inputs.swept(judge.built.prepared)
    return [
        case for case in (*task.tests, *(swept_case.case for swept_case in swept)) if cost(task, case.dims) <= SMALL
    ]


def spent_s(lab: Lab) -> float:
    """Processor time of this process and of all executors so far: references of some tasks cost more than a kernel."""
    return time.process_time() + lab.cpu_s


def _tries(judge: Judge) -> int:
    """More for a comparison of one outcome; none where data are compared with no number."""
    count = len(judge.built.program.numbers)
    return TRIES if count and judge.one_sided else min(MOST, EACH * count)


def searched_cases(judge: Judge, inputs: SessionInputs, begun_s: float) -> Iterator[SearchedCase]:
    """Yield tries, with the numbers that the program compares with."""
    task, rng, lab = judge.task, inputs.rng, judge.lab
    numbers, shapes = judge.built.program.numbers, small_shapes(judge, inputs)
    if not shapes or not task.plant:
        return
    search_inputs = SearchedInputs(inputs.listed.families, numbers, int(rng.integers(2**62)))
    beside = replace(judge, listed=ListedValues(task, search_inputs))
    more = MORE if judge.patience.is_longer else 1
    for number in range(more * _tries(judge)):
        if spent_s(lab) - begun_s > judge.patience.searched_s * more:
            return
        drawn = shapes[int(rng.integers(len(shapes)))]
        case = replace(drawn, seed=int(rng.integers(2**32)), role="held_out")
        yield SearchedCase(beside, case, f"search {number}", search_inputs)
