"""Parts that the stages of an experiment share: a new draft, how a stage begins, and how a draft is refused or ends."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from langgraph.graph import END
from langgraph.runtime import Runtime

from agents.author import Draft
from graph.context import Context
from graph.credit import Notes
from graph.evaluating import earlier_like, evaluate, is_echo
from graph.events import annotate, emit
from graph.firewall import WalledPlace, walled
from graph.question import asks_for_more
from graph.state import TrialState
from graph.trial import Trial
from records.errors import LimitReached, MalformedReply
from records.evaluation import Evaluation
from records.experiment import AttemptStatus
from sandbox import walk
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import Tuning

Stage = Callable[[TrialState, Runtime[Context]], dict[str, Any]]
PATIENCE = 6  # estimates of a seed without a clear gain; its exploration goes on from the best one


def within_wall(stage: Stage) -> Stage:
    """Wrap the stage within a wall: where it meets a fault of the program twice, it ends its experiment as failed."""

    @functools.wraps(stage)
    def run(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
        trial, name = Trial(state, runtime.context), state["experiment_id"]
        walled_place = WalledPlace(name, state["generation"], name, trial.experiment().parent_id or "")

        def quarantine(message: str) -> dict[str, Any]:
            return {"outcomes": {name: trial.quarantine(runtime, message)}, "route": END}

        return walled(runtime, walled_place, lambda: stage(state, runtime), quarantine)

    return run


def fresh(trial: Trial, number: int, draft: Draft) -> dict[str, Any]:
    """Start on a new draft, with nothing known of it."""
    blank = {"critique": "", "key": "", "purpose": "", "source": "", "estimates": []}
    return {"number": number, **trial.keep(draft), **blank}


def enter(state: TrialState, runtime: Runtime[Context], stage: str, number: int) -> None:
    """Report that a stage begins."""
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"])
    emit(
        runtime,
        "stage",
        f"{state['experiment_id']}:{stage}:{number}",
        generation=state["generation"],
        experiment=state["experiment_id"],
        stage=stage,
        number=number,
    )


def same_as(trial: Trial, prepared: Prepared, result: Evaluation, by_code: bool) -> str:
    """Return a sentence on the earlier generation's attempt that is the same kernel.

    It is empty where the kernel is new.
    """
    earlier = earlier_like(trial.context, trial.state["generation"], prepared, result, by_code)
    return "" if earlier is None else f"the same kernel as {earlier.id}, which was {earlier.status}"


def echo_of(trial: Trial, prepared: Prepared) -> str:
    """Return a sentence where the draft is its parent in other words; empty where it is another kernel."""
    parent = trial.parent()
    is_same = parent is not None and is_echo(trial.context, prepared, parent)
    return f"the same kernel as {parent.id} at every tunable that was compared" if parent and is_same else ""


def asking(trial: Trial) -> walk.Ask:
    """Ask the ledger first, then the sandbox."""
    return partial(evaluate, trial.context)


def tuning_of(trial: Trial) -> Tuning:
    """Return the search of this draft's tunables, from the default and from the parent's choice."""
    parent = trial.parent()
    return Tuning((parent.tunables,) if parent else (), trial.context.limits.tunings, trial.context.run.seed)


def patience_of(trial: Trial) -> int:
    """Estimates without a clear gain that end the tuning of a kernel that will be explored; 0 where none will be."""
    return PATIENCE if trial.context.explores and not trial.state["generation"] else 0


def tuned(trial: Trial, notes: Notes, prepared: Prepared) -> list[dict[str, int]]:
    """Find the choices of tunables to judge; where a limit ends their search, the one that was verified."""
    try:
        return walk.tune(notes, prepared, tuning_of(trial), patience_of(trial))
    except LimitReached:
        return [dict(prepared.tunables)]


def given_up(context: Context, error: MalformedReply | LimitReached, has_kernel: bool) -> str:
    """Tell the reason why an author's work ended early.

    A limit is raised again where nothing that is right came of it.
    """
    if isinstance(error, LimitReached) and (not has_kernel or asks_for_more(context, error)):
        raise error
    return str(error)


def updated(state: TrialState, **changes: Any) -> TrialState:
    """Return the state with some of its fields changed."""
    return cast(TrialState, {**state, **changes})


def wrong(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Send a draft with wrong results back to the writer, within the bound for those."""
    count = state.get("wrong_results", 0) + 1
    return {"wrong_results": count, **refuse(state, runtime, count > runtime.context.limits.wrong_repairs)}


def refuse(state: TrialState, runtime: Runtime[Context], is_last: bool) -> dict[str, Any]:
    """Send a refused draft back to the writer, recorded as rejected, or give it up as failed; nobody wrote a seed."""
    if state.get("given"):
        return end(state, runtime, "rejected")
    if is_last:
        return end(state, runtime, "failed")
    Trial(state, runtime.context).record(runtime, "rejected", "")
    return {"route": "write"}


def end(
    state: TrialState,
    runtime: Runtime[Context],
    status: AttemptStatus,
    reason: str = "",
    benchmark: Evaluation | None = None,
) -> dict[str, Any]:
    """Write the experiment's last attempt into the ledger, with its lesson, and end."""
    Trial(state, runtime.context).record(runtime, status, reason, is_last=True, benchmark=benchmark)
    return {"outcomes": {state["experiment_id"]: status}, "route": END}
