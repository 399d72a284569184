"""The verdict on one kernel: printed for people, and as the object of `check --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.screen import say, table
from app.times import print_times, time_json
from records.code_meanings import CODES
from records.coverage import coverage_text
from records.evaluation import CaseResult, Evaluation, Finding, HotLine, Resources

MIN_SHARE = 0.05  # of a kernel, below which a line's cost is not shown
MOST_ONE_SIDED, WIDE = 8, 100
EXCERPT = 60  # characters of a source line


def verdict_json(evaluation: Evaluation) -> dict[str, Any]:
    """Write the object of `check --json`."""
    verdict = evaluation.verdict
    return {
        "accepted": verdict.accepted,
        "stage": verdict.stage,
        "code": verdict.code,
        "isolation": evaluation.isolation,
        "findings": [{"kind": f.kind, "line": f.line, "message": f.message} for f in verdict.findings],
        "resources": _resources_json(evaluation.resources),
        "cases": _cases_json(evaluation),
        "counters": dict(evaluation.counters),
        "kernel_counters": {kernel: dict(values) for kernel, values in evaluation.kernel_counters.items()},
        "hot_lines": [
            {"line": h.line, "kernel": h.kernel, "counters": dict(h.counters), "shares": dict(h.shares)}
            | ({"stall_cause": h.stall_cause} if h.stall_cause else {})
            for h in evaluation.hot_lines
        ],
        "explanation": evaluation.explanation,
        "one_sided": [{"line": o.line, "column": o.column, "text": o.text} for o in evaluation.one_sided],
    }


def _resources_json(resources: Sequence[Resources]) -> dict[str, int]:
    """One object for the file: the largest figure of its kernels in each field."""
    if not resources:
        return {}
    most = {
        name: max(getattr(r, name) for r in resources)
        for name in ("vgpr", "agpr", "sgpr", "lds_bytes", "scratch_bytes")
    }
    return most | {"waves_per_simd": min(r.waves_per_simd for r in resources)}


def _cases_json(evaluation: Evaluation) -> list[dict[str, Any]]:
    """List verified cases, then timed ones; a case that was both is one object."""
    timed = {m.case: m for m in evaluation.measurements}
    rows: list[dict[str, Any]] = []
    for case in evaluation.cases:
        m = timed.pop(case.name, None) if case.role == "benchmark" else None
        row = {"name": case.name, "correct": case.correct, "error": case.error, **time_json(m)}
        rows.append(row | _coverage_json(case))
    return rows + [{"name": m.case, "correct": None, "error": None, **time_json(m)} for m in timed.values()]


def _coverage_json(case: CaseResult) -> dict[str, Any]:
    return {
        "whole": case.is_whole,
        "workgroups": case.workgroups or None,
        "grid": case.grid or None,
        "compared": case.compared,
        "miss_chance": case.miss_chance,
        "stands_for": case.stands_for or None,
    }


def show(evaluation: Evaluation, source: str, name: str) -> None:
    """Print the verdict for people."""
    verdict = evaluation.verdict
    if verdict.accepted:
        say(f"{name}: accepted")
    else:
        say(f"{name}: rejected at stage {verdict.stage}: {verdict.code}, {CODES.get(verdict.code, '')}")
    excerpts(verdict.findings, source, verdict.stage)
    _print_resources(evaluation)
    _print_cases(evaluation)
    _print_one_sided(evaluation)
    print_times(evaluation)
    _print_counters(evaluation)
    if evaluation.hot_lines:
        say("\nWhere it goes, over the benchmarks: the lines that cause most of each cost")
        _print_hot_lines(evaluation.hot_lines, source)
    if evaluation.explanation:
        say("\n" + evaluation.explanation.strip())
    if evaluation.isolation:
        from sandbox.cage.confinement import describe_level

        say(f"\nIsolation of compiler and kernel: {describe_level(evaluation.isolation)}")


def excerpts(findings: Sequence[Finding], source: str, stage: str = "") -> None:
    """Each finding with the lines around the one it names."""
    lines = source.split("\n")
    for finding in findings:
        say()
        position = f"line {finding.line}: " if finding.line else ""
        say(
            f"  {position}{_title(finding, stage)}: {finding.message}"
            + (f" (case {finding.case})" if finding.case else "")
        )
        if finding.line and finding.line <= len(lines):
            for number in range(max(1, finding.line - 1), min(len(lines), finding.line + 1) + 1):
                say(f"  {'>' if number == finding.line else ' '} {number:4} | {lines[number - 1].rstrip()}")


def _print_hot_lines(hot: Sequence[HotLine], source: str) -> None:
    lines = source.split("\n")
    rows = []
    for h in hot:
        excerpt = lines[h.line - 1].strip() if h.line <= len(lines) else ""
        costs = ", ".join(
            f"{h.title(name)} {value:,.4g} ({h.shares[name]:.0%})"
            for name, value in h.counters.items()
            if h.shares.get(name, 0.0) >= MIN_SHARE
        )
        if costs:
            rows.append([f"  {h.line}", h.kernel, costs, excerpt[:EXCERPT]])
    table(["  line", "kernel", "cost (share of the kernel's)", "source"], rows)


def _title(finding: Finding, stage: str) -> str:
    """Write the kind of a finding in words; a fault of the launch plan has that name at every stage."""
    return "launch plan" if stage == "parse" or finding.kind == "over_limit" else finding.kind.replace("_", " ")


def _print_one_sided(evaluation: Evaluation) -> None:
    if evaluation.one_sided:
        say("\nComparisons of data that had one outcome in all that was executed: what follows from the other was not")
        say("judged, and `check --whole` looks further")
        for comparison in evaluation.one_sided[:MOST_ONE_SIDED]:
            say(f"  line {comparison.line}: {comparison.text[:WIDE]}")
        if (more := len(evaluation.one_sided) - MOST_ONE_SIDED) > 0:
            say(f"  and {more} more")


def _print_resources(evaluation: Evaluation) -> None:
    if evaluation.tunables:
        say("\nTunables: " + ", ".join(f"{k}={v}" for k, v in evaluation.tunables.items()))
    if evaluation.resources:
        say("\nResources, by the compiler")
        table(
            ["  kernel", "VGPR", "AGPR", "SGPR", "LDS bytes", "scratch bytes", "waves per SIMD"],
            [
                [
                    f"  {r.kernel}",
                    str(r.vgpr),
                    str(r.agpr),
                    str(r.sgpr),
                    str(r.lds_bytes),
                    str(r.scratch_bytes),
                    str(r.waves_per_simd or "-"),
                ]
                for r in evaluation.resources
            ],
            right=range(1, 7),
        )


def _print_cases(evaluation: Evaluation) -> None:
    if not evaluation.cases:
        return
    say("\nVerification (error in multiples of the baseline's own)")
    rows = []
    for case in evaluation.cases:
        rows.append(
            [
                f"  {case.name}",
                case.role.replace("_", " "),
                _result(case),
                f"{case.error:.3g}" if case.error is not None else "-",
                _share(case),
            ]
        )
    table(["  case", "role", "result", "error", ""], rows, right=[3])
    coverage = coverage_text(evaluation.cases)
    if coverage:
        say(f"  {coverage}")


def _result(case: CaseResult) -> str:
    return "correct" if case.correct else "stopped, see above" if case.error is None else "wrong, see above"


def _share(case: CaseResult) -> str:
    """Write the share of a case that was executed and compared, if not the whole; empty for a case that was stopped."""
    if case.error is None:
        return ""
    if case.stands_for:
        return f"in place of {case.stands_for}, scaled down"
    if case.is_whole:
        return f"whole: {case.grid:,} workgroups" if case.grid else ""
    if not case.grid:
        return f"sample: {case.executed:.1%} executed, {case.compared:.1%} compared"
    return f"sample: {case.workgroups:,} of {case.grid:,} workgroups, {case.compared:.1%} of the elements"


def _print_counters(evaluation: Evaluation) -> None:
    if evaluation.counters:
        by_kernel = evaluation.kernel_counters
        kernels = list(by_kernel) if len(by_kernel) > 1 else []
        say("\nCounters, over the benchmarks")
        rows = [
            [
                f"  {name}",
                f"{value:,.0f}",
                *(f"{by_kernel[k][name]:,.0f}" if name in by_kernel[k] else "-" for k in kernels),
            ]
            for name, value in sorted(evaluation.counters.items())
        ]
        table(["  counter", "all", *kernels], rows, right=range(1, 2 + len(kernels)))
