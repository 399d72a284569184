"""A ledger in Postgres whose connection is cut, whose server is killed, and whose rights are missing."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from pydantic import SecretStr

from postgres.database_address import address_of
from postgres.postgres_engine import PostgresEngine
from postgres.shared_database import open_checkpoints, open_shared
from records.allowance import Allowance
from records.artefacts import ArtefactStore
from records.errors import LedgerError
from records.experiment import Extension, Usage
from records.ledger import Ledger
from tests.support.cutting_proxy import CuttingProxy
from tests.support.postgres_server import PASSWORD, PostgresServer, serving
from tests.unit.records.test_ledger import ATTEMPT, EXPERIMENT, RUN, call, evaluation


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.ledger()


def work(ledger: Ledger, name: str) -> None:
    """Every kind of write, most of which must not be done twice."""
    run = replace(RUN, id=name)
    ledger.add_run(run)
    with ledger.driving(name):
        ledger.event(name, "stage", {"stage": "write"}, "stage:1", is_synced=False)
        ledger.event(name, "note", {"text": "one without a key"})
        digest = ArtefactStore(None, ledger).put(f"kernel of {name}", is_synced=False)
        ledger.claim(name, f"k{name}", "benchmark")
        paid = replace(call(f"c{name}"), run_id=name)
        ledger.reserve(paid, Allowance(1.0))
        ledger.settle(paid.key, "reply", Usage(10, 5, 0.3))
        with ledger.together():
            ledger.add_evaluation(name, evaluation(f"k{name}"))
            ledger.add_experiment(replace(EXPERIMENT, run_id=name))
            ledger.add_attempt(replace(ATTEMPT, run_id=name, source=digest, evaluation_key=f"k{name}"))
            ledger.event(name, "attempt", {"attempt": ATTEMPT.id}, "attempt:1")
        ledger.unclaim(name, f"k{name}", "benchmark")
        ledger.extend(name, Extension(1, 2))
        ledger.finish(name, "done", "enough")


def dump(ledger: Ledger, name: str) -> str:
    """All that `work` wrote, but for times, with the run's name taken out."""
    columns = {
        table: [c for c in names if c not in ("at", "number")]
        for table, names in ledger.engine.tables().items()
        if {"run_id", "id"} & set(names) and table != "holders"
    }
    rows = {
        table: sorted(
            map(str, ledger.engine.read(f"SELECT {', '.join(names)} FROM {table} WHERE "
                                        f"{'run_id' if 'run_id' in names else 'id'} = ?", (name,)))
        )
        for table, names in columns.items()
    }  # fmt: skip
    rows["artefact"] = [ArtefactStore(None, ledger).text(a.source) for a in ledger.attempts(name)]
    source = ledger.attempts(name)[0].source
    text = json.dumps(rows, sort_keys=True).replace(source, "DIGEST").replace(name, "NAME")
    return re.sub("~[0-9a-f]{32}", "~", text)


@pytest.mark.slow
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_a_connection_cut_at_any_message_loses_nothing_and_writes_nothing_twice(
    postgres: PostgresServer, url: str, step: int
) -> None:
    proxy = CuttingProxy(postgres.port)
    address = address_of(url.replace(f":{postgres.port}/", f":{proxy.port}/"))
    with Ledger(PostgresEngine(address)) as ledger:
        work(ledger, "warm-up")
        before = proxy.messages
        work(ledger, "whole")
        count, expected = proxy.messages - before, dump(ledger, "whole")
        assert count > 40 and "'note'" in expected
        places = [(number, when) for number in range(count) for when in ("before", "after")]
        for number, when in places[::step]:
            proxy.cut(number, when)
            work(ledger, f"cut-{number}-{when}")
            assert dump(ledger, f"cut-{number}-{when}") == expected, (number, when)
        link = ledger.engine.link  # type: ignore[attr-defined]
        assert proxy.cuts == len(places[::step]) == len(link.recoveries_s)
    proxy.close()


@pytest.mark.slow
def test_a_server_that_is_killed_comes_back_with_everything_that_was_told_to_be_there() -> None:
    with serving() as server:
        address = address_of(server.ledger())
        with Ledger(PostgresEngine(address)) as ledger:
            work(ledger, "whole")
            for number, how in enumerate((signal.SIGQUIT, signal.SIGKILL)):
                ledger.add_run(replace(RUN, id=f"r{number}"))
                with ledger.driving(f"r{number}"):
                    digest = ArtefactStore(None, ledger).put(f"not on the disk yet {number}", is_synced=False)
                    server.stop(how)
                    server.start()
                    assert ledger.driver(f"r{number}") is not None, "the run is still held"
                    ledger.add_attempt(replace(ATTEMPT, run_id=f"r{number}", source=digest))
                assert ArtefactStore(None, ledger).text(digest) == f"not on the disk yet {number}"
            work(ledger, "again")
            assert dump(ledger, "again") == dump(ledger, "whole")


