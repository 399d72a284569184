import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.allowance import Allowance
from records.errors import BudgetExhausted, LedgerError, UsageError
from records.evaluation import Evaluation, Verdict
from records.experiment import Attempt, Experiment, ModelCall, Run, Spend, Usage
from records.ledger import Ledger
from records.schema import SCHEMA_VERSION
from tests.support.ledgers import Opening

RUN = Run("20261121-softmax-1a", "row_softmax", "mi300x", "lab", "playbook", 7, {"generations": 4})
EXPERIMENT = Experiment("g001-e1", RUN.id, 1, 1, "g000-e0-a0", None, "wider loads", "load four floats at once")
ATTEMPT = Attempt("g001-e1-a0", RUN.id, "g001-e1", 1, 0, "c", "s", "accepted", "k", geomean_us=12.5)


def evaluation(key: str = "k", seconds: float = 0.0) -> Evaluation:
    return Evaluation(key, "c", {"ROWS": 4}, Verdict("time", True, "OK"), seconds=seconds)


def call(key: str, usd: float = 0.4) -> ModelCall:
    return ModelCall(key, RUN.id, "coder", "model", "prompt", "reserved", usd)


@pytest.fixture
def ledger(opening: Opening) -> Iterator[Ledger]:
    with opening() as opened:
        opened.add_run(RUN)
        yield opened


def test_everything_is_there_after_reopening(ledger: Ledger, opening: Opening) -> None:
    ledger.add_experiment(EXPERIMENT)
    ledger.add_attempt(ATTEMPT)
    ledger.add_evaluation(RUN.id, evaluation())
    ledger.reserve(call("c1"), Allowance(1.0))
    ledger.settle("c1", "reply", Usage(10, 5, 0.3))
    ledger.event(RUN.id, "stage", {"stage": "write"})
    ledger.close()
    with opening() as again:
        assert again.runs() == (RUN,)
        assert again.experiments(RUN.id) == (EXPERIMENT,)
        assert again.attempts(RUN.id) == (ATTEMPT,)
        assert again.evaluation("k") == evaluation()
        answered = again.call("c1")
        assert answered is not None and answered.answered_at
        done = replace(call("c1"), state="done", reply="reply", usage=Usage(10, 5, 0.3))
        assert replace(answered, answered_at="") == done
        assert [(e.kind, e.payload) for e in again.events(RUN.id)] == [("stage", {"stage": "write"})]


def test_the_file_is_in_wal_mode_and_every_commit_is_synced(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        assert ledger.engine.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ledger.engine.connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_run_is_found_by_a_prefix_that_is_its_own(ledger: Ledger) -> None:
    ledger.add_run(replace(RUN, id="20261122-softmax-2b"))
    ledger.add_run(replace(RUN, id="20261122"))
    assert ledger.run("20261121") == RUN
    assert ledger.run("20261122").id == "20261122"
    with pytest.raises(UsageError, match="could be any of"):
        ledger.run("2026")
    with pytest.raises(UsageError, match="there is no run '%'"):
        ledger.run("%")


def test_a_run_ends_once_it_is_known_and_can_go_on(ledger: Ledger) -> None:
    ledger.finish(RUN.id, "paused", "no money left", "budget")
    assert ledger.run(RUN.id) == replace(RUN, status="paused", stop_reason="no money left", pause="budget")
    ledger.add_run(ledger.run(RUN.id))
    ledger.finish(RUN.id, "running")
    assert ledger.run(RUN.id) == RUN
    with pytest.raises(UsageError, match="there is no run"):
        ledger.finish("unknown", "done")
    with pytest.raises(ValueError, match="no status or no pause"):
        ledger.finish(RUN.id, "paused", "", "tired")  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="with other settings"):
        ledger.add_run(replace(RUN, seed=8))


