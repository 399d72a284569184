"""Steps of a graph in a trace: tools as runs of their own, and choices of the way, which say nothing, as none."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, set_config_context
from langchain_core.tools import BaseTool
from langgraph.runtime import get_runtime

Answer = TypeVar("Answer")


class UntracedRoute(Runnable[Any, Any]):
    """Chooses the next node by a function of the state, or of state and runtime; no trace shows it."""

    def __init__(self, choose: Callable[..., Any]) -> None:
        self._choose, self.name = choose, choose.__name__
        self._has_runtime = len(inspect.signature(choose).parameters) > 1

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """Choose."""
        if not self._has_runtime:
            return self._choose(input)
        with set_config_context(ensure_config(config)) as context:  # langgraph sets it for a node, not for what follows
            return context.run(lambda: self._choose(input, get_runtime()))


class _TracedTool(BaseTool):
    work: Callable[[], str]

    def _run(self, /, **arguments: Any) -> str:
        return self.work()


def as_tool(
    name: str, description: str, arguments: Mapping[str, Any], work: Callable[[], Answer], text: Callable[[Answer], str]
) -> Answer:
    """Do the work as a tool's run with these arguments, in the trace of the step that calls; `text` is shown of it."""
    answers: list[Answer] = []

    def run() -> str:
        answers.append(work())
        return text(answers[0])

    config = ensure_config()
    tool = _TracedTool(name=name, description=description, work=run)
    tool.run(dict(arguments), callbacks=config.get("callbacks"), config=config)
    return answers[0]
