"""The outcome of a run, as the interface returns it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.session import Best


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

    @property
    def is_gain(self) -> bool:
        """True where a verified kernel is faster than the best seed as tuned."""
        return self.best is not None and not self.best.is_seed and self.best.speedup_over_seed is not None


@dataclass(frozen=True)
class OptimisedKernel:
    """The outcome of `optimise`: the search, and what was written; `path` is the file to use, None for none."""

    search: SearchResult
    path: Path | None
    files: tuple[Path, ...]
    notes: tuple[str, ...]  # about the task that was made
    remark: str = ""  # why there is no file, or none of the author's own form
