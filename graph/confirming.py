"""The whole execution of the kernel that leads, beside the experiments that build on it.

Its answer is kept apart until `reflect`, so that a generation's questions do not depend on which thread is first. A
kernel that is refused then is taken back: what led behind it leads again, and what was built on it is judged by itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypedDict

from langgraph.runtime import Runtime

from graph.composing import is_composed
from graph.context import Context
from graph.evaluating import CONFIRMATIONS, evaluate, evaluate_ahead, prepared_again
from graph.events import annotate, begin_stage, emit
from graph.firewall import WalledPlace, walled
from graph.pausing import pausing
from graph.population import VerifiedKernel, accepted_of, best, kernel
from records.errors import LimitReached
from sandbox.walk import needs_confirmation


class Confirmation(TypedDict):
    """The task of the node `confirm`."""

    generation: int  # beside whose experiments it runs
    leader: str


@pausing
def confirm(state: Confirmation, runtime: Runtime[Context]) -> dict[str, object]:
    """Execute the leader whole; where that fails for another reason than the kernel, `reflect` asks again."""
    context, generation = runtime.context, state["generation"]
    annotate(runtime, generation=generation, candidate=state["leader"])
    prepared = prepared_again(context, kernel(context, state["leader"]).attempt)
    place = WalledPlace(f"{generation}:confirm", generation, parent_id=state["leader"])
    with contextlib.suppress(LimitReached):  # a part of each limit is kept for the confirmation at the end
        walled(runtime, place, lambda: evaluate_ahead(context, prepared), lambda _: None)
    return {}


def led_by(
    runtime: Runtime[Context],
    generation: int,
    incumbent: VerifiedKernel,
    is_checked: bool,
    stop_of: Callable[[VerifiedKernel], str],
) -> tuple[VerifiedKernel, str] | None:
    """Find the kernel that leads behind a generation, and the reason to stop there; None where none is right.

    `is_checked`: the incumbent's confirmation ran beside the generation. A leader with which the run ends is confirmed
    now, any other one beside the next generation.
    """
    context = runtime.context
    remaining = [incumbent, *_of_generation(context, generation, incumbent)]
    if is_checked and not _is_confirmed(runtime, generation, incumbent):
        remaining = _behind(runtime, generation, incumbent)
    while remaining:
        leader = best(context, remaining)
        stop = stop_of(leader)
        if not stop or _is_confirmed(runtime, generation, leader):
            return leader, stop
        remaining = _behind(runtime, generation, leader)
    return None


def is_open(context: Context, leader: VerifiedKernel) -> bool:
    """Tell whether a kernel has still to be executed whole."""
    if not needs_confirmation(leader.evaluation):
        return False
    return context.ledger.evaluation(leader.attempt.evaluation_key, "confirm") is None


def _is_confirmed(runtime: Runtime[Context], generation: int, leader: VerifiedKernel) -> bool:
    context = runtime.context
    if not needs_confirmation(leader.evaluation):
        return True
    key = leader.attempt.evaluation_key
    if all(context.ledger.evaluation(key, purpose) is None for purpose in CONFIRMATIONS):
        begin_stage(runtime, generation, "confirm")  # which the run waits for
    return evaluate(context, "confirm", prepared_again(context, leader.attempt)).verdict.accepted


def _behind(runtime: Runtime[Context], generation: int, refused: VerifiedKernel) -> list[VerifiedKernel]:
    """Take a kernel back, and list those of all generations that are left; the ledger has it as rejected now."""
    context = runtime.context
    context.history.forget()
    message = f"{refused.attempt.id} led and failed its confirmation; it is taken back"
    emit(runtime, "warning", f"{generation}:{refused.attempt.id}", generation=generation, message=message)
    return [k for n in range(generation + 1) for k in _of_generation(context, n, refused)]


def _of_generation(context: Context, generation: int, like: VerifiedKernel) -> list[VerifiedKernel]:
    kernels = accepted_of(context, generation, like.attempt.time_kind)
    return [k for k in kernels if not is_composed(k.attempt)]
