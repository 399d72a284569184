"""`status`: Show the runs at work: how far each is, its best kernel and its cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import Json, known_runs
from app.screen import emit, format_seconds, format_times, say
from records.quantity import counted
from records.stage_clock import STAGES

if TYPE_CHECKING:
    from app.condition import Condition


def command(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="A run's id, the beginning of one, or `last`; all at work by default.",
            show_default=False,
            autocompletion=known_runs,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show a run: its state, generation, best kernel and spend; without RUN all that are at work, else the newest."""
    from app.condition import condition
    from app.settings import load_settings
    from app.wiring import find_run, open_records

    settings = load_settings()
    ledger, _ = open_records(settings, create=False)
    with ledger:
        if run is not None:
            chosen = [find_run(ledger, run)]
        else:
            at_work = [r for r in ledger.runs() if ledger.driver(r.id) is not None]
            chosen = at_work or [find_run(ledger, "last")]
        conditions = [condition(settings, ledger, record) for record in chosen]
    if json:
        emit([asdict(c) for c in conditions] if run is None else asdict(conditions[0]))
        return
    for number, c in enumerate(conditions):
        say(("\n" if number else "") + "\n".join(_lines(c)))


def _lines(c: Condition) -> list[str]:
    from app.condition import age_s

    process = f", process {c.pid}" if c.pid else ", in a process that cannot be seen from here" if c.pid == 0 else ""
    ago = f", last event {format_seconds(age_s(c.last_event_at))} ago" if c.last_event_at and c.pid is not None else ""
    lines = [
        f"run          {c.run_id}: {c.task} for {c.target} on {c.on}, author {c.author}",
        f"state        {c.state}{process}{ago}" + (f": {c.reason}" if c.reason else ""),
        f"progress     generation {c.generation} of {c.generations}, "
        f"{counted(c.attempts, 'attempt')}, {c.accepted} verified",
    ]
    if c.experiments and c.pid is not None:
        lines.append("             " + ", ".join(f"{name} {stage}" for name, stage in c.experiments.items()))
    if c.stages:
        now = (f"{STAGES.get(name, name)} {format_seconds(age)}" for name, age in c.stages.items())
        lines.append(f"now          {'; '.join(now)}")
    if c.best is None:
        lines.append("best         no kernel was verified and timed yet")
    else:
        over = format_times(c.best.speedup_over_seed), format_times(c.best.speedup_over_naive_seed)
        lines += [
            f"best         {c.headline.text}",
            *([f"changed      {c.headline.change}"] if c.headline.change else []),
            f"             {c.best.id}; {over[0]} the best seed's speed, tuned; {over[1]} the naive seed's",
        ]
    budget = "" if c.budget_usd is None else f" of ${c.budget_usd:.2f}"
    lines.append(f"spent        ${c.usd:.2f}{budget} in {counted(c.llm_calls, 'model call')}")
    if c.shared:
        names = ", ".join(f"{count} of {name}" for name, count in sorted(c.shared.items()))
        lines.append(f"found        {counted(sum(c.shared.values()), 'verdict')} that other runs had paid for: {names}")
    if c.state in ("paused", "stopped"):
        lines.append(f"resume with  kernel-scientist resume {c.run_id}")
    return lines
