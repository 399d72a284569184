"""`crash_driver.py` with the real scientist at its bench, behind the real gateway.

Run as `python bench_crash_driver.py FOLDER STEP`: kills the run at one point of each STEPth kind that a bench adds.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import langchain_openai  # noqa: F401 - a second, which each child would spend again

from agents.author import Step
from agents.model.conversation import RawReply, transcribed
from agents.model.endpoint import ROLES, Endpoint
from agents.model.fare import Fare
from agents.model.gateway import Gateway
from agents.model.inquiry import ModelQuestion
from agents.model.provider import Provider
from agents.scientist.scientist import Scientist
from graph.context import Context
from tests.integration.crash_driver import Diary, FragileSandbox, fragile, main
from tests.support.bench_run import PRICE, BenchRun, Script, calling
from tests.support.endpoint import Answer, ScriptedEndpoint

BENCH = (
    "after event stage bench",
    "before event stage try",
    "in the call to coder",
    "in the call to critic",
    "within settle",
    "after benchmark",
    "after add_evaluation",
    "within event attempt correct",
    "after estimate",
)


class NotedProvider(Provider):
    """The real provider; what is sent goes into the diary."""

    diary: Diary

    def ask(self, question: ModelQuestion, config: Mapping[str, Any], fare: Fare | None = None) -> RawReply:
        self.diary.log(f"asked model {_name_of(question)}")
        self.diary.point(f"in the call to {question.model}")
        return super().ask(question, config, fare)


class PaidGateway(Gateway):
    """The real gateway; what is stored goes into the diary."""

    diary: Diary

    def _paid(self, role: str, step: Step, question: ModelQuestion, candidate: str) -> RawReply:
        reply = super()._paid(role, step, question, candidate)
        self.diary.log(f"stored model {_name_of(question)}")
        return reply


def _name_of(question: ModelQuestion) -> str:
    return hashlib.sha256(transcribed(question.talk).encode()).hexdigest()


def at_the_bench(title: str, turn: int, body: dict[str, Any]) -> Answer:
    """A wrong try, one that gives a reason to ask the critic, a look, a change, and the end."""
    turns = (
        calling("check", source="// time_us = 50\n// fail verify wrong at 7\n"),
        calling("check", source="// time_us = 80\n// waves = 2\n"),
        calling("compare", changes=[{"old": "80", "new": "79"}]),
        calling("check", changes=[{"old": "waves = 2", "new": "waves = 8"}, {"old": "80", "new": "70"}]),
        calling("submit", implemented=["all"]),
    )
    return turns[turn]


def make_bench(folder: Path, diary: Diary) -> Context:
    """One experiment of the scientist; the model answers from this process."""
    server = ScriptedEndpoint(Script(at_the_bench))
    server.__enter__()
    context = BenchRun(folder, server, seed="// time_us = 100\n// waves = 8\n", tools="auto").context
    ledger, artefacts = fragile(context, folder, diary)
    models: dict[str, str] = {role: role for role in ROLES}
    endpoint = Endpoint(server.url, "nobody", models=models, price=PRICE, retries=0, tools="calls")
    gateway = PaidGateway(endpoint, ledger, artefacts, 100.0)
    gateway.provider = provider = NotedProvider(endpoint)
    gateway.diary = provider.diary = diary
    return replace(
        context, ledger=ledger, artefacts=artefacts, author=Scientist(gateway), sandbox=FragileSandbox(diary)
    )


if __name__ == "__main__":
    expected = BENCH[:: int(sys.argv[2])]
    main(Path(sys.argv[1]), lambda names: [names.index(kind) for kind in expected], make_bench)
