"""Look-ups that a long run makes at every step: right, alike for every process, and no dearer at the end of a run."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from records.allowance import Allowance
from records.codec import dumps
from records.errors import LedgerError
from records.evaluation import Evaluation, Verdict
from records.experiment import Attempt, Experiment, ModelCall, Run, Spend, Usage
from records.ledger import Ledger
from records.schema import APPLICATION_ID, COMPARISONS, PAUSES, TABLES
from tests.support.ledgers import Opening

ROOT = Path(__file__).parents[3]
RUN = Run("r", "t", "mi300x", "lab", "playbook", 7)
OTHER = replace(RUN, id="other")


def experiment(generation: int, slot: int = 1) -> Experiment:
    return Experiment(
        f"g{generation:03d}-e{slot}", RUN.id, generation, slot, "g000-e0-a0", None, f"idea {generation}", ""
    )


def attempt(generation: int, slot: int = 1, number: int = 0, **more: Any) -> Attempt:
    name = f"g{generation:03d}-e{slot}"
    plain = Attempt(
        f"{name}-a{number}", RUN.id, name, generation, number, f"c{generation}", "s", "accepted", f"k{generation}"
    )
    return replace(plain, **more)


def evaluation(generation: int, code: str = "") -> Evaluation:
    return Evaluation(f"k{generation}", f"c{generation}", {}, Verdict("time", True, "OK"), code_object=code)


def fill(ledger: Ledger, generations: int, first: int = 1) -> None:
    for generation in range(first, first + generations):
        ledger.add_experiment(experiment(generation))
        ledger.add_evaluation(RUN.id, evaluation(generation, f"o{generation}"))
        ledger.add_attempt(attempt(generation))
        call = ModelCall(f"q{generation}", RUN.id, "coder", "m", "p", "reserved", 0.25)
        ledger.reserve(call, Allowance(1e9))
        ledger.settle(call.key, "reply", Usage(10, 5, 0.125))


def look_up(ledger: Ledger, generation: int) -> None:
    """All that the graph asks about one candidate."""
    like = replace(evaluation(generation, f"o{generation}"), candidate_id="new")
    assert ledger.attempt(RUN.id, attempt(generation).id) == attempt(generation)
    assert ledger.experiment(RUN.id, experiment(generation).id) == experiment(generation)
    assert ledger.attempts(RUN.id, generation) == (attempt(generation),)
    assert ledger.experiments(RUN.id, generation) == (experiment(generation),)
    assert [a.generation for a in ledger.attempts_like(RUN.id, like, by_code=True)] == [generation]
    assert [a.generation for a in ledger.attempts_like(RUN.id, evaluation(generation), by_code=False)] == [generation]
    assert ledger.spend(RUN.id).reserved_usd == 0.0
    ledger.reserve(ModelCall("next", RUN.id, "coder", "m", "p", "reserved", 0.25), Allowance(1e9))
    ledger.release("next")


class CountingLedger(Ledger):
    """Counts the records it builds and the hundreds of instructions that SQLite executes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.decoded, self.steps = 0, 0
        self.engine.connection.set_progress_handler(self._step, 100)

    def _step(self) -> int:
        self.steps += 1
        return 0

    def _decoded(self, kind: Any, body: str) -> Any:
        self.decoded += 1
        return super()._decoded(kind, body)

    def cost(self, generation: int) -> tuple[int, int]:
        before = self.decoded, self.steps
        look_up(self, generation)
        return self.decoded - before[0], self.steps - before[1]


@pytest.mark.slow
def test_a_look_up_reads_as_much_in_a_long_run_as_in_a_short_one(tmp_path: Path) -> None:
    with CountingLedger(tmp_path / "ledger.db") as ledger:
        ledger.add_run(RUN)
        fill(ledger, 20)
        short = ledger.cost(10)
        fill(ledger, 600, first=21)
        decoded, steps = ledger.cost(310)
        assert decoded <= short[0] + 4, "what was still in memory of a short run is read once"
        assert steps <= 2 * short[1] + 10
        assert ledger.spend(RUN.id) == Spend(620, 6200, 3100, 77.5, 0.0)


def test_a_record_read_twice_is_built_once(tmp_path: Path) -> None:
    with CountingLedger(tmp_path / "ledger.db") as ledger:
        ledger.add_run(RUN)
        fill(ledger, 1)
        before = ledger.decoded
        for _ in range(3):
            ledger.attempt(RUN.id, attempt(1).id)
            ledger.evaluation("k1")
            ledger.evaluation("k1", "benchmark")
        assert ledger.decoded - before <= 2


