"""A node whose work is done in a thread, also in a graph of asyncio, whose tasks are cancelled from outside.

A task that is cancelled only stops waiting, and the thread would go on. So the node asks for a stop, and ends when its
work has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from graph.context import Context
from records.stopping import StopSignal

Work = Callable[[Any, Runtime[Any], StopSignal], Any]


class ThreadNode(Runnable[Any, Any]):
    """A node for graphs of both kinds; `work` gets the state, the runtime, and the signal that cancels this call."""

    def __init__(self, work: Work, name: str) -> None:
        self._work, self.name = work, name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """Work in this thread."""
        return self._work(input, get_runtime(), StopSignal())

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """Work in a thread; where this task is cancelled, stop it, and await its end."""
        stop, runtime = StopSignal(), get_runtime()
        work = asyncio.ensure_future(asyncio.to_thread(self._work, input, runtime, stop))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.ask()
            await asyncio.wait({work})
            work.exception()  # it was stopped, or had ended before: nobody asks any more
            raise


def stopping_run(node: Callable[[Any, Runtime[Context]], Any]) -> ThreadNode:
    """Make a node of the main graph: where its task is cancelled, its run is stopped."""

    def work(state: Any, runtime: Runtime[Context], stop: StopSignal) -> Any:
        context: Any = runtime.context
        if not isinstance(context, Context):
            return node(state, runtime)  # which says what is missing
        with context.stop.working(), stop.reaching(context.stop):
            update = node(state, runtime)
            context.stop.check()  # the ledger has what it did, and a resumed run finds it there
            return update

    return ThreadNode(work, node.__name__)
