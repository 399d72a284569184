"""The figures that the README shows, in its own words; written with docs/results.md, so that the two agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.registry import Benchmark
from benchmarks.results import ROOT, Record

README = ROOT / "README.md"
START, END = "<!-- figures: python -m benchmarks -->\n", "<!-- end of the figures -->"


@dataclass(frozen=True)
class Highlight:
    """One figure in the README: its name, what it is, and its value as a pattern."""

    figure: str
    words: str
    pattern: str = "{value}"  # {anchor}: the anchor's value; {percent}: a share times 100


HIGHLIGHTS = (
    Highlight("demo.speedup", "demo: predicted speed over a kernel as people write it", "{value} ×"),
    Highlight("lab_findings.found", "faulty kernels reported with the right kind and line", "{value} of {anchor}"),
    Highlight(
        "judge_evidence.right_refused",
        "right kernels, on new inputs, that the lab rejects (stored)",
        "{value} of {anchor}",
    ),
    Highlight(
        "measure_truth.work.false_winners", "pairs of equal kernels of which one is called faster (stored)", "{value} %"
    ),
    Highlight("throughput.candidates", "candidates that one H200 judges in an hour (stored)"),
    Highlight(
        "h200_search.given.mean",
        "softmax and RMS norm found on an H200, over the fastest PyTorch in each case (stored)",
        "{value} ×",
    ),
)


def rounded(value: float) -> str:
    """Write three significant digits, or all of a whole number."""
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.3g}"


def found(
    name: str, benchmarks: Sequence[Benchmark], records: Mapping[str, Record]
) -> tuple[Benchmark, Mapping[str, Any]]:
    """Return the figure of that name with its benchmark; KeyError where there is none."""
    for benchmark in benchmarks:
        for figure in records[benchmark.name].figures if benchmark.name in records else ():
            if figure["figure"] == name:
                return benchmark, figure
    raise KeyError(name)


def table(benchmarks: Sequence[Benchmark], records: Mapping[str, Record]) -> str:
    """Write the rows of the README, each with the command that prints it."""
    rows = ["| figure | value | command |", "|---|--:|---|"]
    for highlight in HIGHLIGHTS:
        benchmark, figure = found(highlight.figure, benchmarks, records)
        value, anchor = figure["value"], figure["anchor_value"]
        value_text = highlight.pattern.format(
            value=rounded(value), anchor=rounded(anchor), percent=rounded(100 * value)
        )
        rows.append(f"| {highlight.words} | {value_text} | `{benchmark.command}` |")
    return "\n".join(rows) + "\n"


def readme(text: str, benchmarks: Sequence[Benchmark], records: Mapping[str, Record]) -> str:
    """Return the README with its table written again."""
    before, after = text.split(START)
    return before + START + table(benchmarks, records) + END + after.split(END)[1]