def test_records_can_be_added_again_but_never_changed(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.add_experiment(EXPERIMENT)
        ledger.add_attempt(ATTEMPT)
    assert len(ledger.attempts(RUN.id)) == len(ledger.experiments(RUN.id)) == 1
    assert ledger.add_attempt(replace(ATTEMPT, status="rejected")) == ATTEMPT, "the first one stays"
    assert ledger.add_experiment(replace(EXPERIMENT, title="narrower loads")) == EXPERIMENT
    assert ledger.attempts(RUN.id) == (ATTEMPT,)


def test_attempts_come_in_the_order_of_the_search_not_of_the_threads(ledger: Ledger) -> None:
    places = [(10, "g010-e1", 0), (2, "g002-e1", 10), (2, "g002-e1", 9), (2, "g002-e0", 0)]
    for generation, experiment, number in places:
        name = f"{experiment}-a{number}"
        ledger.add_attempt(replace(ATTEMPT, id=name, experiment_id=experiment, generation=generation, number=number))
    assert [a.id for a in ledger.attempts(RUN.id)] == ["g002-e0-a0", "g002-e1-a9", "g002-e1-a10", "g010-e1-a0"]


def test_the_first_result_of_a_key_and_purpose_stays(ledger: Ledger) -> None:
    assert ledger.evaluation("k") is None
    assert ledger.add_evaluation(RUN.id, evaluation(seconds=1.0)).seconds == 1.0
    assert ledger.add_evaluation(RUN.id, evaluation(seconds=2.0)).seconds == 1.0
    assert ledger.evaluation("k").seconds == 1.0  # type: ignore[union-attr]


def test_without_a_purpose_the_furthest_result_is_given_and_never_an_estimate(ledger: Ledger) -> None:
    ledger.add_evaluation(RUN.id, evaluation(seconds=4.0), "estimate")
    assert ledger.evaluation("k") is None
    for seconds, purpose in ((1.0, "compile"), (3.0, "benchmark"), (2.0, "verify")):
        ledger.add_evaluation(RUN.id, evaluation(seconds=seconds), purpose)  # type: ignore[arg-type]
    assert ledger.evaluation("k").seconds == 3.0  # type: ignore[union-attr]
    assert ledger.evaluation("k", "estimate").seconds == 4.0  # type: ignore[union-attr]


def test_money_is_set_aside_before_it_is_spent(ledger: Ledger) -> None:
    ledger.reserve(call("a"), Allowance(1.0))
    ledger.reserve(call("b"), Allowance(1.0))
    with pytest.raises(BudgetExhausted, match=r"needs \$0\.4000, and of \$1\.0000 \$0\.2000 are left"):
        ledger.reserve(call("c"), Allowance(1.0))
    assert ledger.call("c") is None
    ledger.settle("a", "reply", Usage(100, 10, 0.1))
    ledger.reserve(call("c"), Allowance(1.0))
    assert ledger.spend(RUN.id) == Spend(1, 100, 10, 0.1, 0.8)
    ledger.release("b")
    ledger.release("a")
    assert ledger.spend(RUN.id) == Spend(1, 100, 10, 0.1, 0.4)


def test_a_request_sent_again_leaves_the_first_one_spent_and_the_answer_stays(ledger: Ledger) -> None:
    ledger.reserve(call("a"), Allowance(1.0))
    assert ledger.reserve(call("a", 0.5), Allowance(1.0)).state == "reserved"
    assert ledger.spend(RUN.id) == Spend(1, 0, 0, 0.4, 0.5)
    assert ledger.lost(RUN.id) == (1, 0.4)
    ledger.settle("a", "first", Usage(usd=0.2))
    ledger.settle("a", "second", Usage(usd=0.3))
    stored = ledger.reserve(call("a", 99.0), Allowance(0.5))
    assert (stored.state, stored.reply, stored.usage.usd) == ("done", "first", 0.2)
    with pytest.raises(LedgerError, match="without a reservation"):
        ledger.settle("unknown", "reply", Usage())


def test_other_runs_spend_their_own_budget(ledger: Ledger) -> None:
    ledger.add_run(replace(RUN, id="other"))
    ledger.reserve(replace(call("o", 0.9), run_id="other"), Allowance(1.0))
    ledger.reserve(call("a", 0.9), Allowance(1.0))
    ledger.reserve(call("b", 100.0))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("rsd"), st.integers(0, 5), st.integers(1, 40)), max_size=40))
