"""A kernel that several runs need at the same moment is judged once, and each of them learns who paid."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from app.condition import condition
from app.settings import Settings
from graph.context import Limits
from graph.doubles import ScriptedAuthor, TableSandbox, table_context, table_task
from graph.drive import drive
from page import RunReader
from records.artefacts import ArtefactStore
from records.evaluation import Evaluation
from records.ledger import Ledger
from sandbox.candidate.prepare import Prepared
from tests.support.ledgers import KINDS, openings
from tests.support.stations import ideas, writer


class SlowSandbox(TableSandbox):
    """Takes its time over each verdict, so that others come while it is at it, and counts them."""

    def __init__(self, judged: list[str]) -> None:
        super().__init__()
        self.judged = judged

    def _judge(self, purpose: str, prepared: Prepared, stages: tuple[str, ...]) -> Evaluation:
        made = super()._judge(purpose, prepared, stages)
        if purpose not in ("compile", "estimate"):
            time.sleep(0.05)
            self.judged.append(f"{purpose} {made.key}")
        return made


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_three_runs_at_once_judge_a_common_kernel_once(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    opening = openings(kind, tmp_path, lambda: request.getfixturevalue("postgres"))
    task = table_task(tmp_path / "task", "// time_us = 100\n", "// time_us = 120\n// code = other\n")
    judged, faults = list[str](), list[BaseException]()

    def search(name: str) -> None:
        try:
            plain = table_context(tmp_path / name, task, ScriptedAuthor(ideas, writer), Limits(generations=1, picks=2))
            plain.ledger.close()
            with opening() as ledger:
                run = replace(plain.run, id=name)
                artefacts = ArtefactStore(tmp_path / name / "artefacts", ledger)
                context = replace(plain, run=run, ledger=ledger, artefacts=artefacts, sandbox=SlowSandbox(judged))
                drive(context, tmp_path / name / "checkpoint.db")
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=search, args=(f"run-{n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(judged) == len(set(judged)) > 4
    with opening() as ledger:
        assert [run.status for run in ledger.runs()] == ["done"] * 3
        assert ledger.engine.read("SELECT key FROM claims") == []
        found = [e.payload for run in ledger.runs() for e in ledger.events(run.id) if e.kind == "shared"]
        assert {str(e["who"]) for e in found} == {"tester@here"} and all(e["at"] for e in found)
        assert {f"{e['purpose']} {e['key']}" for e in found} <= set(judged)
        results = {tuple(a.geomean_us for a in ledger.attempts(run.id)) for run in ledger.runs()}
        assert len(results) == 1
        shown_to_people(ledger, tmp_path)


def shown_to_people(ledger: Ledger, folder: Path) -> None:
    """Compare what `status` and the page say of verdicts that others had paid for with the diaries."""
    for run in ledger.runs():
        told = [e.payload for e in ledger.events(run.id) if e.kind == "shared"]
        counts = condition(Settings(runs_folder=folder), ledger, run).shared
        assert counts == Counter(f"{e['run']} (tester@here)" for e in told)
        sheets = RunReader(ledger, ArtefactStore(folder / run.id / "artefacts", ledger), run.id).sheets()
        named = {(one.purpose, one.run, one.who, one.at) for sheet in sheets for one in sheet.paid_by}
        keys = {a.evaluation_key for a in ledger.attempts(run.id)}
        assert named == {(e["purpose"], e["run"], e["who"], e["at"]) for e in told if e["key"] in keys}
    assert any(e.kind == "shared" for run in ledger.runs() for e in ledger.events(run.id))
