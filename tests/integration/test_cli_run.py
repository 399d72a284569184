"""Runs from outside: their answers, files and interruptions, on the graph's own doubles instead of a compiler."""

from __future__ import annotations

import base64
import json
import os
import signal
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import typer

from agents.author import Author, Draft, Idea, Specimen, Step
from app.commands.run import drive, finish
from app.session import Session, summary
from app.settings import load_settings
from app.verdict import show, verdict_json
from app.wiring import make_author
from graph.context import Limits
from graph.doubles import ScriptedAuthor, TableSandbox, table_context, table_task
from records.errors import LabError
from records.evaluation import CaseResult, Evaluation, Finding, Measurement, OneSided, Resources, Verdict
from sandbox.remote.spool import Spool
from tests.support.compiler_cache import share_toolchain
from tests.support.endpoint import Answer, ScriptedEndpoint
from tests.support.failing_sandbox import FailingSandbox
from tests.support.stations import through, work

SEED = "// time_us = 100\n// roofline_us = 5\n"
CANARY = "sk-canary-7c1f0e5d9b3a"


WHOLE = {"whole": True, "workgroups": None, "grid": None, "compared": 1.0, "miss_chance": 0.0, "stands_for": None}


def ideas(generation: int) -> Sequence[Idea]:
    return [Idea(f"idea {n}", "try it", ("do it",), 5, 50, 10 * n) for n in range(3)]


def faster(step: Step, base: Specimen) -> Draft:
    """Ten microseconds less a generation, another text for each experiment."""
    return Draft(
        f"// {step.experiment_id}\n// time_us = {100 - 10 * step.generation - int(step.experiment_id[-1])}\n"
        "// roofline_us = 5\n",
        ("done",),
    )


def session_of(folder: Path, author: Author, generations: int = 2) -> Session:
    task = table_task(folder / "task", SEED)
    context = table_context(folder / "runs", task, author, Limits(generations=generations))
    run_folder = folder / "runs" / context.run.id
    run_folder.mkdir(parents=True)
    return Session(
        load_settings(runs_folder=folder / "runs", cache_folder=share_toolchain(folder / "cache")), context, run_folder
    )


def ended(session: Session, json_asked: bool = True) -> int:
    """Drive a session as the command does and return the exit code."""
    with session:
        try:
            finish(drive(session, session.settings, json_asked), session, json_asked)
        except typer.Exit as stop:
            return stop.exit_code
    return 0


