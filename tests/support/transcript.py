"""A transcript: what a real author behind the model answered in one run, kept as test data and served again.

One JSON object a line. The first names the best kernel the run found; each other one is an answer, found again by what
the request asks for: the role, the experiment's title, and the how-manieth such question it is. Prompts may change
with the lab's figures, so no line depends on a prompt's text.

    python -m tests.support.transcript record RUNS_FOLDER RUN_ID    from the ledger of a run with a model
    python -m tests.support.transcript refresh                      replay; the best kernel becomes the expected one
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sqlite3
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from agents.author import Assignment
from agents.model.conversation import RawReply
from agents.model.endpoint import ROLES, Endpoint, Price
from agents.model.gateway import Gateway
from agents.scientist.scientist import Scientist
from graph.context import Context, Limits
from graph.doubles import ListedLiterature
from graph.drive import drive
from records.artefacts import ArtefactStore
from records.codec import loads
from records.evaluation import Evaluation
from records.experiment import Attempt, Run
from records.ledger import Ledger
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.endpoint import Answer, Fault, ScriptedEndpoint, Step
from tests.support.lab_bench import evaluator

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parents[1] / "data" / "fp8_block_gemm_transcript.jsonl"
VERDICTS = FILE.with_name("fp8_block_gemm_verdicts.jsonl")  # of its replay
# As the run was begun, before there were a bench, explorations and tables by shape. The winner was tuned to its
# defaults; estimates take the time of a test.
LIMITS = Limits(generations=2, tunings=0, tries=0, explorations=0, dispatch=False)
PRICE = Price(1.25, 10.0)
BUDGET_USD = 20.0
_EXPERIMENT = re.compile(r"^# The experiment: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Line:
    """One answer and what it was the answer to; `experiment` is empty for what is asked once a generation."""

    role: str
    experiment: str
    number: int
    text: str
    prompt_tokens: int
    completion_tokens: int


def subject(talk: Sequence[str]) -> str:
    """The title of the experiment that a request is about, or an empty string."""
    match = _EXPERIMENT.search("\n".join(talk))
    return match[1].strip() if match else ""


class Transcript:
    """Answers requests from its lines. Every role must have its own name as its model's name."""

    def __init__(self, lines: Sequence[Line], expected: Mapping[str, Any]) -> None:
        self.lines = {(line.role, line.experiment, line.number): line for line in lines}
        self.expected = expected
        self.served: set[tuple[str, str, int]] = set()
        self.unknown: list[str] = []
        self._asked: dict[str, tuple[str, str, int]] = {}
        self._count: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    @classmethod
    def read(cls, path: Path = FILE) -> Transcript:
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        return cls([Line(**json.loads(row)) for row in lines], json.loads(first))

    def write(self, expected: Mapping[str, Any], path: Path = FILE) -> None:
        rows = [dict(expected), *(asdict(line) for line in self.lines.values())]
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

    def answer(self, body: dict[str, Any]) -> Step:
        """The recorded answer; the same request gets the same one, a question that nobody asked then gets HTTP 404."""
        talk = [str(message["content"]) for message in body["messages"]]
        digest = hashlib.sha256(json.dumps([body["model"], talk]).encode()).hexdigest()
        with self._lock:
            if digest not in self._asked:
                about = (str(body["model"]), subject(talk))
                self._asked[digest] = (*about, self._count[about])
                self._count[about] += 1
            key = self._asked[digest]
            line = self.lines.get(key)
            if line is None:
                self.unknown.append(f"{key[0]} asks for the {key[2] + 1}. time about {key[1] or 'the generation'}")
                return Fault(404, f"the transcript has no answer: {self.unknown[-1]}")
            self.served.add(key)
        usage = {
            "prompt_tokens": line.prompt_tokens,
            "completion_tokens": line.completion_tokens,
            "total_tokens": line.prompt_tokens + line.completion_tokens,
        }
        return Answer(line.text, usage=usage)


