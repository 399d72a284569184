"""From evidence to a code of the fixed taxonomy (`records.evaluation.CODES`): no model, no guess, rules only."""

from __future__ import annotations

import re
from collections.abc import Sequence

from records.evaluation import Finding, Stage, Verdict

_BY_KIND = {
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
    "wave_mask": "B.1",
    "below_roofline": "C.2",
    "nondeterministic": "C.1",
}
_COMPILE = (
    ("A.3", re.compile(r"file not found|(cannot|may not) be included|no member named .* in namespace", re.I)),
    ("B.2", re.compile(r"undeclared identifier|unknown type name|undefined symbol|no member", re.I)),
    ("B.1", re.compile(r"builtin|intrinsic|cannot select|must be a constant|inline asm|argument to .* must", re.I)),
    ("B.4", re.compile(r"lds size|local memory|exceeds limit|launch_bounds|workgroup size", re.I)),
)
_WORST_FIRST = ("B.5", "B.3", "B.4", "C.2", "B.1", "C.3", "C.1", "C.4")


def rejected(stage: Stage, findings: Sequence[Finding], code: str | None = None) -> Verdict:
    """A verdict of no at this stage, with the code its findings show."""
    return Verdict(stage=stage, accepted=False, code=code or classify(findings), findings=tuple(findings))


def classify(findings: Sequence[Finding]) -> str:
    """The gravest code among the findings; A.1 when there is nothing more precise to say."""
    codes = {code_of(f) for f in findings}
    return next((c for c in _WORST_FIRST if c in codes), min(codes, default="A.1"))


def code_of(finding: Finding) -> str:
    """The code of one finding, from its kind and, for compiler and comparison messages, its text."""
    if finding.kind == "compile_error":
        return next((code for code, pattern in _COMPILE if pattern.search(finding.message)), "A.1")
    if finding.kind == "wrong_result":
        if re.search(r"transposed|layout|order|swapped", finding.message, re.I):
            return "C.3"
        return "C.4" if re.search(r"close but|accuracy|precision", finding.message, re.I) else "C.1"
    return _BY_KIND.get(finding.kind, "C.1")
