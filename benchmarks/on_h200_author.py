"""Campaigns of an author with tools behind an endpoint on the H200 of this machine, then a race beside PyTorch.

    python3 -m benchmarks.on_h200_author RESULTS TASK=ANSWERS ... [--rounds N]

ANSWERS is a file of JSON lines in the form of tests/data/*_bench.jsonl: what the endpoint answers, by role and in
order. RESULTS is a JSON file that `benchmarks.h200_author` prints; campaigns that it has already are kept, and their
kernels raced again. Beside it stands for each task TASK_device.jsonl, all that the judge answered: a test replays the
campaign from it without a GPU. It needs langgraph and PyTorch.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")  # read once, when langgraph is imported

from pydantic import SecretStr

from agents.author import Assignment
from agents.model.endpoint import ROLES, Endpoint
from agents.model.gateway import Gateway
from agents.scientist.scientist import Scientist
from benchmarks.on_h200_anchors import about
from benchmarks.on_h200_search import TARGET, raced
from benchmarks.rivals import torch_module
from graph import Context, Limits
from graph.doubles import ListedLiterature
from graph.drive import drive
from records.artefacts import ArtefactStore
from records.codec import to_plain
from records.evaluation import Comparison, Evaluation
from records.experiment import Run
from records.ledger import Ledger
from sandbox.by_purpose import ByPurpose
from sandbox.candidate.prepare import Prepared
from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.protocol import Sandbox
from sandbox.target import Target, load_target
from sandbox.walk import Purpose, question
from tasks.loader import load_task
from tasks.task import Task
from tests.support.endpoint import ScriptedEndpoint
from tests.support.recorded_bench import RecordedBench

LIMITS = Limits(generations=1, picks=1, tries=4, tunings=4, explorations=0, ablations=0)
ROUNDS = 40


class Recorder(ByPurpose):
    """A sandbox that asks another one and writes down each answer."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._asked, self._lock = sandbox, threading.Lock()
        self.rows: list[dict[str, Any]] = []

    @property
    def device(self) -> str:
        """That of the sandbox behind it."""
        return self._asked.device

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """Prepare as the sandbox behind it does."""
        return self._asked.prepare(source, task, tunables)

    def key(self, prepared: Prepared) -> str:
        """Return the key as the sandbox behind it does."""
        return self._asked.key(prepared)

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Compare as the sandbox behind it does."""
        comparison = self._asked.compare(challenger, incumbent)
        self._note("compare", comparison, [named(challenger), named(incumbent)])
        return comparison

    def _evaluation(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        evaluation = question(self._asked, purpose)(prepared)
        evaluation = replace(evaluation, hot_lines=(), kernel_counters={}, explanation="")
        self._note(purpose, evaluation, [named(prepared)])
        return evaluation

    def _note(self, purpose: str, answer: Any, kernels: list[str]) -> None:
        with self._lock:
            self.rows.append({"purpose": purpose, "kernels": kernels, "answer": to_plain(answer)})


def named(prepared: Prepared) -> str:
    """Name a kernel, its tunables, and the number of shapes beside a table's thresholds, as a recording names them."""
    return json.dumps([prepared.id, dict(sorted(prepared.tunables.items())), len(prepared.task.edges)])


def context_of(task: Task, target: Target, sandbox: Sandbox, url: str, folder: Path, limits: Limits) -> Context:
    """Set up one campaign of the whole graph in a folder, with every role behind the endpoint."""
    ledger = Ledger(folder / "ledger.db")
    artefacts = ArtefactStore(folder / "artefacts", ledger)
    models = {role: role for role in ROLES}
    endpoint = Endpoint(url, "nobody", SecretStr("none"), models, retries=0, tools="calls")
    return Context(
        run=Run("campaign", task.name, target.name, sandbox.device, "llm", seed=0),
        assignment=Assignment(task, target.brief.strip(), target.name, target.arch, 0),
        author=Scientist(Gateway(endpoint, ledger, artefacts, None)),
        sandbox=sandbox,
        literature=ListedLiterature(),
        ledger=ledger,
        artefacts=artefacts,
        limits=limits,
    )


