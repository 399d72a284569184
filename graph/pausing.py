"""Runs that wait: a node whose answer is not there yet pauses the graph, and so does one whose budget a person raises.

The pause is langgraph's `interrupt`, raised in the nodes of the main graph, where a checkpoint is. Parallel
experiments all get as far as they can first, so that their requests go out together. A node that runs again finds in
the ledger what it had before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from langgraph.runtime import Runtime
from langgraph.types import Interrupt, interrupt

from graph.context import Context
from graph.question import asks_for_more, more_budget
from records.errors import LimitReached, Pending
from records.quantity import counted

Node = TypeVar("Node", bound=Callable[..., dict[str, Any]])


@dataclass(frozen=True)
class Waiting:
    """The answers that a paused graph waits for."""

    awaited: tuple[str, ...]  # hashes of requests
    place: str
    refused: tuple[str, ...] = ()  # answers that were put aside

    @property
    def reason(self) -> str:
        """For the run's record."""
        refusals = "".join(f"; {why}" for why in self.refused)
        return f"waiting for {counted(len(self.awaited), 'result')} in {self.place}{refusals}"


def pausing(node: Node) -> Node:
    """Make a node of state and runtime that pauses where an answer is pending and starts over when it is resumed."""

    @functools.wraps(node)
    def run(state: Any, runtime: Runtime[Context]) -> dict[str, Any]:
        while True:
            try:
                return node(state, runtime)
            except LimitReached as error:
                if not asks_for_more(runtime.context, error):
                    raise
                more_budget(runtime.context, str(error))
            except Pending as pending:
                interrupt(
                    {
                        "awaited": list(pending.awaited),
                        "place": pending.place,
                        "refused": list(pending.refused),
                        "message": str(pending),
                    }
                )

    return cast(Node, run)


def together(pendings: Iterable[Pending]) -> Pending:
    """One for several, so that a node pauses once for all its questions."""
    several = list(pendings)
    awaited = tuple(dict.fromkeys(name for p in several for name in p.awaited))
    refused = tuple(dict.fromkeys(why for p in several for why in p.refused))
    waiting = Waiting(awaited, several[0].place, refused)
    return Pending(waiting.reason, awaited, waiting.place, refused)


def waiting(interrupts: Iterable[Interrupt]) -> Waiting | None:
    """Return the subject of a paused graph's interrupts; None where there are none."""
    values = [i.value for i in interrupts if isinstance(i.value, dict) and "awaited" in i.value]
    if not values:
        return None
    merged = together(Pending("", tuple(v["awaited"]), v["place"], tuple(v["refused"])) for v in values)
    return Waiting(merged.awaited, merged.place, merged.refused)
