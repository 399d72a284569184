"""A run that is removed leaves nothing behind but what another one rests on."""

from __future__ import annotations

from pathlib import Path

from records.artefacts import ArtefactStore
from records.evaluation import Evaluation, Verdict
from records.experiment import Attempt, Experiment, ModelCall, Run, Usage
from records.ledger import Ledger
from tests.support.ledgers import Opening

OWN, SHARED = "int own = 1;\n", "int shared = 2;\n"


def fill(ledger: Ledger, store: ArtefactStore, run_id: str, own: str) -> None:
    ledger.add_run(Run(run_id, "task", "mi300x", "lab", "playbook", 7))
    ledger.add_experiment(Experiment("g000-e0", run_id, 0, 0, None, None, "seed", ""))
    for number, text in enumerate((own, SHARED)):
        key = f"key-{store.put(text)[:8]}"
        ledger.add_evaluation(run_id, Evaluation(key, "c", {}, Verdict("time", True, "OK")))
        attempt = Attempt(f"g000-e0-a{number}", run_id, "g000-e0", 0, number, "c", store.put(text), "accepted", key)
        ledger.add_attempt(attempt)
    ledger.event(run_id, "generation", {"generation": 0})
    ledger.reserve(ModelCall(f"call-{run_id}", run_id, "coder", "m", store.put(f"prompt {run_id}"), "reserved", 0.1))
    ledger.settle(f"call-{run_id}", store.put(f"reply {run_id}"), Usage(1, 1, 0.1))


def test_a_removed_run_is_nowhere_and_the_other_is_whole(tmp_path: Path, opening: Opening) -> None:
    with opening() as ledger:
        store = ArtefactStore(tmp_path / "artefacts", ledger)
        fill(ledger, store, "run-1", OWN)
        fill(ledger, store, "run-2", "int other = 3;\n")
        shared = ledger.attempts("run-2")[1].evaluation_key
        gone = ledger.remove("run-1")
        assert {store.put(OWN), store.put("prompt run-1"), store.put("reply run-1")} == set(gone)
        assert [run.id for run in ledger.runs()] == ["run-2"]
        assert ledger.evaluation(f"key-{store.put(OWN)[:8]}") is None
        assert ledger.evaluation(shared) is not None, "run-1 asked for it first, and run-2 rests on it"
        assert [store.text(a.source) for a in ledger.attempts("run-2")] == ["int other = 3;\n", SHARED]
        assert ledger.spend("run-2").usd == 0.1 and ledger.paid_usd("run-1") == 0.0
        ledger.shrink()
    with opening() as ledger:
        tables = set(ledger.engine.tables()) - {"artefacts"}
        rows = [str(row) for table in tables for row in ledger.engine.read(f"SELECT * FROM {table}")]
        assert any("run-2" in row for row in rows) and not any("run-1" in row for row in rows)
        fill(ledger, ArtefactStore(tmp_path / "artefacts", ledger), "run-1", OWN)  # its name is free again
        assert len(ledger.attempts("run-1")) == 2
