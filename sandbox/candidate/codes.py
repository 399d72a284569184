"""Codes of the fixed taxonomy (`records.evaluation.CODES`) from typed evidence: a finding's own code, else its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from records.evaluation import Code, Finding, FindingKind, Stage, Verdict
from tasks.compare import Match
from tasks.diagnosis import Pattern

BY_KIND: Mapping[FindingKind, Code] = {
    "over_limit": "B.4",
    "out_of_bounds": "B.3",
    "timeout": "B.5",
    "stack_overflow": "B.5",
    "division_by_zero": "B.5",
    "misaligned": "B.3",
    "input_written": "C.2",
    "unwritten_output": "C.2",
    "race": "C.1",
    "uninitialised": "C.1",
    "divergent_barrier": "C.1",
    "divergent_collective": "B.1",
    "undrained_barrier": "C.1",
    "missing_wait": "C.1",
    "hazard": "C.1",
    "deadlock": "B.5",
    "wave_mask": "B.1",
    "below_roofline": "C.2",
    "nondeterministic": "C.1",
    "compile_error": "A.1",
    "wrong_result": "C.1",
}
BY_PATTERN: Mapping[Pattern, Code] = {"transposed": "C.3", "moved": "C.3", "accuracy": "C.4"}  # of a wrong result
_WORST_FIRST: tuple[Code, ...] = ("B.5", "B.3", "B.4", "C.2", "B.1", "C.3", "C.1", "C.4")


def rejected(stage: Stage, findings: Sequence[Finding], code: Code | None = None) -> Verdict:
    """Make a verdict of no at this stage, with the code its findings show."""
    return Verdict(stage=stage, accepted=False, code=code or classify(findings), findings=tuple(findings))


def classify(findings: Sequence[Finding]) -> Code:
    """Find the gravest code among the findings; A.1 when there are none."""
    codes = {code_of(f) for f in findings}
    return next((c for c in _WORST_FIRST if c in codes), min(codes, default="A.1"))


def wrong_result(output: str, match: Match, case: str) -> Finding:
    """Make the finding of an output that does not match its reference, with the code of its pattern."""
    code = None if match.pattern is None else BY_PATTERN.get(match.pattern)
    return Finding("wrong_result", f"{output}: {match.message}", case=case, buffer=output, code=code)


def code_of(finding: Finding) -> Code:
    """Return the code that was set where the finding arose, else that of its kind."""
    return finding.code or BY_KIND[finding.kind]
