"""A run whose cursor is in Postgres: cut at each message, it ends as it would have."""

from __future__ import annotations

import threading
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

from postgres.checkpointing import LastingSaver, checkpoints
from postgres.database_address import address_of
from tests.support.cutting_proxy import CuttingProxy
from tests.support.postgres_server import PostgresServer


class Steps(TypedDict, total=False):
    count: int
    names: list[str]


def counting(saver: LastingSaver, thread: str) -> dict[str, Any]:
    def step(state: Steps) -> Steps:
        return {"count": state.get("count", 0) + 1, "names": [*state.get("names", []), "step"]}

    graph = StateGraph(Steps).add_node("step", step).add_edge(START, "step")
    graph.add_conditional_edges("step", lambda state: "step" if state["count"] < 3 else END, ["step", END])
    compiled = graph.compile(checkpointer=saver)
    return compiled.invoke({"count": 0}, {"configurable": {"thread_id": thread}}, durability="sync")


@pytest.mark.slow
def test_a_checkpoint_survives_its_connection(postgres: PostgresServer) -> None:
    url = postgres.ledger()
    proxy = CuttingProxy(postgres.port)
    with checkpoints(address_of(url.replace(f":{postgres.port}/", f":{proxy.port}/"))) as saver:
        counting(saver, "warm-up")
        before = proxy.messages
        expected = counting(saver, "whole")
        count = proxy.messages - before
        for number in range(0, count, 3):
            for when in ("before", "after"):
                proxy.cut(number, when)
                assert counting(saver, f"cut-{number}-{when}") == expected
                thread = {"configurable": {"thread_id": f"cut-{number}-{when}"}}
                assert len(list(saver.list(thread))) == len(list(saver.list({"configurable": {"thread_id": "whole"}})))
        assert (
            4 < proxy.cuts <= 2 * len(range(0, count, 3))
        )  # how many messages a run has depends on how they are packed
        saver.delete_thread("whole")
        assert saver.get_tuple({"configurable": {"thread_id": "whole"}}) is None
    proxy.close()


def test_several_that_come_first_make_the_tables_once(postgres: PostgresServer) -> None:
    address, faults = address_of(postgres.ledger()), list[BaseException]()

    def come() -> None:
        try:
            with checkpoints(address) as saver:
                counting(saver, threading.current_thread().name)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=come) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