def test_run_json_has_the_fields_of_the_design_and_nothing_else(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert ended(session_of(tmp_path, ScriptedAuthor(ideas, faster))) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    counts = ["generations", "attempts", "accepted", "llm_calls", "usd", "seconds"]
    assert list(answer) == ["run_id", "best", *counts, "headline", "stage_seconds", "diff"]
    assert sum(answer["stage_seconds"].values()) == pytest.approx(answer["seconds"], abs=0.1)
    assert answer["headline"]["gain"] == pytest.approx(100 / answer["best"]["geomean_us"])
    assert f"+++ {Path(answer['best']['path']).name}" in Path(answer["diff"]).read_text()
    over = ["speedup_over_seed", "speedup_over_naive_seed", "is_seed", "time_error"]
    assert list(answer["best"]) == ["id", "path", "geomean_us", "time_kind", *over]
    best = answer["best"]
    assert best["time_kind"] == "predicted"
    assert best["speedup_over_seed"] == pytest.approx(100 / best["geomean_us"])
    assert f"time_us = {best['geomean_us']:.0f}" in Path(best["path"]).read_text()
    assert (answer["generations"], answer["attempts"], answer["accepted"], answer["llm_calls"]) == (2, 7, 7, 0)
    assert "generation 2 of 2" in err


def test_the_last_words_name_kernel_report_and_what_binds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    session = session_of(tmp_path, ScriptedAuthor(ideas, faster))
    assert ended(session, json_asked=False) == 0
    out = capsys.readouterr().out
    for expected in (
        "predicted by the lab, not measured",
        "bound by table",
        str(session.folder / "best.hip"),
        str(session.folder / "report.html"),
        "7 attempts in 2 generations, 7 verified",
    ):
        assert expected in out
    assert "best so far" in out
    assert "<!doctype html>" in (session.folder / "report.html").read_text()


def test_the_last_words_tell_an_expected_time_beside_its_bound(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def known(step: Step, base: Specimen) -> Draft:
        draft = faster(step, base)
        return replace(draft, source=f"{draft.source}\n// warm_us = 20\n// bound_us = 12.4\n// error = 0.01\n")

    assert ended(session_of(tmp_path, ScriptedAuthor(ideas, known)), json_asked=False) == 0
    words = "us (cold; warm 20 us), bound 12.4 us (predicted; two are equal within 1 %)"
    assert words in capsys.readouterr().out


def test_one_generation_is_told_in_the_singular(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert ended(session_of(tmp_path, ScriptedAuthor(lambda n: ideas(n)[:1], faster), generations=1), False) == 0
    assert "2 attempts in 1 generation, 2 verified" in capsys.readouterr().out


def test_no_gain_is_a_clean_no(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    slower = ScriptedAuthor(ideas, lambda step, base: f"// {step.experiment_id}\n// time_us = 200\n")
    assert ended(session_of(tmp_path / "a", slower)) == 1
    assert json.loads(capsys.readouterr().out)["best"]["speedup_over_seed"] == 1.0
    assert ended(session_of(tmp_path / "b", slower), json_asked=False) == 1
    assert "no verified kernel is faster than the best seed" in capsys.readouterr().out


def test_ctrl_c_leaves_a_run_that_goes_on_to_the_same_end(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pressed: list[str] = []

    def interrupted(step: Step, base: Specimen) -> Draft:
        if step.experiment_id == "g002-e1" and not pressed:
            pressed.append(step.experiment_id)
            os.kill(os.getpid(), signal.SIGINT)
        return faster(step, base)

    session = session_of(tmp_path, ScriptedAuthor(ideas, interrupted))
    assert ended(session) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert f"interrupted; resume with: kernel-scientist resume {session.context.run.id}" in err
    resumed = session_again(session, ScriptedAuthor(ideas, faster))
    assert resumed.run.status == "paused"
    assert ended(resumed) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["generations"], answer["attempts"]) == (2, 7)


def session_again(session: Session, author: Author) -> Session:
    """The same run in what could be another process: a new ledger connection, nothing kept in memory."""
    from records.artefacts import ArtefactStore
    from records.ledger import Ledger

    ledger = Ledger(session.context.ledger.path)
    artefacts = ArtefactStore(session.context.artefacts.folder, ledger)
    context = replace(session.context, ledger=ledger, artefacts=artefacts, author=author)
    return Session(session.settings, context, session.folder)


def test_a_machine_at_fault_is_raised_and_the_run_can_go_on(tmp_path: Path) -> None:
    broken = ScriptedAuthor(ideas, lambda step, base: "// machine verify the lab is on fire\n// time_us = 1\n")
    session = session_of(tmp_path, broken)
    seed = session.context.assignment.task.seeds[0].read_text()
    session = Session(session.settings, replace(session.context, sandbox=FailingSandbox(seed)), session.folder)
    with pytest.raises(LabError, match="on fire"):
        ended(session)
    assert session_again(session, broken).run.status == "paused"


def test_the_summary_needs_nothing_but_the_ledger(tmp_path: Path) -> None:
    session = session_of(tmp_path, ScriptedAuthor(ideas, faster))
    with session:
        result = session.drive(lambda event: None)
        assert summary(session.context.ledger, session.run, session.folder, result.seconds) == replace(
            result, stage_seconds={}
        )
        assert result.best is not None
        assert result.best.id in {a.id for a in session.context.ledger.attempts(result.run_id)}
        assert json.dumps(asdict(result))


def echo(body: dict[str, Any]) -> Answer:
    """A hostile or careless server: an answer with the key in it."""
    return Answer(f"I know your key, it is {CANARY}.")


def test_a_key_is_in_no_file_and_no_line_of_a_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with ScriptedEndpoint(echo) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        session = session_of(tmp_path, ScriptedAuthor(ideas, faster), generations=1)
        context = session.context
        context.ledger.add_run(context.run)
        run = replace(context.run, author="llm")
        author = make_author(session.settings, run, context.ledger, context.artefacts, context.meter)
        session.context = replace(context, author=author)
        ended(session)
        assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"
    out, err = capsys.readouterr()
    spellings = (CANARY.encode(), base64.b64encode(CANARY.encode()).rstrip(b"="))
    assert [s for s in spellings if s in (out + err).encode()] == []
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert any(p.name == "report.html" for p in files)
    assert [p for p in files if any(s in p.read_bytes() for s in spellings)] == []


def test_check_json_has_the_fields_of_the_design_then_the_evidence() -> None:
    times = (Measurement("n=64", 10.0, "predicted", "lab:mi300x", 9.0, 11.0, bound="hbm", roofline_us=5.0),)
    times = (replace(times[0], bound_us=4.0, error=0.1, stalls_us={"lds": 2.0}),)
    evaluation = Evaluation(
        "k",
        "c",
        {"ROWS": 4},
        Verdict("time", True, "OK", (Finding("race", "mend it", 3, "kernel"),)),
        (Resources("a", 10, 0, 20, 64, 0, 8), Resources("b", 30, 4, 10, 0, 16, 4)),
        (CaseResult("n=4", "test", True, 0.5), CaseResult("n=64", "benchmark", True, 0.25)),
        times,
        {"x": 1.0},
        one_sided=(OneSided(31, 9, "if (u < -12.0f) u = 0.0f;"),),
    )
    answer = verdict_json(evaluation)
    parts = "accepted stage code isolation findings resources cases counters kernel_counters hot_lines explanation"
    assert list(answer) == [*parts.split(), "one_sided"]
    assert answer["findings"] == [{"kind": "race", "line": 3, "message": "mend it"}]
    assert answer["one_sided"] == [{"line": 31, "column": 9, "text": "if (u < -12.0f) u = 0.0f;"}]
    expected = {"vgpr": 30, "agpr": 4, "sgpr": 20, "lds_bytes": 64, "scratch_bytes": 16, "waves_per_simd": 4}
    assert answer["resources"] == expected
    timed = ["time_us", "time_kind", "ci_low", "ci_high", "warm_us", "bound", "roofline_fraction", "resources_us"]
    timed += ["bound_us", "time_error", "stalls_us"]
    untimed = {"name": "n=4", "correct": True, "error": 0.5, **dict.fromkeys(timed), **WHOLE}
    measured = dict(
        zip(timed, (10.0, "predicted", 9.0, 11.0, None, "hbm", 0.5, {}, 4.0, 0.1, {"lds": 2.0}), strict=True)
    )
    assert answer["cases"] == [untimed, {"name": "n=64", "correct": True, "error": 0.25, **measured, **WHOLE}]


def test_an_answer_names_the_comparisons_that_had_one_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    left = tuple(OneSided(line, 9, f"if (u < {line}.0f) u = 0.0f;") for line in range(31, 41))
    evaluation = Evaluation("k", "c", {}, Verdict("correct", True, "OK"), one_sided=left)
    show(evaluation, "", "softmax.hip")
    out = capsys.readouterr().out
    assert "had one outcome in all that was executed" in out and "line 31: if (u < 31.0f) u = 0.0f;" in out
    assert "line 39" not in out and "and 2 more" in out
    show(replace(evaluation, one_sided=()), "", "softmax.hip")
    assert "one outcome" not in capsys.readouterr().out


def test_a_run_that_waits_says_for_what_and_goes_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A clean no, because no answer is there yet; with answers the same run comes to its end."""
    spool, worker = tmp_path / "spool", TableSandbox()
    session = session_of(tmp_path, ScriptedAuthor(ideas, faster), generations=1)
    run = replace(session.context.run, on=f"spool:{spool}")
    session.context = replace(session.context, run=run, sandbox=through(Spool(spool)))
    assert ended(session, json_asked=False) == 1
    out = capsys.readouterr().out
    assert f"paused: waiting for 1 result in {spool}" in out
    assert f"python -m sandbox.worker --spool {spool} --target mi300x" in out
    assert f"kernel-scientist resume {run.id}" in out
    assert "--budget-usd" not in out
    work(spool, session.context.assignment.task, worker)
    waiting = session_again(session, ScriptedAuthor(ideas, faster))
    assert ended(waiting) == 1
    assert json.loads(capsys.readouterr().out)["attempts"] == 1
    work(spool, session.context.assignment.task, worker)
    leading = session_again(waiting, ScriptedAuthor(ideas, faster))
    assert ended(leading) == 1  # the kernel that leads is not confirmed yet
    assert json.loads(capsys.readouterr().out)["attempts"] == 4
    work(spool, session.context.assignment.task, worker)
    last = session_again(leading, ScriptedAuthor(ideas, faster))
    assert ended(last) == 0
    assert json.loads(capsys.readouterr().out)["attempts"] == 4


def test_a_gain_does_not_hide_that_a_run_waits(tmp_path: Path) -> None:
    """The first generation is answered and faster than the seed; the second is not answered."""
    spool, worker = tmp_path / "spool", TableSandbox()
    session = session_of(tmp_path, ScriptedAuthor(ideas, faster), generations=2)
    session.context = replace(session.context, sandbox=through(Spool(spool)))
    for _ in range(2):
        assert ended(session) == 1
        work(spool, session.context.assignment.task, worker)
        session = session_again(session, ScriptedAuthor(ideas, faster))
    assert ended(session) == 1
    resumed = session_again(session, ScriptedAuthor(ideas, faster))
    assert resumed.is_waiting
    assert resumed.conclude().is_gain
