"""The answers of the bench's tools as a model reads them: bounded, without paths, without what held-out cases hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agents.bench import BenchKernel, Checked
from agents.scientist.templates import rendered
from agents.scientist.views import evidence_of, failure_view, times_of
from records.evaluation import Evaluation
from records.literature import Quotation
from records.machine_code import InnerLoop
from records.ranking import ratio_error, tie_text, ties
from tasks.task import Task

MOST_CHARS: Mapping[str, int] = {
    "check": 12_000,
    "isa": 6_000,
    "compare": 5_000,
    "search_notes": 8_000,
    "submit": 12_000,
}
MOST_LINES = 120  # of a loop
MOST_COUNTERS = 12  # that differ, in a comparison
_EMPTY_LINES = re.compile(r"\n\s*\n\s*\n")
DIFFERENT = 0.05  # relative, below which a counter is left out of a comparison


def checked_text(
    checked: Checked, parent: BenchKernel | None, task: Task, tries_left: int, classifies: bool = True
) -> str:
    """Describe a try: verdict, findings, evidence beside the parent's, the critic's remarks, what is left."""
    kernel = checked.kernel
    accepted = kernel.evaluation.verdict.accepted
    return rendered(
        "tool_check.md.j2",
        name=kernel.name,
        status=checked.status,
        reason=checked.reason,
        is_repeated=checked.is_repeated,
        failure=None if accepted else failure_view(kernel.evaluation, task, classifies),
        evidence=evidence_of(kernel.evaluation, kernel.source, times_of(parent.evaluation) if parent else {}),
        parent=evidence_of(parent.evaluation, parent.source, {}) if parent else None,
        remarks=list(checked.remarks),
        literature=list(checked.literature),
        tries_left=tries_left,
        task={"ratio": f"{task.tolerance.ratio:g}"},
    )


def compared_text(left: BenchKernel, right: BenchKernel, task: Task, classifies: bool = True) -> str:
    """Two kernels side by side."""
    old, new = left.evaluation, right.evaluation
    return rendered(
        "tool_compare.md.j2",
        left=_side(left),
        right=_side(right),
        failure=None if new.verdict.accepted else failure_view(new, task, classifies),
        evidence=evidence_of(new, right.source, times_of(old)),
        counters=_differences(old, new),
        tie=tie_text(ratio_error(new, old)) if ties(new, old) else "",
        task={"ratio": f"{task.tolerance.ratio:g}"},
    )


def loops_text(name: str, loops: Sequence[InnerLoop], source: str) -> str:
    """Write the inner loops in machine code, each instruction with its source line."""
    lines = source.split("\n")
    loop_views = [
        {
            "kernel": loop.kernel,
            "depth": loop.depth,
            "instructions": loop.instructions,
            "total": loop.total,
            "groups": ", ".join(f"{count} {group}" for group, count in _groups(loop)),
            "rows": [
                {
                    "line": row.line,
                    "said": lines[row.line - 1].strip()[:60] if new and 0 < row.line <= len(lines) else "",
                    "text": row.text[:70],
                    "count": row.count,
                }
                for row, new in zip(
                    loop.lines[:MOST_LINES],
                    [True, *(a.line != b.line for a, b in zip(loop.lines, loop.lines[1:], strict=False))],
                    strict=False,
                )
            ],
            "more": max(0, len(loop.lines) - MOST_LINES),
        }
        for loop in loops
    ]
    return rendered("tool_isa.md.j2", name=name, loops=loop_views)


def found_text(passages: Sequence[Quotation]) -> str:
    """Passages of the notes, marked as quoted; those that were read before by their heads only."""
    fresh, earlier = [p for p in passages if p.text], [p for p in passages if not p.text]
    return rendered("tool_search.md.j2", literature=fresh, known=earlier)


def bounded(tool: str, text: str) -> str:
    """Return the text within the tool's bound, cut at the end of a line, without empty lines in a row."""
    text = _EMPTY_LINES.sub("\n\n", text)
    most = MOST_CHARS.get(tool, 1_000)
    if len(text) <= most:
        return text
    beginning = text[:most].rsplit("\n", 1)[0]
    return f"{beginning}\n(cut here: {len(text) - len(beginning)} characters more)"


def _side(kernel: BenchKernel) -> dict[str, Any]:
    evidence = evidence_of(kernel.evaluation, kernel.source, {})
    return {"name": kernel.name, "is_verified": kernel.is_verified, **evidence}


def _groups(loop: InnerLoop) -> list[tuple[str, int]]:
    """Instructions by issue class, the most frequent first."""
    counts: dict[str, int] = {}
    for row in loop.lines:
        counts[row.group] = counts.get(row.group, 0) + row.count
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _differences(old: Evaluation, new: Evaluation) -> list[dict[str, str]]:
    """List the counters that differ, those that differ most first."""
    rows = []
    for name in sorted(set(old.counters) & set(new.counters)):
        before, after = old.counters[name], new.counters[name]
        change = abs(after - before) / max(abs(before), abs(after), 1e-12)
        if change > DIFFERENT:
            rows.append((change, {"name": name, "old": f"{before:.5g}", "new": f"{after:.5g}"}))
    return [row for _, row in sorted(rows, key=lambda r: (-r[0], r[1]["name"]))[:MOST_COUNTERS]]
