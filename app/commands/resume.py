"""`resume`: Continue a run that was stopped."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.options import Detach, Isolation, Json, Quiet, RunId, Trace
from app.commands.run import drive, finish, send_off


def command(
    run: RunId,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            "--budget-usd", min=0, help="A new limit for the whole run, what was spent included.", show_default=False
        ),
    ] = None,
    generations: Annotated[
        int | None,
        typer.Option(
            "--generations",
            min=1,
            help="A new total of generations, with which a run that ended goes on.",
            show_default=False,
        ),
    ] = None,
    before: Annotated[
        int | None,
        typer.Option(
            "--before",
            min=1,
            help="Go on from before this generation as a run of its own; for records that were damaged since.",
            show_default=False,
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve the experiments that a run begun with --approve waits for now.")
    ] = False,
    isolation: Isolation = None,
    trace: Trace = False,
    detach: Detach = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Continue a run where it stopped, or beyond its end; nothing that was paid for is asked again."""
    from app.settings import load_settings, with_isolation
    from app.tracing import tracing

    settings = with_isolation(load_settings(), isolation)
    with tracing(settings, trace and not detach):
        from app.session import resume_session

        with resume_session(settings, run, budget_usd, generations, before) as session:
            if detach:
                more = [*([] if budget_usd is None else ["--budget-usd", str(budget_usd)]), *(["--yes"] if yes else [])]
                return send_off(session, isolation, trace, json, more)
            finish(drive(session, settings, json, says_yes=yes, quiet=quiet), session, json)
