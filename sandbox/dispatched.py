"""The judgement of a dispatch: each arm is judged as the kernel it is, on every case, and the whole is made of that.

So a row's condition decides about time and about nothing else: an arm that is wrong for any shape of the task is
refused, whatever shapes its condition leaves to it. Only an arm whose own plan `requires` a condition is judged on the
part of the task that meets it, and it serves no other shape. What is asked of a judge is one kernel at a time, in the
lab and on a GPU.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from records.codec import dumps
from records.errors import Pending
from records.evaluation import CaseComparison, Comparison, Evaluation, Finding, Measurement, Verdict
from records.quantity import counted
from records.ranking import contrast_of
from sandbox.candidate.codes import rejected
from sandbox.candidate.prepare import Arm, Prepared, shifted
from sandbox.protocol import Sandbox
from sandbox.walk import Ask, Purpose, question

DELTA = 0.005  # two that differ by surely less are the same
Compare = Callable[[Prepared, Prepared], Comparison | None]  # None: they are the same kernel


def asking(sandbox: Sandbox) -> Ask:
    """Put a judge's questions on one kernel and on a dispatch into one function."""

    def ask(purpose: Purpose, prepared: Prepared) -> Evaluation:
        if prepared.arms:
            return judged(arm, purpose, prepared, sandbox.key(prepared))
        return alone(prepared, sandbox.key(prepared)) or arm(purpose, prepared)

    def arm(purpose: Purpose, prepared: Prepared) -> Evaluation:
        return question(sandbox, purpose)(prepared)

    return ask


def alone(prepared: Prepared, key: str) -> Evaluation | None:
    """Refuse a kernel that is right for a part of the shapes and does not stand in a table; None for any other."""
    if not prepared.requires or prepared.refusal is not None:
        return None
    line = prepared.candidate.lines.line("", "requires")
    why = (
        f"this kernel serves the shapes with {prepared.requires} only, and a file must serve all: make it a part of a "
        "table of variants, whose last one is right everywhere"
    )
    refused = rejected("parse", (Finding("compile_error", why, line=line),), "A.1")
    return Evaluation(key, prepared.id, prepared.tunables, refused)


def judged(ask: Ask, purpose: Purpose, prepared: Prepared, key: str) -> Evaluation:
    """Answer on a dispatch from the answers on its arms; the first refusal of one refuses the whole.

    Where answers come later, all are asked for before Pending is raised.
    """
    plain = Evaluation(key, prepared.id, {}, Verdict("compile", True, "OK"))
    evaluations, pendings = list[tuple[Arm, Evaluation]](), list[Pending]()
    for arm in prepared.arms:
        try:
            evaluation = ask(purpose, arm.prepared)
        except Pending as pending:
            pendings.append(pending)
            continue
        if not evaluation.verdict.accepted:
            return replace(
                plain,
                verdict=_with_arm(evaluation.verdict, arm),
                isolation=evaluation.isolation,
                seconds=evaluation.seconds,
            )
        evaluations.append((arm, evaluation))
    if pendings:
        raise _all_of(pendings)
    served = {case.name: prepared.arm(case) for case in (*prepared.task.tests, *prepared.task.benchmarks)}
    objects = [evaluation.code_object for _, evaluation in evaluations]
    return replace(
        plain,
        verdict=evaluations[0][1].verdict,
        resources=tuple(
            replace(r, kernel=f"{r.kernel} [{arm.label}]")
            for arm, evaluation in evaluations
            for r in evaluation.resources
        ),
        cases=tuple(
            row if served.get(row.name) is arm else replace(row, name=f"{row.name} [{arm.label}]")
            for arm, evaluation in evaluations
            for row in evaluation.cases
        ),
        measurements=_measurements(prepared, evaluations),
        explanation=_explanation(prepared),
        code_object=hashlib.sha256(dumps(objects).encode()).hexdigest() if all(objects) else "",
        seconds=sum(evaluation.seconds for _, evaluation in evaluations),
        isolation=evaluations[0][1].isolation,
    )


def compared(compare: Compare, challenger: Prepared, incumbent: Prepared, plain: Comparison) -> Comparison:
    """Compare two candidates of which one is a dispatch at least: in each case the kernels that serve it.

    `compare` times two kernels in turns; None says that they are one kernel, which is as fast as itself. `plain` has
    the keys, and is the answer where a case could not be timed.
    """
    rows, task = list[CaseComparison](), challenger.task
    for case in task.benchmarks:
        sides = [side.arm(case).prepared if side.arms else side for side in (challenger, incumbent)]
        comparison = compare(*sides)
        row = (
            CaseComparison(case.name, 1.0, 1.0, 1.0, "same", 0) if comparison is None else row_of(comparison, case.name)
        )
        if row is None:
            return plain
        rows.append(row)
    verdict, ratio, low, high = contrast_of({c.name: c.weight for c in task.benchmarks}, rows, DELTA)
    return replace(plain, verdict=verdict, ratio=ratio, low=low, high=high, cases=tuple(rows))


def _all_of(pendings: list[Pending]) -> Pending:
    """Join what the arms wait for that are not judged yet."""
    awaited = tuple(dict.fromkeys(name for pending in pendings for name in pending.awaited))
    refused = tuple(dict.fromkeys(why for pending in pendings for why in pending.refused))
    folder = pendings[0].place
    return Pending(f"waiting for {counted(len(awaited), 'result')} in {folder}", awaited, folder, refused)


def row_of(comparison: Comparison, case: str) -> CaseComparison | None:
    """Find the contrast on one case; None where it was not reached."""
    return next((row for row in comparison.cases if row.case == case), None)


def _with_arm(verdict: Verdict, arm: Arm) -> Verdict:
    """Give an arm's refusal the lines of the whole file and the arm's name."""
    prefix = f"variant {arm.label!r}, part {arm.variant.part}: "
    moved = shifted(verdict, arm.lines_before)
    return replace(moved, findings=tuple(replace(f, message=prefix + f.message) for f in moved.findings))


def _measurements(prepared: Prepared, evaluations: list[tuple[Arm, Evaluation]]) -> tuple[Measurement, ...]:
    """Take each benchmark case as the kernel that serves it was timed; nothing where one has no time."""
    rows = list[Measurement]()
    for case in prepared.task.benchmarks:
        evaluation = next(evaluation for arm, evaluation in evaluations if arm is prepared.arm(case))
        row = next((m for m in evaluation.measurements if m.case == case.name), None)
        if row is None:
            return ()
        rows.append(row)
    return tuple(rows)


def _explanation(prepared: Prepared) -> str:
    """Name the kernel of each variant, and the benchmark cases that it serves."""
    rows = []
    for arm in prepared.arms:
        cases = [case.name for case in prepared.task.benchmarks if prepared.arm(case) is arm]
        values = ", ".join(f"{name}={value}" for name, value in arm.prepared.tunables.items())
        kernel = f"part {arm.variant.part}" + (f" with {values}" if values else "")
        rows.append(f"{arm.label}: {kernel}, for {'; '.join(cases) or 'no benchmark case'}")
    return "\n".join(rows)
