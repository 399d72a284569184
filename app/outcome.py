"""The last lines of a run on the terminal: the gain over what the user brought, and what stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.screen import format_times, format_us, parts_text, say
from records.quantity import counted
from records.stage_clock import stages_text

if TYPE_CHECKING:
    from app.session import Best, RunResult, Session
    from page.headline import Headline


def print_outcome(result: RunResult, session: Session) -> None:
    """Print how a run ended: the gain, what was changed, what is left, where the files are, and how it goes on."""
    run, best = session.run, result.best
    say()
    say(f"{run.status}: {run.stop_reason}" if run.stop_reason else run.status)
    if best is None:
        say("no kernel was verified and timed" + (" yet" if session.is_waiting else ""))
    else:
        lines = [f"{name:<12} {text}" for name, text in headline_rows(result.headline)]
        for text in (*lines, *_time(session, best)):
            say(text)
        over = format_times(best.speedup_over_seed), format_times(best.speedup_over_naive_seed)
        say(f"             {over[0]} the best seed's speed, tuned; {over[1]} the naive seed's")
        if not best.is_seed:
            say(f"             {_credit(session, best.id)}")
        for text in _arms(session, best.id):
            say(f"             {text}")
        for text in (*_contrasts(session, best.id), *_agreement(session)):
            say(f"             {text}")
        say(
            f"kernel       {best.path}"
            + ("" if result.is_gain else " (no verified kernel is faster than the best seed)")
        )
    if result.diff:
        say(f"diff         {result.diff}")
    say(f"report       {session.folder / 'report.html'}")
    say(
        f"tried        {counted(result.attempts, 'attempt')} in {counted(result.generations, 'generation')}, "
        f"{result.accepted} verified"
    )
    say(f"spent        ${result.usd:.2f} in {counted(result.llm_calls, 'model call')}, {result.seconds:.0f} s")
    if parts := stages_text(result.stage_seconds):
        say(f"             {parts}")
    if session.is_waiting:
        spool = run.on.partition(":")[2]
        say(f"answer with  python -m sandbox.worker --spool {spool} --target {run.target}   (where the GPU is)")
        say(f"resume with  kernel-scientist resume {run.id}")
    elif run.pause == "approval":
        say(f"approve with kernel-scientist resume {run.id}   (it asks; with --yes it starts what waits)")


def headline_rows(line: Headline) -> list[tuple[str, str]]:
    """Return the one number, what was changed, how far the roofline is, and who could go on, each with its name."""
    bounds = f", bound by {', '.join(line.bounds)}" if line.bounds else ""
    rows = (
        ("result", line.text),
        ("changed", line.change),
        ("roofline", f"{line.roofline:.0%} of it is reached{bounds}" if line.roofline else bounds[2:]),
        ("next", line.advice),
    )
    return [(name, text) for name, text in rows if text]


def _time(session: Session, best: Best) -> list[str]:
    """Write the best kernel's time with its kind; of a predicted one the bound and what the difference is made of."""
    from app.times import mean_text, stalls_text

    if best.time_kind != "predicted":
        return [f"best kernel  {best.id}, {format_us(best.geomean_us)} geomean (measured)"]
    attempt = session.context.ledger.attempt(session.context.run.id, best.id)
    evaluation = session.context.ledger.evaluation(attempt.evaluation_key) if attempt else None
    head = f"best kernel  {best.id}, {format_us(best.geomean_us)} geomean (predicted by the lab, not measured on a GPU)"
    if evaluation is None or not evaluation.measurements or not evaluation.measurements[0].bound_us:
        return [head]
    stalls = stalls_text(evaluation)
    return [head, f"             {mean_text(evaluation)}" + (f"; of it {stalls}" if stalls else "")]


def _contrasts(session: Session, attempt_id: str) -> list[str]:
    """Write the gains over the kernels that led before the best one, where a comparison decided them."""
    ledger = session.context.ledger
    attempts = {a.id: a for a in ledger.attempts(session.context.run.id) if a.status == "accepted"}
    ids = {a.evaluation_key: a.id for a in attempts.values()}
    return [
        f"{c.text} than {ids[c.incumbent]}, timed in turns"
        for c in ledger.comparisons(attempts[attempt_id].evaluation_key)
        if c.verdict == "faster" and c.incumbent in ids
    ]


def _agreement(session: Session) -> list[str]:
    """Measured times of this run beside the lab's predictions of them, where the ledger holds some."""
    from page.foretold import foretold
    from records.agreement import agreement

    ledger, run = session.context.ledger, session.context.run
    agreed = agreement(foretold(ledger, run, ledger.attempts(run.id)))
    if agreed is None:
        return []
    return [
        f"measured times are {agreed.ratio:.2f} of the predicted ones at the median of {counted(agreed.count, 'pair')}"
    ]


def _arms(session: Session, attempt_id: str) -> tuple[str, ...]:
    """Name the kernels of a dispatch, each with its condition."""
    attempt = session.context.ledger.attempt(session.context.run.id, attempt_id)
    return attempt.arms if attempt else ()


def _credit(session: Session, attempt_id: str) -> str:
    """Split the last step's gain into its parts, in words."""
    attempt = next(a for a in session.context.ledger.attempts(session.context.run.id) if a.id == attempt_id)
    return f"its step over {attempt.parent_id}: {parts_text(attempt.credit)}"
