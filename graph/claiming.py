"""Verdicts that one run makes and others wait for or find: the claim, its renewal, the waiting, and who paid."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from graph.context import Context
from records.durability import must_wait
from records.evaluation import Evaluation
from sandbox.walk import Purpose

PAUSES_S = (0.05, 1.0)  # between two looks: the first, and the longest


@contextlib.contextmanager
def claimed(context: Context, key: str, purpose: Purpose) -> Iterator[Evaluation | None]:
    """Claim a verdict while the block makes it, or wait for the run that does, and give what that one stored.

    What a compiler answers in seconds is not claimed, nor what a sandbox answers later, whose requests have one place.
    """
    if not must_wait(purpose) or context.deferred is not None:
        yield None
        return
    evaluation = _awaited(context, key, purpose)
    if evaluation is not None:
        yield evaluation
        return
    context.renewals.hold(key, purpose)
    try:
        yield None
    except BaseException:
        context.renewals.drop(key, purpose)
        release(context, key, purpose)
        raise
    context.renewals.drop(key, purpose)


def release(context: Context, key: str, purpose: Purpose) -> None:
    """Give up a claim: the verdict is stored, or will not be."""
    if must_wait(purpose) and context.deferred is None:
        context.ledger.unclaim(context.run.id, key, purpose)


def tell_payer(context: Context, key: str, purpose: Purpose) -> None:
    """Note in the diary, once, that a verdict was found which another run has paid for."""
    paid = context.ledger.paid_by_other(context.run.id, key, purpose) if must_wait(purpose) else None
    if paid is not None:
        payload = {"purpose": purpose, "key": key, "run": paid.run_id, "who": paid.account, "at": paid.stored_at}
        context.ledger.event(context.run.id, "shared", payload, f"shared:{purpose}:{key}", is_synced=False)


def _awaited(context: Context, key: str, purpose: Purpose) -> Evaluation | None:
    """Await the verdict of another run, once it has it; None where this run has the claim."""
    pause = PAUSES_S[0]
    while context.ledger.claim(context.run.id, key, purpose) is not None:
        context.stop.pause(pause)
        pause = min(2 * pause, PAUSES_S[1])
        evaluation = context.ledger.evaluation(key, purpose)
        if evaluation is not None:
            return evaluation
    evaluation = context.ledger.evaluation(key, purpose)  # stored between the first look and the claim
    if evaluation is not None:
        release(context, key, purpose)
    return evaluation
