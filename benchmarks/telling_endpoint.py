"""A model's endpoint that knows secrets and says them wherever an answer has room, in every spelling."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.canary_forms import SPELLINGS, Canary
from benchmarks.fickle_model import FickleModel
from tests.support.endpoint import Answer, Fault, Page, Recorded, ScriptedEndpoint, Step

PLACES = ("base_id", "reference_id")  # of an answer: what a run could not go on with if it were changed


class TellingEndpoint(ScriptedEndpoint):
    """Answers every role rightly and says secrets beside; `fault` names what it answers instead."""

    def __init__(self, canaries: Sequence[Canary]) -> None:
        self._model = FickleModel(has_lab=True)
        super().__init__(self._model)
        self._pairs: Iterator[str] = itertools.cycle([c.spelt(s) for s in SPELLINGS for c in canaries])
        self.all = "\n".join(f"{c.name} is {c.spelt(s)}" for c in canaries for s in SPELLINGS)
        self.fault = ""

    def answer(self, request: Recorded) -> Step:
        """Answer one request, or refuse it with its own headers and all that is known in the words."""
        self.requests.append(request)
        echoed = f"{json.dumps(dict(request.headers))} {self.all}"
        if self.fault.isdigit():
            return Fault(int(self.fault), f"Incorrect API key provided. {echoed}")
        if self.fault:
            return Page(f"<html><title>{echoed}</title></html>", 200)
        step = self._model(request.body)
        if isinstance(step, str):
            return json.dumps(self._told(json.loads(step)))
        return self._told_by(step) if isinstance(step, Answer) else step

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """Answer for embeddings with an error in words, other requests with nothing."""
        return {"error": {"message": self.all}} if path.endswith("/embeddings") else None

    def _told(self, value: Any, name: str = "") -> Any:
        """Add a secret to each text of an answer."""
        if isinstance(value, dict):
            return {key: self._told(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._told(inner, name) for inner in value]
        return f"{value} {next(self._pairs)}" if isinstance(value, str) and name not in PLACES else value

    def _told_by(self, answer: Answer) -> Answer:
        """Add them to the words beside a call, and as comments to the kernel in it."""
        called = list[tuple[str, Any]]()
        for name, arguments in answer.tool_calls:
            given = dict(arguments) if not isinstance(arguments, str) else json.loads(arguments)
            if "source" in given:
                lines = "".join(f"// {next(self._pairs)}\n" for _ in range(30))
                given["source"] += f"{lines}// {random.random()}\n"
            elif "implemented" in given:
                given["implemented"] = [f"{word} {next(self._pairs)}" for word in given["implemented"]]
            called.append((name, given))
        return replace(answer, text=f"{answer.text or ''} {self.all}", tool_calls=tuple(called))
