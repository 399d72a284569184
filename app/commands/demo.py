"""`demo`: Run the main job, without a key and without a GPU."""

from __future__ import annotations

from app.commands.options import Generations, Json, Quiet, RunSeed, Trace
from app.commands.run import drive, finish
from app.screen import note, say

TASK = "row_softmax"
SMALL = {"tunings": 12}  # enough to find a good choice, and the demo ends in minutes on two cores


def command(
    generations: Generations = 3, seed: RunSeed = 0, trace: Trace = False, quiet: Quiet = False, json: Json = False
) -> None:
    """Make a softmax kernel for the MI300X faster, on this machine, without a model and without a GPU."""
    from app.run_request import RunRequest
    from app.settings import load_settings
    from app.tracing import tracing
    from tasks.loader import load_task

    settings = load_settings()
    tell = note if json else say
    if not quiet:
        tell(
            "A softmax kernel for AMD MI300X. It is compiled for that GPU for real, executed and verified on this\n"
            "machine's processor, and its time is predicted from counted work and published rates: every time below\n"
            "is predicted, none is measured.\n"
        )
    limits = dict(SMALL, generations=generations)
    plain = load_task(TASK).seeds[0]  # as somebody writes it at first: the other seed leaves nothing to find
    request = RunRequest(TASK, author="playbook", on="lab", seed=seed, limits=limits, starts=(plain,), has_seeds=False)
    with tracing(settings, trace):
        from app.session import open_session

        with open_session(settings, request) as session:
            finish(drive(session, settings, json, quiet=quiet), session, json)
