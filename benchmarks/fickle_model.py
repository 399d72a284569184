"""A model that answers each question in a way of its own, however often it is asked, for runs that are killed."""

from __future__ import annotations

import hashlib
import json
import random
import re
import threading
import time
from typing import Any

from agents.model.conversation import Message, ToolCall, transcribed
from tasks.loader import load_task, seed_text
from tests.support.bench_run import calling
from tests.support.endpoint import Step
from tests.support.scripted_scientist import proposal

TASK = "row_softmax"
_KERNEL = re.compile(r"\bg\d{3}-e\d+-a\d+\b")


class FickleModel:
    """Answers each question in a way of its own, however often it is asked, and notes what it should not be asked."""

    def __init__(self, has_lab: bool, draw: random.Random | None = None, longest_s: float = 0.5) -> None:
        self._draw, self._lock, self._has_lab = draw or random.SystemRandom(), threading.Lock(), has_lab
        self._longest_s = longest_s  # of an answer
        self._source = seed_text(load_task(TASK).seeds[0])
        self.answered: frozenset[str] = frozenset()  # prompts that the ledger had answered when the driver began
        self.asked, self.again = 0, list[str]()

    def __call__(self, body: dict[str, Any]) -> Step:
        """Answer one request, after a while in which a kill may come."""
        digest = hashlib.sha256(transcribed([_message(m) for m in body["messages"]]).encode()).hexdigest()
        with self._lock:
            self.asked += 1
            if digest in self.answered:
                self.again.append(digest)
        time.sleep(self._draw.uniform(0.04, 1.0) * self._longest_s)
        return self._answer(str(body["model"]), body)

    def _answer(self, role: str, body: dict[str, Any]) -> Step:
        word = f"{self._draw.getrandbits(32):08x}"
        if role == "planner":
            plan = json.loads(proposal())
            for number, experiment in enumerate(plan["experiments"]):  # of a name of its own, by which prompts differ
                experiment |= {"title": f"idea {word} {number}", "innovation": self._draw.uniform(0, 99)}
            return json.dumps(plan)
        if role == "retriever":
            return json.dumps({"queries": [f"lds bank conflicts {word}", f"wide loads {word}"]})
        if role == "critic":
            return json.dumps({"remarks": [f"remark {word}"], "approve": self._draw.random() < 0.5})
        if role == "selector":
            ids = sorted({i for m in body["messages"] for i in _KERNEL.findall(str(m["content"]))})
            base, reference = self._draw.sample(ids, 2)
            return json.dumps({"rationale": word, "base_id": base, "reference_id": reference})
        turn = sum(m["role"] == "assistant" for m in body["messages"])
        if turn == 0 or (turn < 3 and self._draw.random() < 0.5):
            return calling("check", text=f"thinking of {word}", source=self._kernel(word))
        return calling("submit", implemented=[word])

    def _kernel(self, word: str) -> str:
        if not self._has_lab:
            claims = ["// fail verify wrong at 7"] if self._draw.random() < 0.2 else []
            claims += ["// waves = 2"] if self._draw.random() < 0.3 else []
            return "\n".join(
                [f"// time_us = {self._draw.uniform(20, 90)}", "// roofline_us = 1", *claims, f"// {word}", ""]
            )
        text = self._source.replace("64", str(self._draw.choice((64, 128, 256))))
        text = text.replace("for (int", f"#pragma unroll {self._draw.randint(1, 16)}\n    for (int", 1)
        if self._draw.random() < 0.2:
            text = text.replace("/ sum", f"/ (sum + {self._draw.random():.6f}f)")  # wrong, each time in another way
        return f"{text}\n// {word}\n"


def _message(message: dict[str, Any]) -> Message:
    functions = [(c["id"], c["function"]) for c in message.get("tool_calls") or ()]
    calls = tuple(ToolCall(i, f["name"], f["arguments"]) for i, f in functions)
    return Message(message["role"], message.get("content") or "", calls, message.get("tool_call_id", ""))
