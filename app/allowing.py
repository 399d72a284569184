"""The limits of a run: those it was asked for, those of the settings, and what they come to, told before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.program.author_command import is_program
from app.settings import Settings
from records.allowance import ALLOWED, NAMES, WORDS, Allowance, checked_allowance
from records.experiment import Run
from records.ledger import Ledger
from records.quantity import counted
from records.run_meter import RunMeter
from records.stopping import StopSignal

if TYPE_CHECKING:
    from graph.context import Context

NO_GPU = ("lab", "ray:local")


def asked_allowance(settings: Settings, request: Mapping[str, Any]) -> Allowance:
    """Return the limits of a new run; those it is not asked for are the settings'."""
    defaults = {name: getattr(settings, name) for name in NAMES}
    return checked_allowance({**defaults, **{n: request[n] for n in NAMES if request.get(n) is not None}})


def meter_of(settings: Settings, run: Run, ledger: Ledger, stop: StopSignal | None = None) -> RunMeter:
    """Return the meter of a run, which `stop` cancels. One that an older program began has the settings' budget."""
    allowance = Allowance.of({"budget_usd": settings.budget_usd, **run.config})
    return RunMeter(ledger, run.id, allowance, has_gpu=run.on not in NO_GPU, stop=stop)


def extend_limits(ledger: Ledger, run: Run, more: Mapping[str, Any]) -> Run:
    """Change the limits of a run, write it down and return it; one that ended because it met a limit goes on."""
    changes = checked_allowance(more).given()
    if not changes or run.status == "failed":
        return run
    with ledger.driving(run.id):
        ledger.event(run.id, ALLOWED, changes)
        if run.status == "done" and run.pause == "limit":
            ledger.finish(run.id, "running")
    return ledger.run(run.id)


def limit_lines(settings: Settings, context: Context) -> list[str]:
    """Write the limits of a run and its highest cost, for a person to read before it begins."""
    from app.pricing import price_lines

    most, used = context.meter.allowance, context.meter.used()
    has_model = context.run.author == "llm"
    texts = [
        _limit_text(name, value, used[name]) for name, value in most.given().items() if has_model or is_of_all(name)
    ]
    limits = context.limits
    total = context.generations_at(1)
    texts.append(f"{total} generations of {limits.picks} experiments")
    lines = [f"limits       {', '.join(texts)}"]
    if is_program(context.run.author):
        lines.append(
            f"program      {counted(limits.tries, 'try', 'tries')} and {limits.session_minutes:g} min a session"
        )
    if has_model:
        lines += [f"costs        at most ${cost_at_most(settings, most):,.2f}"]
        lines += [f"prices       {line}" for line in price_lines(settings)]
    return lines


def cost_at_most(settings: Settings, most: Allowance) -> float:
    """Dollars that a run with these limits can cost at most: its budget, or less where its tokens cost less."""
    from app.pricing import prices_of

    bounds = [float("inf") if most.budget_usd is None else most.budget_usd]
    if most.max_tokens is not None:
        bounds.append(max(price.worst_usd(0, most.max_tokens) for price in prices_of(settings).values()))
        bounds[-1] = max(bounds[-1], *(price.worst_usd(most.max_tokens, 0) for price in prices_of(settings).values()))
    return min(bounds)


def is_of_all(name: str) -> bool:
    """Tell whether a limit is one that a run without a model has, too."""
    return name in ("max_evaluations", "max_gpu_seconds", "max_wall_seconds")


def _limit_text(name: str, value: float, used: float) -> str:
    before = f", {used:,.2f} used" if used else ""
    return f"${value:,.2f} for the model{before}" if name == "budget_usd" else f"{value:,.0f} {WORDS[name]}{before}"
