"""Queries to the literature from what is known: findings, the compiler's text, what binds, an idea's words.

A finding is asked about by its kind, in the words of the notes. A compiler's text is asked about as it stands, and so
is each name in it: no decision rests on either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from agents.author import Idea
from records.evaluation import Code, Evaluation, Finding, FindingKind

MOST = 4  # queries at once
_LONGEST = 200  # characters of one
_KINDS: Mapping[FindingKind, str] = {
    "out_of_bounds": "access out of bounds, partial tile, boundary check",
    "race": "race between work-items, missing barrier, LDS write before read",
    "uninitialised": "uninitialised LDS or workspace read before it is written",
    "unwritten_output": "output elements never written, grid does not cover the tail",
    "divergent_barrier": "barrier in divergent code, early return before __syncthreads",
    "divergent_collective": "shuffle or matrix instruction with inactive lanes, divergent control flow",
    "undrained_barrier": "s_barrier without s_waitcnt or fence, LDS writes not drained",
    "misaligned": "misaligned vector load, alignment of float4 and dwordx4",
    "wave_mask": "ballot and lane masks of 64 bits, wave64 _sync mask",
    "over_limit": "workgroup size, LDS and register limits, launch bounds",
    "timeout": "kernel does not end, spin wait between workgroups, deadlock",
    "stack_overflow": "private array in scratch, stack of a work-item too large",
    "input_written": "kernel writes to its input, aliasing",
    "division_by_zero": "integer division by zero, tile size of zero",
    "wrong_result": "wrong result, index mapping, register layout, accumulation",
    "below_roofline": "time below the roofline, work left out, benchmark exploit",
    "nondeterministic": "result differs from run to run, atomic order, floating point addition",
}
_CODES: Mapping[Code, str] = {
    "A.3": "missing header, include, namespace",
    "B.1": "builtin arguments and register layout",
    "C.3": "layout and type of the output, row-major and column-major",
    "C.4": "accuracy of the sum, accumulate in float32, tolerance",
}
_BOUNDS: Mapping[str, tuple[str, tuple[str, ...]]] = {  # in the notes' words, and the counters that show it
    "hbm": ("HBM bandwidth bound: wide coalesced loads, fewer bytes", ("TCC_REQ",)),
    "mall": ("Infinity Cache bandwidth, reuse across XCDs", ("TCC_REQ",)),
    "l2": ("L2 cache bandwidth, workgroup order and reuse on an XCD", ("TCC_REQ", "TCC_READ")),
    "l1": ("vector L1 cache accesses, coalescing, cache lines a wave", ("TCP_TOTAL_ACCESSES",)),
    "lds": (
        "LDS bandwidth and bank conflicts, ds_read_b128, swizzle, padding",
        ("SQ_INSTS_LDS", "SQ_LDS_BANK_CONFLICT"),
    ),
    "mfma": ("matrix cores busy: MFMA instruction shape and scheduling", ("SQ_VALU_MFMA_BUSY_CYCLES",)),
    "valu": ("vector ALU bound: packed instructions, fewer conversions", ("SQ_INSTS_VALU",)),
    "atomics": ("contended atomic operations, privatise, reduce in a block first", ()),
    "latency": ("memory latency, occupancy, prefetch, more loads in flight", ("SQ_WAVES",)),
    "launch": ("launch overhead, kernel fusion, fewer launches", ()),
}
_NAME = re.compile(r"\b(?:__)?[A-Za-z]\w*_\w+\b")
_QUOTED = re.compile(r"['\u2018`]([A-Za-z_]\w{2,})['\u2019`]")


def of_failure(evaluation: Evaluation, classifies: bool = True) -> tuple[str, ...]:
    """List queries about why a kernel was refused, the first finding's first; with classes about the verdict's, too."""
    verdict, queries = evaluation.verdict, list[str]()
    for finding in verdict.findings:
        queries += _of_finding(finding)
    if not queries and any(not case.correct for case in evaluation.cases):
        queries.append(_KINDS["wrong_result"])
    if classifies and verdict.code in _CODES:
        queries.append(_CODES[verdict.code])
    return _first(queries)


def of_cost(evaluation: Evaluation) -> tuple[str, ...]:
    """List queries about what binds a kernel that is right: the resource of most of its time, its counter, spills."""
    spent: dict[str, float] = {}
    for m in evaluation.measurements:
        spent[m.bound] = spent.get(m.bound, 0.0) + m.weight
    queries = []
    for bound in sorted(spent, key=lambda name: (-spent[name], name))[:2]:
        words, counters = _BOUNDS.get(bound, ("", ()))
        nonzero = [name for name in counters if evaluation.counters.get(name)]
        queries.append(" ".join((words, *nonzero)))
    if any(r.scratch_bytes for r in evaluation.resources):
        queries.append("register spills to scratch, VGPR limit, launch bounds")
    return _first(queries)


def of_decline(evaluation: Evaluation, parent: Evaluation, classifies: bool = True) -> tuple[str, ...]:
    """List queries about what got worse from the parent to the kernel: its findings, spills, waves, what binds now."""
    queries = list(of_failure(evaluation, classifies))
    if _scratch(evaluation) > _scratch(parent):
        queries.append("register spills to scratch, VGPR limit, launch bounds")
    if _waves(evaluation) < _waves(parent):
        queries.append("occupancy, waves per SIMD by VGPR and LDS")
    return _first([*queries, *of_cost(evaluation)])


def of_idea(idea: Idea) -> tuple[str, ...]:
    """List queries about an experiment: its title, and the names of instructions and builtins in its plan."""
    names = list(dict.fromkeys(_NAME.findall("\n".join((idea.description, *idea.rubric)))))
    return _first([idea.title, " ".join(names[:8])])


def of_refusal(evaluation: Evaluation | None, remarks: Iterable[str], classifies: bool = True) -> tuple[str, ...]:
    """List queries about a draft that goes back.

    They are about its findings where the sandbox refused it, else the critic's remarks.
    """
    return of_failure(evaluation, classifies) if evaluation else _first(remarks)


def _of_finding(finding: Finding) -> list[str]:
    if finding.kind != "compile_error":
        return [_KINDS.get(finding.kind, finding.kind.replace("_", " "))]
    names = [name for name in _QUOTED.findall(finding.message) if "_" in name]
    return [*dict.fromkeys(names), finding.message]


def _first(queries: Iterable[str]) -> tuple[str, ...]:
    plain = (" ".join(query.split())[:_LONGEST] for query in queries)
    return tuple(dict.fromkeys(query for query in plain if query))[:MOST]


def _scratch(evaluation: Evaluation) -> int:
    return max((r.scratch_bytes for r in evaluation.resources), default=0)


def _waves(evaluation: Evaluation) -> int:
    return min((r.waves_per_simd for r in evaluation.resources), default=0)