def test_spent_and_reserved_never_exceed_the_budget(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    with Ledger(tmp_path_factory.mktemp("ledger") / "ledger.db") as ledger:
        ledger.add_run(RUN)
        for verb, name, cents in steps:
            known = ledger.call(str(name))
            if verb == "r":
                try:
                    ledger.reserve(call(str(name), cents / 100), Allowance(1.0))
                except BudgetExhausted:
                    assert ledger.call(str(name)) is None  # one that was sent before is lost
            elif verb == "d":
                ledger.release(str(name))
            elif known is not None:
                ledger.settle(str(name), "reply", Usage(usd=min(cents / 100, known.reserved_usd)))
            spend = ledger.spend(RUN.id)
            assert spend.usd + spend.reserved_usd <= 1.0 + 1e-6


def test_an_event_with_a_key_is_written_once(ledger: Ledger) -> None:
    assert ledger.event(RUN.id, "stage", {"stage": "write"}, key="g001-e1:write:0")
    assert not ledger.event(RUN.id, "stage", {"stage": "write"}, key="g001-e1:write:0")
    ledger.event(RUN.id, "warning", {"message": "one"})
    ledger.event(RUN.id, "warning", {"message": "two"})
    first, *rest = ledger.events(RUN.id)
    assert [e.payload["message"] for e in rest] == ["one", "two"]
    assert ledger.events(RUN.id, after=first.number) == tuple(rest)


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    granted: list[int] = []

    def work(number: int) -> None:
        ledger.add_attempt(replace(ATTEMPT, id=f"a{number}", number=number))
        ledger.add_evaluation(RUN.id, evaluation(seconds=float(number)))
        try:
            ledger.reserve(call(f"c{number}", 0.25), Allowance(1.0))
            ledger.settle(f"c{number}", "reply", Usage(usd=0.25))  # the others wait for it
            granted.append(number)
        except BudgetExhausted:
            pass

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.attempts(RUN.id)) == 12
    assert len(granted) == 4


def test_a_second_driver_is_refused_until_the_first_lets_go(ledger: Ledger, opening: Opening) -> None:
    with opening() as other:
        with ledger.driving(RUN.id), pytest.raises(LedgerError, match="already running"), other.driving(RUN.id):
            pass
        with other.driving(RUN.id):
            pass


def test_the_process_that_drives_a_run_is_known_while_it_does(ledger: Ledger, opening: Opening) -> None:
    with opening() as other:
        assert other.driver(RUN.id) is None
        with ledger.driving(RUN.id), ledger.driving(RUN.id):  # twice by one thread
            assert other.driver(RUN.id) == os.getpid()
            with pytest.raises(LedgerError), other.driving(RUN.id):
                pass
            assert other.driver(RUN.id) == os.getpid(), "one that was refused changes nothing"
        assert other.driver(RUN.id) is None


def test_a_run_that_nothing_drives_is_stopped_and_one_that_ended_is_not(ledger: Ledger, opening: Opening) -> None:
    with opening() as other:
        seen = [other.run(RUN.id)]
        with ledger.driving(RUN.id):
            assert other.states(seen) == {RUN.id: "running"}
        assert other.states(seen) == {RUN.id: "stopped"}
        ledger.finish(RUN.id, "done")
        assert other.states(seen) == {RUN.id: "done"}, "it is told as of now"
        ledger.finish(RUN.id, "paused", pause="budget")
        assert other.states(other.runs()) == {RUN.id: "paused"}


def damaged(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.add_run(RUN)
        for number in range(200):
            ledger.add_attempt(replace(ATTEMPT, id=f"a{number}", number=number, reason="x" * 500))
    data = bytearray(path.read_bytes())
    data[len(data) // 4 : len(data) // 2] = b"\xa5" * (len(data) // 2 - len(data) // 4)
    path.write_bytes(data)


def newer(path: Path) -> None:
    Ledger(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()


def foreign(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE moz_places (id INTEGER)")
    db.close()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (damaged, "is damaged"),
        (lambda path: path.write_text("no database " * 100), "is damaged"),
        (newer, f"has schema 99, this program knows {SCHEMA_VERSION}"),
        (foreign, "database of another program"),
        (Path.mkdir, "cannot be written to"),
        (lambda path: path.parent.rmdir() or path.parent.write_text("in the way"), "cannot be written to"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_refused_in_one_sentence(tmp_path: Path, spoil: object, sentence: str) -> None:
    path = tmp_path / "runs" / "ledger.db"
    path.parent.mkdir()
    spoil(path)  # type: ignore[operator]
    with pytest.raises(LedgerError, match=sentence) as caught:
        Ledger(path)
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5, 0.9])
def test_a_truncated_file_never_gives_silent_nonsense(tmp_path: Path, share: float) -> None:
    path = tmp_path / "ledger.db"
    with Ledger(path) as ledger:
        ledger.add_run(RUN)
        for number in range(100):
            ledger.add_attempt(replace(ATTEMPT, id=f"a{number}", number=number, reason="x" * 500))
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    if share == 0.0:  # an empty file is a new ledger to SQLite: the run is missing, and said to be
        with Ledger(path) as ledger, pytest.raises(UsageError, match="there is no run"):
            ledger.run(RUN.id)
    else:
        with pytest.raises(LedgerError):
            Ledger(path)
