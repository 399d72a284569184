"""Measured kernels are predicted by the lab: from a table and from a ledger, whose report then compares the two."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli import run_command
from page.foretold import foretold
from records.artefacts import ArtefactStore
from records.evaluation import Evaluation, Measurement, Verdict
from records.experiment import Attempt, Experiment, Run
from records.ledger import Ledger
from sandbox.candidate.prepare import Preparer
from sandbox.target_file import read_target_file
from tasks.loader import load_task
from tests.support.short_task import short_task

SEED = Path(__file__).parents[2] / "tasks" / "row_softmax" / "seed.hip"
CASE = "rows=512,cols=1024"


@pytest.fixture
def workdir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    short_task("row_softmax", tmp_path / "short", rows=512, cols=1024)
    (tmp_path / "seed.hip").write_bytes(SEED.read_bytes())
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert run_command(["calibrate", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_table_gives_factors_that_a_target_file_holds(
    capsys: pytest.CaptureFixture[str], workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"seed.hip\tshort\t{CASE}\t50", "seed.hip\tshort\trows=64,cols=1024\t40"]
    (workdir / "rows.tsv").write_text("\n".join(["kernel\ttask\tcase\tmeasured_us", *rows]) + "\n")
    report = told(capsys, "rows.tsv", "--write", "own.toml")
    assert [(pair["case"], pair["measured_us"]) for pair in report["pairs"]] == [(CASE, 50), ("rows=64,cols=1024", 40)]
    assert report["before"]["count"] == 2 and report["written"] == "own.toml"
    factors = read_target_file(workdir / "own.toml").factors
    assert factors == {name: pytest.approx(f["factor"], rel=1e-3) for name, f in report["factors"].items()}
    monkeypatch.setenv("KERNEL_SCIENTIST_TARGET_FILE", "own.toml")
    assert told(capsys, "rows.tsv")["before"] == report["before"], "no factor is applied twice"
    run_command(["check", "seed.hip", "--task", "short", "--json"])
    (timed,) = [c for c in json.loads(capsys.readouterr().out)["cases"] if c["time_us"] is not None]
    first = report["pairs"][0]
    assert timed["time_us"] == pytest.approx(first["predicted_us"] * factors[timed["bound"]], rel=0.02)
    assert run_command(["calibrate", "rows.tsv"]) == 0
    out = capsys.readouterr().out
    assert "over 2 pairs: median measured / predicted" in out and "with them, on the same pairs" in out


def measured_run(folder: Path) -> tuple[Ledger, Run]:
    """A ledger with one kernel that was measured on an MI300X."""
    ledger = Ledger(folder / "ledger.db")
    run = Run("run-1", str(folder.parent / "short"), "mi300x", "device", "playbook", 0)
    ledger.add_run(run)
    ledger.add_experiment(Experiment("g000-e0", run.id, 0, 0, None, None, "seed", ""))
    source = SEED.read_text()
    prepared = Preparer().prepare(source, load_task(folder.parent / "short"))
    row = Measurement(CASE, 60.0, "measured", "a GPU", 59.0, 61.0)
    evaluation = Evaluation("key", prepared.id, prepared.tunables, Verdict("time", True, "OK"), measurements=(row,))
    ledger.add_evaluation(run.id, evaluation)
    digest = ArtefactStore(folder / "artefacts", ledger).put(source)
    identity = ("g000-e0-a0", run.id, "g000-e0", 0, 0, prepared.id, digest, "accepted", "key")
    ledger.add_attempt(replace(Attempt(*identity), geomean_us=60.0, time_kind="measured"))  # type: ignore[arg-type]
    return ledger, run


def test_a_ledger_keeps_the_predictions_for_its_report(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    (workdir / "runs").mkdir()
    ledger, run = measured_run(workdir / "runs")
    assert foretold(ledger, run, ledger.attempts(run.id)) == ()
    ledger.close()
    factors = told(capsys)
    assert told(capsys, "runs")["pairs"] == told(capsys, "runs/ledger.db")["pairs"] == factors["pairs"]
    with Ledger(workdir / "runs" / "ledger.db") as reopened:
        (pair,) = foretold(reopened, run, reopened.attempts(run.id))
    assert (pair.measured_us, pair.predicted_us) == (60.0, factors["pairs"][0]["predicted_us"])
    assert run_command(["report", "run-1"]) == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["none.tsv"], 2, "there is no none.tsv"),
        (["short"], 2, "there is no ledger in short"),
        (["seed.hip"], 2, "must begin with the headings"),
        (["seed.hip", "--target", "h200"], 3, "the lab does not know the target h200"),
        (["empty.tsv"], 2, "empty.tsv has no kernel that was measured on mi300x"),
        ([], 2, "there are no runs"),
    ],
)
def test_bad_input_is_one_sentence(
    capsys: pytest.CaptureFixture[str], workdir: Path, words: list[str], code: int, message: str
) -> None:
    (workdir / "empty.tsv").write_text("kernel\ttask\tcase\tmeasured_us\n")
    assert run_command(["calibrate", *words]) == code
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1
