"""The changing part of a run: plain JSON of ids, counters and scores, so that a checkpoint stays small.

Sources, ideas and passages live in the artefact store and are named here by digest; results live in the ledger.
"""

from __future__ import annotations

from typing import (
    Annotated,
    Any,
    NotRequired,  # whose schemas pydantic makes on every Python
)

from pydantic import Field
from typing_extensions import TypedDict

SCHEMA_VERSION = 2


def newest(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Merge outcomes by experiment id and keep the latest generation's: of `g002-e3` and `g003-e1` only the second."""
    merged = left | right
    latest = max(map(_generation, merged), default=0)
    return {name: merged[name] for name in sorted(merged) if _generation(name) == latest}


def _generation(experiment_id: str) -> int:
    return int(experiment_id.split("-")[0].removeprefix("g"))


class Pick(TypedDict):
    """One experiment to start: its id, and the author's own handle for its idea."""

    experiment_id: str
    move: str
    explores: NotRequired[bool]  # changes and tunables of the parent are searched; nobody writes


class Start(TypedDict):
    """The input of a run; the rest is in the context."""

    run_id: str


class State(TypedDict, total=False):
    """The main graph's state."""

    schema_version: Annotated[int, Field(description="of the state's own form")]
    run_id: Annotated[str, Field(description="names the run")]
    generation: Annotated[int, Field(description="the one being worked on; 0 for the seeds")]
    first_us: Annotated[float, Field(description="the naive seed's geomean as its file has it")]
    seed_us: Annotated[
        float, Field(description="the geomean of the best of generation 0 as tuned; not in a run of an older program")
    ]
    best_id: Annotated[str, Field(description="the fastest verified kernel")]
    best_us: Annotated[float, Field(description="its time in microseconds")]
    is_confirming: Annotated[bool, Field(description="the best kernel is executed whole beside the next experiments")]
    base_id: Annotated[str, Field(description="the kernel that the generation builds on")]
    reference_id: Annotated[str | None, Field(description="the kernel that it learns from")]
    picks: Annotated[list[Pick], Field(description="the experiments of the generation")]
    exhausted: Annotated[bool, Field(description="the planner proposed nothing although it was able to")]
    is_asked: Annotated[bool, Field(description="a person approves the picks before they are run")]
    limit: Annotated[str, Field(description="the limit that the run has met, by its name; empty for none")]
    limited_at: Annotated[str, Field(description="the node that met it, where it was no experiment")]
    outcomes: Annotated[dict[str, str], Field(description="written by the parallel experiments"), newest]
    stagnant: Annotated[int, Field(description="generations since the last gain")]
    stop: Annotated[str, Field(description="why the run ended, empty while it goes on")]


class TrialState(TypedDict, total=False):
    """The state of one experiment. It is not checkpointed: after a crash the ledger makes its replay cheap."""

    experiment_id: str
    generation: int
    leader: str  # the best attempt of the generations before
    move: str  # the author's own handle for the idea
    explores: bool  # changes and tunables of the parent are searched; nobody writes
    is_settled: bool  # that search ended by itself
    number: int  # of the current draft
    draft: str  # artefact digest of the current draft's source
    implemented: list[str]  # the writer's report of the current draft
    skipped: list[str]
    concerns: list[str]  # why the critic is asked
    critique: str  # what the critic said of the current draft
    given: str  # artefact digest of a source that nobody writes: a seed
    choices: list[dict[str, int]]  # tunables to benchmark, best estimate first, the default last
    estimates: list[dict[str, Any]]  # fields of `Estimated`: what the tuner asked for
    source: str  # artefact digest of the source as tuned
    tunables: dict[str, int]
    purpose: str  # with `key`, names the evaluation the last stage ended with
    key: str
    compile_failures: int
    wrong_results: int
    route: str  # where the last stage sends the draft; the routers read nothing else
    outcomes: dict[str, str]  # set by the stage that ends the experiment


def moved_on(left: TrialState, right: TrialState) -> TrialState:
    """Return the state after a stage: its own answers over what was known before."""
    return {**left, **right}
