"""`demo`: Run the main job, without a key and without a GPU."""

from __future__ import annotations

from pathlib import Path

from app.commands.options import Generations, Json, Quiet, RunSeed, Trace
from app.commands.run import drive, finish
from app.screen import note, say

TASK = "row_softmax"
KERNEL = Path(__file__).resolve().parents[2] / "examples" / "block_softmax.hip"  # as people write it first
SMALL = {"tunings": 12, "dispatch": 0}  # enough to find a good choice, and the demo ends in a minute on two cores


def command(
    generations: Generations = 3, seed: RunSeed = 0, trace: Trace = False, quiet: Quiet = False, json: Json = False
) -> None:
    """Make a softmax kernel for the MI300X faster, on this machine, without a model and without a GPU."""
    from app.run_request import RunRequest
    from app.settings import load_settings
    from app.tracing import tracing

    settings = load_settings()
    tell = note if json else say
    if not quiet:
        tell(
            "examples/block_softmax.hip, a softmax as people write it first, for AMD MI300X. It is compiled for that\n"
            "GPU for real, executed and verified on this machine's processor, and its time is predicted from counted\n"
            "work and published rates: every time below is predicted, none is measured.\n"
        )
    limits = dict(SMALL, generations=generations)
    request = RunRequest(TASK, author="playbook", on="lab", seed=seed, limits=limits, starts=(KERNEL,), has_seeds=False)
    with tracing(settings, trace):
        from app.session import open_session

        with open_session(settings, request) as session:
            finish(drive(session, settings, json, quiet=quiet), session, json)
