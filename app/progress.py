"""Progress of a run: a live table at a terminal, a line an event elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.screen import (
    console,
    folded,
    format_seconds,
    format_times,
    format_us,
    heading,
    is_terminal,
    note,
    parts_text,
    say,
)
from records.experiment import Credit
from records.outside_text import visible
from records.stage_clock import REPORT, STAGES, START, OpenStage, StageClock

if TYPE_CHECKING:
    from rich.console import RenderableType

    from records.experiment import Run
    from records.ledger import Ledger

LONG, ASKING = frozenset({START, "confirm", "compose", REPORT}), frozenset({"select", "retrieve", "plan"})
STYLES = {"accepted": "green", "rejected": "red", "failed": "red", "duplicate": "yellow", "tried": "cyan"}


@dataclass
class Board:
    """The state of a run at a moment."""

    run: Run
    titles: Mapping[str, str]
    generation: int = 0
    generations: int = 0
    stages: dict[str, str] = field(default_factory=dict)  # by experiment of this generation
    clock: StageClock = field(default_factory=lambda: StageClock(time.monotonic()))
    best_us: float | None = None
    kind: str = ""
    over_seed: float | None = None
    usd: float = 0.0


class Watcher:
    """Takes the graph's events; a line each, and at a terminal a table of the generation below them."""

    def __init__(self, run: Run, ledger: Ledger, stderr: bool) -> None:
        """`stderr`: standard output is kept for the JSON answer."""
        self._ledger = ledger
        self._stderr = stderr
        self._started = time.monotonic()
        self._live: Any = None
        self.board = Board(run, {})

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Take one event."""
        self.board.clock.take(event, time.monotonic())
        self.board.usd = float(event.get("usd", self.board.usd))
        line = self._take(event)
        stamped = f"[{format_seconds(time.monotonic() - self._started)}] {line}"
        if self._live is None:
            if line:
                (note if self._stderr else say)(stamped)
            return
        if line:
            self._live.console.print(folded(visible(stamped), self._live.console.width), style=_style(event))
        self._live.refresh()

    @contextlib.contextmanager
    def watching(self) -> Iterator[Watcher]:
        """Show the table during the run where there is a terminal."""
        if not is_terminal(self._stderr):
            yield self
            return
        from rich.live import Live

        screen = console(self._stderr)
        with Live(get_renderable=self._render, console=screen, refresh_per_second=4, transient=True) as live:
            self._live = live
            try:
                yield self
            finally:
                self._live = None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to a question."""
        if self._live is not None:
            self._live.stop()
        try:
            yield
        finally:
            if self._live is not None:
                self._live.start()

    def _take(self, event: Mapping[str, Any]) -> str:
        """Update the board and describe the event in a line; empty for an unknown event or one without news."""
        board, kind, experiment = self.board, event.get("event"), str(event.get("experiment", ""))
        if kind == "generation":
            board.generation, board.generations, board.stages = int(event["generation"]), int(event["of"]), {}
            return f"generation {board.generation} of {board.generations}" if board.generation else "judging the seeds"
        if kind == "selected":
            return f"  building on {event.get('base')}: {_short(event.get('why'))}"
        if kind == "planned":
            names = [n.strip() for n in str(event.get("experiments", "")).split(",") if n.strip()]
            board.stages = dict.fromkeys(names, "planned")
            return "  planned " + "; ".join(f"{n} {self._title(n)}".strip() for n in names) if names else ""
        if kind == "stage" and not experiment:
            return "" if self._live is not None else self._run_stage(str(event.get("stage")))
        if kind == "stage":
            board.stages[experiment] = _stage(event)
            return f"  {experiment} {_stage(event)}" if not self._live else ""
        if kind == "attempt":
            board.stages[experiment] = str(event.get("status"))
            return f"  {event.get('attempt')} {_outcome(event)}"
        if kind == "best":
            board.best_us, board.over_seed = event.get("best_us"), event.get("over_seed")
            board.kind = str(event.get("time_kind"))
            over = format_times(board.over_seed), format_times(event.get("over_naive"))
            line = f"  best so far {format_us(board.best_us)} {board.kind}"
            line += f", {over[0]} the best seed, {over[1]} the naive one"
            return line + (f"; {event['contrast']}" if event.get("contrast") else "")
        if kind == "warning":
            return f"  note: {_short(event.get('message'), 200)}"
        return f"stopped: {event.get('reason')}" if kind == "stopped" else ""

    def _run_stage(self, stage: str) -> str:
        """Describe a stage of the whole run in a line; empty where another line says it, or it takes no time."""
        has_waits = self.board.run.author != "playbook"  # for a model's answers
        return f"  {STAGES.get(stage, stage)}" if stage in LONG or (has_waits and stage in ASKING) else ""

    def _title(self, experiment_id: str) -> str:
        if experiment_id not in self.board.titles:
            self.board.titles = {e.id: heading(e.title) for e in self._ledger.experiments(self.board.run.id)}
        return self.board.titles.get(experiment_id, "")

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        board = self.board
        grid = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        under_way = {s.experiment: s for s in board.clock.current}
        for name, stage in board.stages.items():
            style, age = STYLES.get(stage, "cyan"), _age(under_way.get(name))
            words = Text(f"{stage} {age}".rstrip(), style=style)
            grid.add_row(Text(name, style="dim"), Text(visible(self._title(name))[:60]), words)
        best = (
            f"{format_us(board.best_us)} {board.kind}  {format_times(board.over_seed)} the best seed"
            if board.best_us
            else "-"
        )
        return Group(
            Text(""),
            Text(f"{board.run.task} for {board.run.target}, {board.run.author}, on the {board.run.on}", style="bold"),
            Text(
                f"generation {board.generation}/{board.generations}   best {best}   spent ${board.usd:.2f}   "
                f"{format_seconds(time.monotonic() - self._started)}"
            ),
            grid,
            Text(_now(board.clock), style="cyan"),
        )


def _age(stage: OpenStage | None) -> str:
    return format_seconds(time.monotonic() - stage.since) if stage else ""


def _now(clock: StageClock) -> str:
    """Say what the program does at this moment, and for how long it has."""
    stages = dict.fromkeys(s.stage for s in clock.current)
    oldest = {name: min((s for s in clock.current if s.stage == name), key=lambda s: s.since) for name in stages}
    return "; ".join(f"{STAGES.get(name, name)}  {_age(oldest[name])}" for name in stages)


def _style(event: Mapping[str, Any]) -> str:
    if event.get("event") == "best":
        return "bold green"
    return STYLES.get(str(event.get("status")), "bold" if event.get("event") == "generation" else "default")


def _stage(event: Mapping[str, Any]) -> str:
    number = int(event.get("number") or 0)
    if event.get("stage") == "try":
        return f"try {number + 1}"
    return f"{event.get('stage')}" + (f" (repair {number})" if number else "")


def _outcome(event: Mapping[str, Any]) -> str:
    if event.get("status") == "accepted":
        line = f"accepted: {format_us(event.get('geomean_us'))} {event.get('time_kind')}"
        parts = Credit(event.get("tuner_pct"), event.get("idea_pct"), event.get("equal_pct"), event.get("shown_pct"))
        return line if parts == Credit() else f"{line}; {parts_text(parts)}"
    code = event.get("code")
    return f"{event.get('status')}: " + " ".join(
        part for part in ("" if code == "OK" else str(code or ""), _short(event.get("reason"), 140)) if part
    )


def _short(text: object, most: int = 100) -> str:
    flat = " ".join(str(text or "").split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