def context(url: str, folder: Path) -> Context:
    """The real thing: scientist, gateway and lab. The naive seed takes a minute to execute, so the other one stands in
    for it; the ledger answers for its second judging.
    """
    full_task = load_task("fp8_block_gemm")
    seed = next(path for path in full_task.seeds if path.name == "seed_mfma.mi300x.hip")
    task = replace(full_task, seeds=(seed, seed))
    run = Run("replay", task.name, "mi300x", "lab", "llm", seed=0)
    ledger, target = Ledger(folder / "ledger.db"), load_target("mi300x")
    artefacts = ArtefactStore(folder / "artefacts", ledger)
    endpoint = Endpoint(url, "nobody", SecretStr("not-a-secret"), {role: role for role in ROLES}, PRICE, retries=0)
    return Context(
        run=run,
        assignment=Assignment(task, target.brief.strip(), target.name, target.arch, run.seed),
        author=Scientist(Gateway(endpoint, ledger, artefacts, BUDGET_USD)),
        sandbox=evaluator(run.seed),
        literature=ListedLiterature("A passage."),
        ledger=ledger,
        artefacts=artefacts,
        limits=LIMITS,
    )


def leader(context: Context) -> Attempt:
    """The best kernel of a run."""
    events = context.ledger.events(context.run.id)
    attempt = context.ledger.attempt(
        context.run.id, [str(e.payload["attempt"]) for e in events if e.kind == "best"][-1]
    )
    assert attempt is not None
    return attempt


def expectation(attempt: Attempt) -> dict[str, Any]:
    """What a replay must reach."""
    return {
        "best": attempt.id,
        "candidate_id": attempt.candidate_id,
        "tunables": dict(attempt.tunables),
        "predicted_geomean_us": round(attempt.geomean_us or 0.0, 2),
    }


def verdicts(context: Context) -> list[dict[str, Any]]:
    """Each evaluation of a run: verdict, code, findings by kind and line, predicted times by case."""
    with contextlib.closing(sqlite3.connect(context.ledger.path)) as db:
        stored = db.execute("SELECT purpose, body FROM evaluations").fetchall()
    rows = []
    for purpose, body in stored:
        evaluation = loads(Evaluation, body)
        rows.append(
            {
                "purpose": purpose,
                "candidate": evaluation.candidate_id,
                "tunables": dict(evaluation.tunables),
                "stage": evaluation.verdict.stage,
                "accepted": evaluation.verdict.accepted,
                "code": evaluation.verdict.code,
                "findings": [[f.kind, f.line] for f in evaluation.verdict.findings],
                "times_us": {m.case: m.time_us for m in evaluation.measurements},
            }
        )
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def recorded(runs: Path, run_id: str) -> Transcript:
    """The answered calls of a run, in the order they were asked."""
    ledger = Ledger(runs / "ledger.db")
    artefacts = ArtefactStore(runs / "artefacts", ledger)
    lines, count = list[Line](), Counter[tuple[str, str]]()
    for call in ledger.calls(run_id):
        if call.state != "done" or call.reply is None:
            continue
        about = (call.role, subject([text for _, text in json.loads(artefacts.text(call.prompt))]))
        reply = RawReply.from_text(artefacts.text(call.reply))
        lines.append(Line(*about, count[about], reply.text, call.usage.prompt_tokens, call.usage.completion_tokens))
        count[about] += 1
    accepted = [a for a in ledger.attempts(run_id) if a.status == "accepted"]
    ledger.close()
    return Transcript(lines, expectation(min(accepted, key=lambda a: a.geomean_us or 0.0)))


def refreshed(transcript: Transcript) -> dict[str, Any]:
    """Replay with the lab as it is now and store its verdicts; the best kernel is returned."""
    with tempfile.TemporaryDirectory() as name, ScriptedEndpoint(transcript.answer) as server:
        replay = context(server.url, Path(name))
        drive(replay, Path(name) / "checkpoint.db")
        expected = expectation(leader(replay))
        VERDICTS.write_text(
            "".join(json.dumps(row, sort_keys=True) + "\n" for row in verdicts(replay)), encoding="utf-8"
        )
        replay.ledger.close()
    return expected


if __name__ == "__main__":
    if sys.argv[1] == "record":
        new = recorded(Path(sys.argv[2]), sys.argv[3])
        new.write(new.expected)
    else:
        old = Transcript.read()
        old.write(refreshed(old))
    sys.stdout.write(f"{json.dumps(Transcript.read().expected)}\n")
