"""A sandbox that takes its figures from comments, to drive the graph in tests and examples; it shows nothing else."""

from __future__ import annotations

import hashlib
import math
import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from records.codec import dumps
from records.errors import LabError, PlanError
from records.evaluation import (
    CaseComparison,
    CaseResult,
    Code,
    Comparison,
    Contrast,
    Evaluation,
    Finding,
    FindingKind,
    Measurement,
    Resources,
    Stage,
    TimeKind,
    Verdict,
    comparison_key,
)
from sandbox.candidate.dispatch import is_dispatch, read_dispatch
from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate, Plan
from sandbox.candidate.prepare import Prepared, Preparer, dispatched, served_part
from tasks.task import Case, Task

_LINE = re.compile(
    r"^\s*//\s*(?P<word>time_us|warm_us|bound_us|error|spread_us|true_us|roofline_us|tunable|requires|fail|machine|code|waves|scratch)\b(?:\[(?P<when>[^\]]*)\])?(?P<rest>.*)$",
    re.MULTILINE,
)


class TableSandbox:
    """Reads verdicts and times from the lines of a source.

    // time_us = 12.5               // time_us[ROWS=2,n=64] = 10     the last line that applies counts; n is a dim
    // tunable ROWS = 4, 1, 2       // roofline_us = 5
    // fail compile unknown name    // fail verify[ROWS=2] hang      stages: compile, verify, benchmark, confirm
    // requires = n <= 128           an arm of a table that is right for these shapes
    // code = abc                   the code object, for kernels that differ in text only
    // machine verify the lab is on fire                             raises LabError at that stage
    // waves = 4                    // scratch = 64                  occupancy, and bytes spilled by a work-item
    // warm_us = 9                  // bound_us = 4  // error = 0.1  of a predicted time
    // spread_us = 0.5              // true_us = 12                  half an interval; what a comparison sees
    """

    version = "table 1"

    def __init__(self, device: str = "lab:table", kind: TimeKind = "predicted") -> None:
        """`device` is part of every key; `kind` is what the times are called."""
        self.device = device
        self.kind = kind
        self.calls: list[tuple[str, str]] = []  # purpose and key of all work done
        self.preparer = Preparer(_claimed)  # for whoever asks such a sandbox from elsewhere
        self._lock = threading.Lock()

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """Prepare the source as it is, with the tunables that it claims."""
        return self.preparer.prepare(source, task, tunables)

    def key(self, prepared: Prepared) -> str:
        """Hash of candidate, choice, task and device."""
        return _hash(dumps([prepared.id, prepared.tunables, prepared.task.digest, self.device]))

    def compile(self, prepared: Prepared) -> Evaluation:
        """Fails where the source says `fail compile`."""
        return self._judge("compile", prepared, ("compile",))

    def verify(self, prepared: Prepared) -> Evaluation:
        """Fails where the source says `fail compile` or `fail verify`."""
        return self._judge("verify", prepared, ("compile", "verify"))

    def benchmark(self, prepared: Prepared) -> Evaluation:
        """Verify, then give every benchmark case the time the source claims."""
        return self._judge("benchmark", prepared, ("compile", "verify", "benchmark"))

    def estimate(self, prepared: Prepared) -> Evaluation:
        """Return the claimed time, unverified."""
        return self._judge("estimate", prepared, ("compile",))

    def confirm(self, prepared: Prepared) -> Evaluation:
        """Fails where the source says `fail confirm`, and where a verification would."""
        return self._judge("confirm", prepared, ("compile", "verify", "confirm"))

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Compare the true times that both claim; half a per cent apart is a difference."""
        keys, task = [self.key(side) for side in (challenger, incumbent)], challenger.task
        with self._lock:
            self.calls.append(("compare", comparison_key(*keys)))
        cases = tuple(_contrast(c, challenger, incumbent) for c in task.benchmarks)
        ratio = math.exp(sum(math.log(c.ratio) for c in cases) / len(cases))
        return Comparison(
            comparison_key(*keys),
            keys[0],
            keys[1],
            _contrast_of(ratio),
            ratio,
            ratio - 0.003,
            ratio + 0.003,
            cases,
            self.device,
        )

    def _judge(self, purpose: str, prepared: Prepared, stages: tuple[str, ...]) -> Evaluation:
        key, task = self.key(prepared), prepared.task
        with self._lock:
            self.calls.append((purpose, key))
        for text in _claims(prepared.source, "machine", prepared.tunables):
            if text.split()[0] == purpose:
                raise LabError(text.split(maxsplit=1)[1])
        code = next(iter(_claims(prepared.source, "code", prepared.tunables)), prepared.source)
        accepted = Verdict("compile", True, "OK")
        used = _resources(prepared)
        plain = Evaluation(key, prepared.id, prepared.tunables, accepted, used, code_object=_hash(code))
        for stage in stages:
            for text in _claims(prepared.source, "fail", prepared.tunables):
                if text.split()[0] == stage:
                    return _refused(plain, stage, " ".join(text.split()[1:]) or stage, task)
        cases = tuple(CaseResult(c.name, c.role, True, 0.5) for c in task.tests) if "verify" in stages else ()
        if purpose in ("compile", "verify", "confirm"):
            return _with_cases(plain, Verdict("compile" if purpose == "compile" else "correct", True, "OK"), cases, ())
        words = ("roofline_us", "spread_us", "warm_us", "bound_us", "error")
        floor, spread, warm, least, error = (_number(prepared, word, default=0.0) for word in words)
        times = {c.name: _number(prepared, "time_us", dims=c.dims) for c in task.benchmarks}
        rows = tuple(
            Measurement(
                c.name,
                times[c.name],
                self.kind,
                self.device,
                times[c.name] - spread,
                times[c.name] + spread,
                weight=c.weight,
                bound="table",
                roofline_us=floor,
                warm_us=warm,
                bound_us=least,
                error=error,
            )
            for c in task.benchmarks
        )
        return _with_cases(plain, Verdict("time", True, "OK"), cases, rows)


def _claimed(source: str, task: Task) -> Prepared:
    """Prepare a candidate with the tunables that its comments claim, and with its launch plan where it has one."""
    if is_dispatch(source):
        return dispatched(read_dispatch(source), source, task, _claimed)
    pairs = (text.split("=") for text in _claims(source, "tunable", {}))
    tunables = {name.strip(): tuple(int(v) for v in values.split(",")) for name, values in pairs}
    try:
        plan = parse(source).plan
    except PlanError:
        plan = Plan(())
    requires = next(iter(_claims(source, "requires", {})), plan.requires)
    candidate = Candidate(_hash(source), source, replace(plan, tunables=tunables or plan.tunables, requires=requires))
    return Prepared(candidate, served_part(candidate, task), candidate.defaults())


def _claims(source: str, word: str, chosen: Mapping[str, int]) -> list[str]:
    """List the rest of each line with this word whose condition the choice meets."""
    return [text for claim, when, text in _lines(source) if claim == word and _applies(when, chosen)]


@lru_cache(maxsize=256)
def _lines(source: str) -> tuple[tuple[str, str | None, str], ...]:
    """Word, condition and rest of every line that claims something."""
    lines = []
    for match in _LINE.finditer(source):
        word, when, text = match["word"], match["when"], match["rest"]
        if word == "fail" and (inner := re.match(r"\s*(\w+)\[([^\]]*)\](.*)", text)):
            text, when = f"{inner[1]}{inner[3]}", inner[2]
        lines.append((word, when, text.strip().removeprefix("=").strip()))
    return tuple(lines)


def _contrast(case: Case, challenger: Prepared, incumbent: Prepared) -> CaseComparison:
    new, old = (_number(side, "true_us", "time_us", dims=case.dims) for side in (challenger, incumbent))
    return CaseComparison(case.name, new / old, new / old - 0.003, new / old + 0.003, _contrast_of(new / old), 18)


def _contrast_of(ratio: float) -> Contrast:
    return "faster" if ratio < 0.995 else "slower" if ratio > 1.005 else "same"


def _number(
    prepared: Prepared, *words: str, default: float = math.nan, dims: Mapping[str, int] = MappingProxyType({})
) -> float:
    """Read the last claim with the first of these words that there is."""
    claims = (_claims(prepared.source, word, {**prepared.tunables, **dims}) for word in words)
    return next((float(values[-1]) for values in claims if values), default)


def _resources(prepared: Prepared) -> tuple[Resources, ...]:
    """Return the claimed occupancy and spills of one kernel; nothing where neither is claimed."""
    waves, scratch = (_number(prepared, word, default=-1) for word in ("waves", "scratch"))
    return () if waves < 0 and scratch < 0 else (Resources("k", 64, 0, 32, 0, max(0, int(scratch)), abs(int(waves))),)


def _applies(when: str | None, chosen: Mapping[str, int]) -> bool:
    pairs = (pair.split("=") for pair in (when or "").split(",") if pair)
    return all(chosen.get(name.strip()) == int(value) for name, value in pairs)


def _refused(plain: Evaluation, stage: str, text: str, task: Task) -> Evaluation:
    hangs = text == "hang"
    kind: FindingKind = "compile_error" if stage == "compile" else "timeout" if hangs else "wrong_result"
    code: Code = "A.1" if stage == "compile" else "B.5" if hangs else "C.1"
    failed_stage: Stage = "compile" if stage == "compile" else "execute" if hangs else "correct"
    finding = Finding(kind, "the kernel did not end in time" if hangs else text, line=1)
    cases = () if stage == "compile" else (CaseResult(task.tests[0].name, "test", False, message=text),)
    return _with_cases(plain, Verdict(failed_stage, False, code, (finding,)), cases, ())


def _with_cases(
    plain: Evaluation, verdict: Verdict, cases: tuple[CaseResult, ...], rows: tuple[Measurement, ...]
) -> Evaluation:
    return Evaluation(
        plain.key,
        plain.candidate_id,
        plain.tunables,
        verdict,
        plain.resources,
        cases=cases,
        measurements=rows,
        code_object=plain.code_object,
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