def campaign(name: str, answers: Path, gpu: Sandbox, target: Target, recording: Path) -> dict[str, Any]:
    """Take one run to its end: its kernels in their order, what they took, and the best beside the naive one."""
    task, sandbox, began = load_task(name, target.name), Recorder(gpu), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, ScriptedEndpoint(RecordedBench(str(answers), "calls")) as server:
        context = context_of(task, target, sandbox, server.url, Path(scratch), LIMITS)
        try:
            run = drive(context, Path(scratch) / "checkpoint.db", max_concurrency=1)
        finally:
            lines = [json.dumps({"device": sandbox.device})] + [json.dumps(row) for row in sandbox.rows]
            recording.write_text("\n".join(lines) + "\n", encoding="utf-8")
        tried = context.ledger.attempts(run.id)
        accepted = [a for a in tried if a.status == "accepted" and a.geomean_us]
        best = min(accepted, key=lambda a: a.geomean_us or 0.0)
        rows = [context.ledger.evaluation(a.evaluation_key) for a in tried]
        evaluation = context.ledger.evaluation(best.evaluation_key)
        assert evaluation is not None
        row = {
            "status": run.status,
            "seconds": round(time.monotonic() - began, 1),
            "requests": len(server.requests),
            "characters": sum(len(json.dumps(r.body["messages"])) for r in server.requests),
            "asked": len(sandbox.rows),
            "best": best.id,
            "attempts": [
                {
                    "id": a.id,
                    "status": a.status,
                    "tool": a.tool,
                    "us": a.geomean_us,
                    "reason": a.reason,
                    "cases": {m.case: m.time_us for m in e.measurements} if e else {},
                }
                for a, e in zip(tried, rows, strict=True)
            ],
            "kernel": sha256(context.artefacts.text(best.source).encode()).hexdigest(),
            "kernels": [
                {"source": context.artefacts.text(best.source), "tunables": dict(evaluation.tunables)},
                {"source": task.seeds[0].read_text(encoding="utf-8"), "tunables": {}},
            ],
            "talk": [str(m.get("content"))[:6000] for m in server.requests[-1].body["messages"]],
        }
        context.ledger.close()
    return row


def main(words: Sequence[str] | None = None) -> int:
    """Run all campaigns first, then the races of all that RESULTS has; it is written after each."""
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.on_h200_author", description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("tasks", nargs="*", metavar="TASK=ANSWERS")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(words)
    target = load_target(TARGET)
    campaigns = (
        json.loads(options.results.read_text(encoding="utf-8"))["campaigns"] if options.results.is_file() else {}
    )
    results: dict[str, Any] = {"campaigns": campaigns, "races": {}}

    def keep() -> None:
        options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

    pairs = [word.partition("=")[::2] for word in options.tasks]
    with tempfile.TemporaryDirectory() as cache:
        gpu = GpuEvaluator(target, Path(cache), seed=0)
        for name, answers in pairs:
            recording = options.results.parent / f"{name}_device.jsonl"
            row = results["campaigns"][name] = campaign(name, Path(answers).resolve(), gpu, target, recording)
            print(f"{name}: {row['best']} of {row['asked']} answers in {row['seconds']} s", flush=True)
            for tried in row["attempts"]:
                print(f"  {tried['id']} {tried['status']} {tried['us']} {tried['cases']} {tried['reason'] or ''}")
            keep()
        gpu.close()
    torch_module().cuda.init()
    results["about"] = about()
    for name in results["campaigns"]:
        results["races"][name] = []
        for case in raced(name, results["campaigns"][name], target, options.rounds):
            results["races"][name].append(case)
            print(name, case["case"], {n: t["median_us"] for n, t in case["times"].items()}, flush=True)
            keep()
    return 0


if __name__ == "__main__":
    sys.exit(main())
