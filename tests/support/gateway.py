"""A gateway to a scripted endpoint, and a question whose answer is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from agents.author import Step
from agents.model.conversation import Message
from agents.model.endpoint import Endpoint
from agents.model.gateway import Gateway, Reply
from agents.model.structured_output import Form, json_form
from records.artefacts import ArtefactStore
from records.experiment import Run
from records.ledger import Ledger

KEY = "sk-canary-5f2c91"
STEP = Step("run-1", 1)
ASK = (Message("system", "You count."), Message("user", "How many?"))


class Count(BaseModel):
    many: int
    words: list[str]


FORM = json_form(Count, lambda c: c)
GOOD = '{"many": 3, "words": ["a", "}"]}'


class Waits(list[float]):
    """A clock that notes how long it was asked to sleep."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def gateway(folder: Path, url: str, budget_usd: float | None = None, sleep: Any = None, **options: Any) -> Gateway:
    ledger = Ledger(folder / "ledger.db")
    ledger.add_run(Run("run-1", "t", "mi300x", "lab", "llm", 1))
    usual = {"base_url": url, "model": "m", "api_key": SecretStr(KEY), "timeout_s": 5.0, "retries": 2}
    end = Endpoint(**usual | options)
    return Gateway(end, ledger, ArtefactStore(folder / "artefacts"), budget_usd, Waits() if sleep is None else sleep)


def ask(gate: Gateway, step: Step = STEP, form: Form[Any] = FORM, role: str = "planner") -> Reply[Any]:
    return gate.ask(role, step, ASK, form)
