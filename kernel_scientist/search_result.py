"""The outcome of a run, as the interface returns it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from app.session import Best
from page.headline import NO_HEADLINE, Headline


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a run: `status` is done, or paused with the reason why it can go on later."""

    run_id: str
    status: str
    stop_reason: str
    best: Best | None
    source: str  # of the best kernel, with its launch plan; empty where there is none
    report: Path
    generations: int
    attempts: int
    accepted: int
    llm_calls: int
    usd: float
    seconds: float
    stage_seconds: Mapping[str, float]  # the parts of `seconds`, by stage
    headline: Headline = NO_HEADLINE  # the gain over what the user brought, with what was changed and what is left
    diff: str = ""  # of that kernel and the best one, unified

    @property
    def is_gain(self) -> bool:
        """True where a verified kernel is faster than the best seed as tuned."""
        return self.best is not None and not self.best.is_seed and self.best.speedup_over_seed is not None

    def __str__(self) -> str:
        """Write the outcome in lines: the one number first."""
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        """Show the outcome in a notebook: the one number, the lines beside it, and the change behind a triangle."""
        first, *more = map(escape, self._lines())
        change = f"<details><summary>the change</summary><pre>{escape(self.diff)}</pre></details>" if self.diff else ""
        return f"<b>{first}</b><br>{'<br>'.join(more)}{change}"

    def _lines(self) -> list[str]:
        line = self.headline
        share = f"{line.roofline:.0%} of the roofline" if line.roofline else ""
        return [line.text, *filter(None, (line.change, share, line.advice)), f"{self.status}: {self.stop_reason}"]


@dataclass(frozen=True)
class OptimisedKernel:
    """The outcome of `optimise`: the search, and what was written; `path` is the file to use, None for none."""

    search: SearchResult
    path: Path | None
    files: tuple[Path, ...]
    notes: tuple[str, ...]  # about the task that was made
    remark: str = ""  # why there is no file, or none of the author's own form
