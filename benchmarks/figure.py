"""The report of every benchmark: a table for people, then one JSON line a figure for machines."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

WIDE = 1000  # columns of a pipe or a file, where rich would assume 80: more than any row has, so that none is folded
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Figure:
    """One measured figure, the anchor it is read against, and what it must reach."""

    figure: str  # "startup.help"
    value: float
    unit: str
    anchor: str  # what the anchor is, in words
    anchor_value: float  # measured in the same run, in the same unit
    goal: str = ""  # "< 0.5": of the value; empty for a figure that is only observed
    stored: str = ""  # where the raw samples lie, when they are kept

    @property
    def ratio(self) -> float:
        """Value over anchor."""
        return self.value / self.anchor_value if self.anchor_value else float("nan")

    @property
    def met(self) -> bool | None:
        """True where the goal is reached, None where there is none."""
        if not self.goal:
            return None
        comparison, bound = self.goal.split()
        return _COMPARISONS[comparison](self.value, float(bound))

    def line(self) -> str:
        """Write the figure as one line of JSON, keys in the documented order."""
        plain = asdict(self)
        order = ("figure", "value", "unit", "anchor", "anchor_value", "ratio", "goal", "met", "stored")
        plain |= {
            "ratio": round(self.ratio, 4),
            "met": self.met,
            "value": float(f"{self.value:.6g}"),
            "anchor_value": float(f"{self.anchor_value:.6g}"),
        }
        return json.dumps({key: plain[key] for key in order})


def report(title: str, figures: Sequence[Figure]) -> int:
    """Print the table and the JSON lines; the exit code is 1 when a goal is missed."""
    table = Table(title=title)
    for heading in ("figure", "value", "anchor", "ratio", "goal", "met"):
        # Folded, never cut: a figure is found by its name.
        table.add_column(heading, justify="right" if heading in ("value", "ratio") else "left", overflow="fold")
    for figure in figures:
        table.add_row(
            figure.figure,
            f"{figure.value:.4g} {figure.unit}",
            f"{figure.anchor}: {figure.anchor_value:.4g} {figure.unit}",
            f"{figure.ratio:.2f}",
            f"{figure.goal} {figure.unit}" if figure.goal else "",
            {True: "yes", False: "NO", None: ""}[figure.met],
        )
    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = WIDE
    console.print(table)
    for figure in figures:
        print(figure.line())
    return 1 if any(figure.met is False for figure in figures) else 0
