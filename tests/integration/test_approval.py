"""A run that asks a person: before experiments and before money, answered at once, later, or not readably."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from agents.author import Specimen, Step
from app.commands.run import drive as command_drive
from app.commands.run import finish
from app.session import Session
from app.settings import load_settings
from graph.drive import MOST_UNREAD, drive
from graph.question import Question
from records.errors import BudgetExhausted
from records.experiment import Run
from tests.support.scripted_run import Bench, faster


class Person:
    """Answers from a list, None when it is used up; remembers the questions."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    def __call__(self, question: Question) -> Any:
        self.asked.append(question)
        return self.answers.pop(0) if self.answers else None


def driven(bench: Bench, person: Person) -> Run:
    return drive(bench.context, bench.folder / "checkpoint.db", bench.told.append, ask=person)


def asking(bench: Bench) -> Bench:
    bench.context = replace(bench.context, approves=True)
    return bench


def test_only_what_a_person_approves_is_run(tmp_path: Path) -> None:
    bench, person = asking(Bench(tmp_path, generations=2, picks=2)), Person(["g001-e2"], True)
    assert driven(bench, person).status == "done"
    assert [[row["id"] for row in q.experiments] for q in person.asked] == [
        ["g001-e1", "g001-e2"],
        ["g002-e1", "g002-e2"],
    ]
    assert set(bench.statuses()) == {"g001-e2-a0"}
    assert set(bench.statuses("g002")) == {"g002-e1-a0", "g002-e2-a0"}


def test_without_an_answer_the_run_pauses_before_an_experiment_and_goes_on_later(tmp_path: Path) -> None:
    bench = asking(Bench(tmp_path, picks=2))
    left = driven(bench, Person())
    assert (left.status, left.pause) == ("paused", "approval")
    assert bench.statuses() == {}
    assert driven(bench, Person()).pause == "approval"
    assert driven(bench, Person(True)).status == "done"
    assert len(bench.statuses()) == 2
    assert driven(bench, Person()).status == "done"  # once more changes nothing


def test_an_answer_that_cannot_be_read_is_asked_for_again(tmp_path: Path) -> None:
    bench, person = asking(Bench(tmp_path, picks=2)), Person("yes please", ["g009-e1"], False)
    assert driven(bench, person).status == "done"
    assert [q.message.startswith("that answer cannot be read") for q in person.asked] == [False, True, True]
    assert bench.statuses() == {}


def test_a_program_whose_answers_cannot_be_read_pauses_the_run_and_may_be_asked_again(tmp_path: Path) -> None:
    bench = asking(Bench(tmp_path, picks=2))
    for _ in range(2):
        person = Person(*["perhaps"] * 50)
        left = driven(bench, person)
        assert (left.status, left.pause, len(person.asked)) == ("paused", "approval", MOST_UNREAD)
        assert left.stop_reason.startswith("that answer cannot be read")
    person = Person(*["perhaps"] * (MOST_UNREAD - 1), ("g001-e2",))
    assert driven(bench, person).status == "done"
    assert set(bench.statuses()) == {"g001-e2-a0"}


def test_a_used_up_budget_asks_for_more_and_the_amount_is_kept(tmp_path: Path) -> None:
    purse = [0.0]

    def paying(step: Step, base: Specimen) -> Any:
        if purse[0] < 2:
            raise BudgetExhausted("the next call could cost $2.00")
        return faster(step, base)

    bench = Bench(tmp_path, paying, picks=1)
    bench.context = replace(asking(bench).context, allow_usd=lambda usd: purse.__setitem__(0, usd))
    person = Person(True, -4, 1.0, {"budget_usd": 3})
    assert driven(bench, person).status == "done"
    assert [q.kind for q in person.asked] == ["experiments", "budget", "budget", "budget"]
    assert purse == [3.0]
    amounts_usd = [e.payload["usd"] for e in bench.context.ledger.events("table-run") if e.kind == "allowed"]
    assert amounts_usd == [1.0, 3.0]


def test_a_run_that_asks_nobody_ends_at_its_budget(tmp_path: Path) -> None:
    def poor(step: Step, base: Specimen) -> str:
        raise BudgetExhausted("nothing is left")

    left = Bench(tmp_path, poor, picks=1).drive()
    assert (left.status, left.pause) == ("done", "limit")


def test_a_command_without_a_terminal_pauses_and_a_yes_to_resume_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    context = asking(Bench(tmp_path, picks=1)).context
    settings = load_settings(runs_folder=tmp_path)

    def command(says_yes: bool) -> int:
        session = Session(settings, context, tmp_path)
        try:
            finish(command_drive(session, settings, False, says_yes=says_yes), session, False)
        except typer.Exit as stop:
            return stop.exit_code
        return 0

    assert command(says_yes=False) == 1
    assert "approve with kernel-scientist resume table-run" in capsys.readouterr().out
    assert command(says_yes=True) == 0
    assert context.ledger.run("table-run").status == "done"
