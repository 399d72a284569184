"""One durable step, stored in two ways: records and a checkpoint of ids, or the whole source in LangGraph's checkpoint.

Both graphs have one node, take turns step by step, and make a new source of 100 kB at every step, each in files of its
own. Ours stores the source as an artefact, an attempt and its event in the ledger, and ids in a checkpoint as
`graph.drive` opens it. The other hands the source to `SqliteSaver` as it ships, and stores it nowhere else.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

from graph.drive import checkpoints
from records.artefacts import ArtefactStore
from records.experiment import Attempt, Run
from records.ledger import Ledger

SOURCE_BYTES = 100_000
RUN = Run("steps", "t", "mi300x", "lab", "scripted", 0)


class Steps(TypedDict):
    """The state of both graphs: a counter, and a source or the name of one."""

    number: int
    source: str


@dataclass(frozen=True)
class Cost:
    """One way of storing: time and bytes a step."""

    wall_s: float
    cpu_s: float
    stored_bytes: float


def source_of(number: int) -> str:
    """Make a source that no step before had, as hard to compress as text is."""
    return f"// step {number}\n{os.urandom(SOURCE_BYTES // 2).hex()}"


def measured(steps: int, folder: Path) -> tuple[Cost, Cost]:
    """Measure the cost of a step in records, and in the checkpoint alone."""
    ours, theirs = folder / "records", folder / "checkpoint"
    ours.mkdir()
    theirs.mkdir()
    with (
        Ledger(ours / "ledger.db") as ledger,
        checkpoints(ours / "checkpoint.db") as saver,
        closing(sqlite3.connect(theirs / "checkpoint.db", check_same_thread=False)) as connection,
    ):
        ledger.add_run(RUN)
        store = ArtefactStore(ours / "artefacts", ledger)

        def record(state: Steps) -> Steps:
            number = state["number"] + 1
            source, name = source_of(number), f"g{number:03d}-e1"
            with ledger.together():
                digest = store.put(source)
                attempt = Attempt(f"{name}-a0", RUN.id, name, number, 0, digest, digest, "accepted", digest)
                ledger.add_attempt(attempt)
                ledger.event(RUN.id, "attempt", {"attempt": attempt.id}, f"attempt:{attempt.id}")
            return {"number": number, "source": digest}

        def carry(state: Steps) -> Steps:
            number = state["number"] + 1
            return {"number": number, "source": source_of(number)}

        sides = [stepping(record, saver, steps), stepping(carry, SqliteSaver(connection), steps)]
        spent = [[0.0, 0.0], [0.0, 0.0]]
        for _ in range(steps):
            for side, sums in zip(sides, spent, strict=True):
                wall, cpu = time.perf_counter(), time.process_time()
                next(side)
                sums[0] += time.perf_counter() - wall
                sums[1] += time.process_time() - cpu
    sizes = [sum(f.stat().st_size for f in side_folder.rglob("*") if f.is_file()) for side_folder in (ours, theirs)]
    first, second = (Cost(w / steps, c / steps, b / steps) for (w, c), b in zip(spent, sizes, strict=True))
    return first, second


def stepping(node: Any, saver: SqliteSaver, steps: int) -> Iterator[Any]:
    """Stream a graph of this node, executed by one step for each `next`."""
    graph = StateGraph(Steps)
    graph.add_node("step", node)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda state: "step" if state["number"] < steps else "__end__")
    config: RunnableConfig = {"configurable": {"thread_id": "steps"}, "recursion_limit": steps + 10}
    start: Any = {"number": 0, "source": ""}
    return graph.compile(checkpointer=saver).stream(start, config, stream_mode="updates", durability="sync")
