"""Questions to a person: before experiments, and before money above the budget.

A question is langgraph's `interrupt` with plain data, so that a server, a terminal or a program can answer it. After an
answer that cannot be read the question is put again, with the reason; it ends nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langgraph.types import Interrupt, interrupt

from graph.context import Context
from records.allowance import ALLOWED
from records.errors import LimitReached

Kind = Literal["experiments", "budget"]


@dataclass(frozen=True)
class Question:
    """A question that a paused graph has for a person."""

    id: str  # langgraph's, with which several are answered at once
    kind: Kind
    message: str
    experiments: tuple[Mapping[str, Any], ...] = ()
    spent_usd: float = 0.0
    unread: int = 0  # answers before that could not be read


def questions(interrupts: Iterable[Interrupt]) -> tuple[Question, ...]:
    """Read the questions among a paused graph's interrupts."""
    pairs = [(i.id, i.value) for i in interrupts if isinstance(i.value, dict) and "kind" in i.value]
    return tuple(
        Question(name, v["kind"], v["message"], tuple(v.get("experiments", ())), v["spent_usd"], v.get("unread", 0))
        for name, v in pairs
    )


def asks_for_more(context: Context, reached: LimitReached) -> bool:
    """Tell whether a person is asked for more of what a run has used up."""
    return reached.limit == "budget_usd" and context.approves and context.allow_usd is not None


def more_budget(context: Context, why: str) -> None:
    """Have a person raise the budget of a run whose next call could exceed it; returns when it is raised."""
    assert context.allow_usd is not None
    complaint = ""
    for unread in itertools.count():
        spent = context.ledger.paid_usd(context.run.id)
        answer = interrupt(
            {
                "kind": "budget",
                "spent_usd": spent,
                "unread": unread,
                "message": f"{complaint}{why}; answer with a larger limit in dollars for the whole run",
            }
        )
        allowed = allowed_of(answer)
        if allowed is not None and allowed > spent:
            context.ledger.event(context.run.id, ALLOWED, {"usd": allowed}, f"{ALLOWED}:{spent}:{allowed}")
            context.allow_usd(allowed)
            return
        complaint = "that answer is no amount above what is spent: "


def approved_of(answer: Any, ids: Sequence[str]) -> frozenset[str] | None:
    """Read the experiments that an answer approves: true, false, a list of ids; None where it cannot be read."""
    if isinstance(answer, Mapping):
        answer = answer.get("approve")
    if isinstance(answer, bool):
        return frozenset(ids if answer else ())
    if isinstance(answer, list | tuple) and all(name in ids for name in answer):
        return frozenset(answer)
    return None


def allowed_of(answer: Any) -> float | None:
    """Read the amount of an answer in dollars; None where it cannot be read."""
    if isinstance(answer, Mapping):
        answer = answer.get("budget_usd")
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return None
    return float(answer) if 0 <= answer < 1e9 else None
