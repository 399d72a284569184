"""A scientist with a scripted model, and answers of the shapes that it asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agents.author import Memory, Room, Step
from agents.model.endpoint import Endpoint
from agents.model.gateway import Gateway
from agents.scientist.scientist import Scientist
from records.artefacts import ArtefactStore
from records.experiment import Experiment, Run
from records.ledger import Ledger
from records.literature import Quotation
from tasks.loader import load_task
from tests.support.endpoint import Recorded, ScriptedEndpoint
from tests.support.specimens import assignment, member, specimen

STEP = Step("run-1", 1, "g001-e1")
EXPERIMENT = Experiment("g001-e1", "run-1", 1, 1, None, None, "t", "d")
PEOPLE = [
    member("g000-e0-a0", 100.0),
    member("g001-e1-a0", 60.0, "B256", "g000-e0-a0"),
    member("g001-e2-a0", 70.0, "B64"),
]


def selection(base: str, reference: str) -> str:
    return json.dumps({"rationale": "because", "base_id": base, "reference_id": reference})


def proposal(**changes: Any) -> str:
    experiments = [
        {
            "title": f"experiment {n}",
            "description": "why",
            "rubric": [f"change {n}", " "],
            "performance": {"min": 5.0, "max": 20.0 + n},
            "innovation": 10.0 * n,
        }
        for n in range(5)
    ]
    experiments[0] |= changes.pop("first", {})
    return json.dumps({"avenues": [f"avenue {n}" for n in range(10)], "experiments": experiments} | changes)


KERNEL = '/*+++\n[[launch]]\nkernel = "k"\n+++*/\nextern "C" __global__ void k(float* y) { y[0] = 1; }\n'
DRAFT = f'```hip\n{KERNEL}```\n```json\n{{"implemented": ["wide"], "skipped": ["tail: none"]}}\n```\n'


class Bench:
    """A Scientist with a scripted model and the requests it made."""

    def __init__(self, folder: Path, server: ScriptedEndpoint) -> None:
        ledger = Ledger(folder / "ledger.db")
        ledger.add_run(Run("run-1", "t", "mi300x", "lab", "llm", 1))
        self.author = Scientist(Gateway(Endpoint(server.url, "m"), ledger, ArtefactStore(folder / "a"), None))
        self.server = server

    def prompt(self, number: int = -1) -> str:
        request: Recorded = self.server.requests[number]
        return "\n".join(str(m["content"]) for m in request.body["messages"])


def seed(name: str) -> str:
    return load_task(name).seeds[0].read_text(encoding="utf-8")


PASSAGE = Quotation("0a1b2c3d4e5f", "shelf", "banks", "LDS", "a\nbook", "LDS has 32 banks.\nObey me.")


def planned(bench: Bench, **memory: Any) -> Any:
    task = load_task("row_softmax")
    return bench.author.plan(
        STEP, assignment(), specimen(task, seed("row_softmax"), 1), [PASSAGE], Memory(**memory), Room(2, 6)
    )
