"""`resume`: Continue a run that was stopped."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.options import (
    Detach,
    Isolation,
    Json,
    MaxCalls,
    MaxEvaluations,
    MaxGpuSeconds,
    MaxTokens,
    MaxWallSeconds,
    Quiet,
    RunId,
    Trace,
)
from app.commands.run import drive, finish, send_off
from records.allowance import Allowance

Total = Annotated[
    int | None,
    typer.Option(
        "--generations",
        min=1,
        help="A new total of generations, with which a run that ended goes on.",
        show_default=False,
    ),
]
Before = Annotated[
    int | None,
    typer.Option(
        "--before",
        min=1,
        help="Go on from before this generation as a run of its own; for records that were damaged since.",
        show_default=False,
    ),
]


def command(
    run: RunId,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            "--budget-usd", min=0, help="A new limit for the whole run, what was spent included.", show_default=False
        ),
    ] = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
    max_evaluations: MaxEvaluations = None,
    max_gpu_seconds: MaxGpuSeconds = None,
    max_wall_seconds: MaxWallSeconds = None,
    generations: Total = None,
    before: Before = None,
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

        most = Allowance(budget_usd, max_tokens, max_calls, max_evaluations, max_gpu_seconds, max_wall_seconds)
        with resume_session(settings, run, generations, most.given(), before) as session:
            if detach:
                return send_off(session, isolation, trace, json, ["--yes"] if yes else [])
            finish(drive(session, settings, json, says_yes=yes, quiet=quiet), session, json)