def test_what_another_process_writes_is_found_although_records_are_kept(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        for run in (RUN, OTHER):
            ledger.add_run(run)
        ledger.add_evaluation(RUN.id, evaluation(1), "compile")
        assert ledger.evaluation("k1") == evaluation(1)
        assert ledger.evaluation("k2") is None
        assert ledger.attempt(RUN.id, attempt(1).id) is None
        assert ledger.attempts(RUN.id, 1) == ledger.attempts_like(RUN.id, evaluation(1), by_code=False) == ()
        script = (
            "import sys\nfrom pathlib import Path\nfrom dataclasses import replace\n"
            "from tests.unit.records.test_ledger_lookups import *\n"
            "with Ledger(Path(sys.argv[1])) as ledger:\n"
            "    fill(ledger, 2)\n"
            "    ledger.add_evaluation(OTHER.id, replace(evaluation(1), seconds=9.0), 'verify')\n"
        )
        subprocess.run([sys.executable, "-c", script, str(ledger.path)], cwd=ROOT, check=True)
        look_up(ledger, 1)
        look_up(ledger, 2)
        assert ledger.evaluation("k1", "verify") == replace(evaluation(1), seconds=9.0)
        assert ledger.evaluation("k1") == evaluation(1, "o1"), "the furthest one, which is new"
        assert ledger.evaluation("k1", "compile") == evaluation(1), "the first one of its purpose stays"
        assert ledger.spend(RUN.id) == Spend(2, 20, 10, 0.25, 0.0)


def test_the_same_kernel_is_found_by_source_and_by_device_code_and_never_as_a_duplicate(opening: Opening) -> None:
    with opening() as ledger:
        for run in (RUN, OTHER):
            ledger.add_run(run)
        for generation, code in ((1, "a"), (2, "a"), (3, "b"), (4, "")):
            ledger.add_evaluation(RUN.id, evaluation(generation, code), "compile")
            ledger.add_evaluation(RUN.id, evaluation(generation, code), "benchmark")
        ledger.add_attempt(attempt(2))
        ledger.add_attempt(attempt(1))
        ledger.add_attempt(attempt(3))
        ledger.add_attempt(attempt(4))
        ledger.add_attempt(attempt(5, status="duplicate", candidate_id="c1", evaluation_key="k1"))
        ledger.add_attempt(attempt(6, candidate_id="c3", evaluation_key="none"))
        ledger.add_attempt(attempt(1, run_id=OTHER.id))

        def found(like: Evaluation, by_code: bool) -> list[str]:
            return [a.id for a in ledger.attempts_like(RUN.id, like, by_code)]

        assert found(evaluation(1, "a"), by_code=False) == ["g001-e1-a0"]
        assert found(evaluation(1, "a"), by_code=True) == ["g001-e1-a0", "g002-e1-a0"]
        assert found(evaluation(3, "b"), by_code=True) == ["g003-e1-a0", "g006-e1-a0"]
        assert found(evaluation(9, ""), by_code=True) == []


def test_the_experiments_of_the_thousandth_generation_come_after_those_before(opening: Opening) -> None:
    with opening() as ledger:
        ledger.add_run(RUN)
        for generation in (1000, 999, 2):
            ledger.add_experiment(experiment(generation))
            ledger.add_attempt(attempt(generation))
        assert [e.generation for e in ledger.experiments(RUN.id)] == [2, 999, 1000]
        assert [a.generation for a in ledger.attempts(RUN.id)] == [2, 999, 1000]


def test_methods_written_together_are_one_commit(opening: Opening) -> None:
    with opening() as ledger, opening() as other:
        ledger.add_run(RUN)
        with pytest.raises(LedgerError, match="no longer"), ledger.together():
            ledger.add_attempt(attempt(1))
            ledger.event(RUN.id, "attempt", {}, key="attempt")
            assert ledger.attempt(RUN.id, attempt(1).id) == attempt(1)
            assert other.attempts(RUN.id) == () == other.events(RUN.id)
            raise LedgerError("the file is no longer there")
        assert ledger.attempt(RUN.id, attempt(1).id) is None, "what was rolled back is not remembered"
        with ledger.together():
            ledger.add_attempt(attempt(1))
            ledger.event(RUN.id, "attempt", {}, key="attempt")
        assert other.attempts(RUN.id) == (attempt(1),)
        assert [e.kind for e in other.events(RUN.id)] == ["attempt"]


def test_an_event_that_does_not_wait_for_the_disk_is_seen_at_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger, Ledger(tmp_path / "ledger.db") as other:
        ledger.add_run(RUN)
        ledger.event(RUN.id, "stage", {}, is_synced=False)
        assert len(other.events(RUN.id)) == 1
        assert ledger.engine.connection.execute("PRAGMA synchronous").fetchone() == (1,)
        ledger.add_attempt(attempt(1))
        assert ledger.engine.connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize(
    ("purpose", "accepted", "waits"),
    [
        ("compile", True, 1),
        ("compile", False, 1),
        ("estimate", True, 1),
        ("verify", True, 2),
        ("verify", False, 2),
        ("benchmark", True, 2),
        ("benchmark", False, 2),
        ("confirm", True, 2),
        ("confirm", False, 2),
    ],
)
def test_only_what_is_dear_to_make_again_waits_for_the_disk(
    tmp_path: Path, purpose: Any, accepted: bool, waits: int
) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger, Ledger(tmp_path / "ledger.db") as other:
        ledger.add_run(RUN)
        made = replace(evaluation(1), verdict=Verdict("time", accepted, "OK" if accepted else "B.5"))
        assert ledger.add_evaluation(RUN.id, made, purpose) == made
        assert other.evaluation("k1", purpose) == made, "no kill -9 loses it"
        assert ledger.engine.connection.execute("PRAGMA synchronous").fetchone() == (waits,)


def test_the_first_evaluation_of_a_key_stays(opening: Opening) -> None:
    with opening() as ledger, opening() as other:
        ledger.add_run(RUN)
        assert other.add_evaluation(RUN.id, evaluation(1, "first")) == evaluation(1, "first")
        assert ledger.add_evaluation(RUN.id, evaluation(1, "second")) == evaluation(1, "first")
        assert ledger.evaluation("k1") == other.evaluation("k1") == evaluation(1, "first")


def test_what_a_failed_commit_would_have_written_is_not_remembered(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        ledger.add_run(RUN)
        with pytest.raises(LedgerError), ledger.together():
            ledger.engine.connection.execute("PRAGMA defer_foreign_keys = ON")
            ledger.add_experiment(experiment(1))
            ledger.add_attempt(attempt(1, run_id="unknown"))
        assert ledger.experiment(RUN.id, experiment(1).id) is None
        assert ledger.attempt("unknown", attempt(1).id) is None
        ledger.add_experiment(experiment(1))
        assert ledger.experiments(RUN.id) == (experiment(1),)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_older_ledger_is_found_by_index_and_knows_what_was_spent(tmp_path: Path, version: int) -> None:
    path = tmp_path / "ledger.db"
    db = sqlite3.connect(path)
    tables = "".join((TABLES, COMPARISONS, PAUSES)[:version])
    db.executescript(f"{tables} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version};")
    db.execute("INSERT INTO runs (id, body, status, stop_reason) VALUES (?, ?, 'done', '')", (RUN.id, dumps(RUN)))
    for generation in (1, 2):
        db.execute(
            "INSERT INTO experiments VALUES (?, ?, ?)", (RUN.id, f"g00{generation}-e1", dumps(experiment(generation)))
        )
        db.execute(
            "INSERT INTO attempts VALUES (?, ?, ?)", (RUN.id, attempt(generation).id, dumps(attempt(generation)))
        )
        made = dumps(evaluation(generation, f"o{generation}"))
        db.execute("INSERT INTO evaluations VALUES (?, 'benchmark', ?, ?)", (f"k{generation}", RUN.id, made))
        db.execute(
            "INSERT INTO calls VALUES (?, ?, 'r', 'm', 'p', 'done', 0.5, 'a', 10, 5, 0.125)", (str(generation), RUN.id)
        )
    db.execute("INSERT INTO calls VALUES ('3', ?, 'r', 'm', 'p', 'reserved', 0.5, NULL, 0, 0, 0.0)", (RUN.id,))
    db.commit()
    db.close()
    for _ in range(2):
        with Ledger(path) as ledger:
            assert ledger.spend(RUN.id) == Spend(2, 20, 10, 0.25, 0.5)
            ledger.release("3")
            look_up(ledger, 1)
            look_up(ledger, 2)
            ledger.reserve(ModelCall("3", RUN.id, "r", "m", "p", "reserved", 0.5), Allowance(1.0))
