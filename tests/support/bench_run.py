"""One run of the whole graph with the real scientist at its bench, over a scripted model and a sandbox of comments.

The script sees a request's messages and answers; which experiment it is about, and the how-manieth turn, is told to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from agents.model.endpoint import ROLES, Endpoint, Price
from agents.model.gateway import Gateway
from agents.scientist.scientist import Scientist
from graph import Context, Limits
from graph.doubles import table_context, table_task
from graph.drive import drive
from records.experiment import Attempt, Run
from tests.support.endpoint import Answer, ScriptedEndpoint, Step
from tests.support.scripted_run import SEED
from tests.support.scripted_scientist import proposal

PRICE = Price(1.0, 4.0)
Writer = Callable[[str, int, dict[str, Any]], Step]  # experiment, turn, request


def calling(tool: str, text: str | None = None, **arguments: Any) -> Answer:
    """An answer that calls one tool."""
    return Answer(text, "tool_calls", tool_calls=((tool, arguments),))


def writing(tool: str, source: str = "", **arguments: Any) -> str:
    """An answer that asks for one tool in text."""
    block = f"```tool\n{json.dumps({'tool': tool} | arguments)}\n```"
    return f"```hip\n{source}```\n\n{block}" if source else block


def title_of(body: dict[str, Any]) -> str:
    """The title of the experiment that a request is about."""
    text = "\n".join(str(m.get("content")) for m in body["messages"])
    return text.split("# The experiment: ", 1)[1].split("\n", 1)[0] if "# The experiment: " in text else ""


class Script:
    """Answers every role: the coder's turns by a function, the others with what lets a run go on."""

    def __init__(self, writer: Writer, critic: Callable[[dict[str, Any]], Step] | None = None) -> None:
        self._writer, self._critic = writer, critic
        self.coder: list[dict[str, Any]] = []
        self.critic: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> Step:
        role = str(body["model"])
        if role == "coder":
            self.coder.append(body)
            turn = sum(m["role"] == "assistant" for m in body["messages"])
            return self._writer(title_of(body), turn, body)
        if role == "critic":
            self.critic.append(body)
            return self._critic(body) if self._critic else json.dumps({"remarks": [], "approve": True})
        if role == "retriever":
            return json.dumps({"queries": ["lds bank conflicts", "wide loads"]})
        return proposal()


class BenchRun:
    """A run in a folder; made again on the same folder it is resumed."""

    def __init__(
        self,
        folder: Path,
        server: ScriptedEndpoint,
        *,
        tools: str = "calls",
        seed: str = SEED,
        budget_usd: float | None = None,
        endpoint: dict[str, Any] | None = None,
        **limits: Any,
    ) -> None:
        self.folder = folder
        task = table_task(folder / "task", seed)
        plain = table_context(folder, task, _NOBODY, Limits(**({"generations": 1, "picks": 1} | limits)))
        usual: dict[str, Any] = {"models": {role: role for role in ROLES}, "price": PRICE, "retries": 0, "tools": tools}
        end = Endpoint(server.url, "nobody", SecretStr("sk-canary-5f2c91"), **usual | (endpoint or {}))
        author = Scientist(Gateway(end, plain.ledger, plain.artefacts, budget_usd))
        self.context: Context = replace(plain, run=replace(plain.run, author="llm"), author=author)

    def drive(self) -> Run:
        return drive(self.context, self.folder / "checkpoint.db")

    def attempts(self) -> list[Attempt]:
        return [a for a in self.context.ledger.attempts(self.context.run.id) if a.generation]

    def outcomes(self) -> list[tuple[str, str, str]]:
        return [(a.id, a.status, a.tool) for a in self.attempts()]

    def close(self) -> None:
        self.context.ledger.close()


class _Nobody:
    name = "llm"


_NOBODY: Any = _Nobody()