def test_a_run_that_was_taken_while_the_connection_was_lost_is_given_up(postgres: PostgresServer, url: str) -> None:
    with (
        Ledger(PostgresEngine(address_of(url))) as ledger,
        Ledger(PostgresEngine(address_of(url), "rival@there")) as rival,
    ):
        ledger.add_run(RUN)
        with pytest.raises(LedgerError, match="another process has taken the run"), ledger.driving(RUN.id):
            backend = ledger.engine.link.backend[0]  # type: ignore[attr-defined]
            postgres.execute("postgres", f"SELECT pg_terminate_backend({backend})")
            with rival.driving(RUN.id):
                ledger.add_attempt(ATTEMPT)
        assert rival.attempts(RUN.id) == ()


def test_two_runs_that_wait_for_each_other_both_end(url: str) -> None:
    meeting, faults = threading.Barrier(2), list[BaseException]()

    def write(names: Sequence[str]) -> None:
        try:
            with Ledger(PostgresEngine(address_of(url))) as ledger, ledger.together():
                ledger.add_artefact(names[0], b"x")
                meeting.wait()
                ledger.add_artefact(names[1], b"x")
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=write, args=(names,)) for names in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    with Ledger(PostgresEngine(address_of(url))) as ledger:
        assert sorted(ledger.engine.read("SELECT digest FROM artefacts")) == [("a",), ("b",)]


def test_a_program_that_only_shows_is_refused_every_write(postgres: PostgresServer, url: str) -> None:
    with Ledger(PostgresEngine(address_of(url))) as ledger:
        ledger.add_run(RUN)
        ledger.forbid_writing()
        backend = ledger.engine.link.backend[0]  # type: ignore[attr-defined]
        postgres.execute("postgres", f"SELECT pg_terminate_backend({backend})")
        assert ledger.runs() == (RUN,)
        with pytest.raises(LedgerError, match="takes no writing here"):
            ledger.finish(RUN.id, "done")


@pytest.fixture
def strangers(postgres: PostgresServer, url: str) -> Iterator[str]:
    name = url.rpartition("/")[2]
    postgres.execute("postgres", "CREATE ROLE stranger LOGIN PASSWORD 'stranger-password'")
    yield postgres.url(name, "stranger", "stranger-password")
    postgres.execute(name, "DROP OWNED BY stranger")
    postgres.execute("postgres", "DROP ROLE stranger")


def test_a_role_without_rights_is_named_and_one_that_may_read_can_look(
    postgres: PostgresServer, url: str, strangers: str
) -> None:
    with Ledger(PostgresEngine(address_of(url))) as ledger:
        ledger.add_run(RUN)
    with pytest.raises(LedgerError, match=r"the role stranger lacks a right .*permission denied"):
        open_shared(SecretStr(strangers))
    postgres.execute(url.rpartition("/")[2], "GRANT SELECT ON ALL TABLES IN SCHEMA public TO stranger")
    with open_shared(SecretStr(strangers), create=False) as ledger:
        assert ledger.runs() == (RUN,)
        with pytest.raises(LedgerError, match="the role stranger lacks a right"):
            ledger.finish(RUN.id, "done")
    empty = postgres.database().rpartition("/")[2]
    with pytest.raises(LedgerError, match="the role stranger lacks a right"):
        open_shared(SecretStr(postgres.url(empty, "stranger", "stranger-password")))


def test_what_cannot_be_reached_is_said_in_one_sentence_without_the_password(postgres: PostgresServer) -> None:
    wrong = [
        (postgres.url("postgres", password="wrong/secret@x"), "does not let this user in"),
        (postgres.url("absent"), "does not let this user in"),
        (postgres.url("postgres").replace(str(postgres.port), "1"), "no Postgres server answers at"),
        (f"postgresql://me:{'wrong-secret'}@host.invalid/team", "no Postgres server answers at"),
    ]
    for url, sentence in wrong:
        with pytest.raises(LedgerError, match=sentence) as caught:
            open_shared(SecretStr(url))
        message = str(caught.value)
        assert "secret" not in message and PASSWORD not in message and "\n" not in message and message.count(". ") == 0
        with pytest.raises(LedgerError, match=sentence), open_checkpoints(SecretStr(url)):
            pass
