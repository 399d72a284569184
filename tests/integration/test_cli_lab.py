"""The command line on the real compiler and the real lab."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.cli import run_command
from records.ledger import Ledger
from tests.support.short_task import short_task

SEED = Path(__file__).resolve().parents[2] / "tasks" / "row_softmax" / "seed.hip"


@pytest.fixture(autouse=True)
def workdir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiler_cache: Path) -> Path:
    """Runs go to a folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    monkeypatch.setenv("KERNEL_SCIENTIST_KNOWLEDGE_FOLDER", str(tmp_path / "knowledge"))
    return tmp_path


def test_a_seed_is_accepted_with_all_its_evidence(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    short_task("row_softmax", workdir / "short", rows=512, cols=1024)
    assert run_command(["check", str(SEED), "--task", "short", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["accepted"], answer["stage"], answer["code"], answer["findings"]) == (True, "time", "OK", [])
    assert answer["resources"]["vgpr"] > 0
    timed = [c for c in answer["cases"] if c["time_us"] is not None]
    assert timed
    assert {c["time_kind"] for c in timed} == {"predicted"}
    assert all(0 < c["roofline_fraction"] <= 1 and c["bound"] for c in timed)
    assert all(c["correct"] for c in answer["cases"] if c["correct"] is not None)
    assert answer["counters"]["TCC_READ"] == answer["kernel_counters"]["row_softmax"]["TCC_READ"] > 0
    binding = [(c["resources_us"], c["bound"]) for c in timed]
    assert all(bound == "latency" or needs[bound] == max(needs.values()) for needs, bound in binding)
    assert {h["kernel"] for h in answer["hot_lines"]} == {"row_softmax"}
    assert all(0 < share <= 1 for h in answer["hot_lines"] for share in h["shares"].values())
    assert "is bound by" in answer["explanation"]


def test_the_readable_verdict_shows_the_line_that_is_wrong(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    source = SEED.read_text().replace("__global__", "__globl__", 1)
    line = next(n for n, text in enumerate(source.split("\n"), 1) if "__globl__" in text)
    (workdir / "broken.hip").write_text(source)
    assert run_command(["check", "broken.hip", "--task", "row_softmax"]) == 1
    out = capsys.readouterr().out
    assert "rejected at stage compile" in out
    assert re.search(rf"line {line}: compile error: ", out)
    assert re.search(rf"^ +> +{line} \| .*__globl__", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('kernel = "row_softmax"', 'kernel = "softmax"', 2, "launches 'softmax', but the source has no such kernel"),
        ('"rows", "cols"]', '"rows"]', 2, "launch plan: the plan passes 3 arguments to row_softmax, but"),
        ('"y", "rows"', '"rows", "y"', 2, "launch plan: argument 2 of row_softmax: the plan passes the i32 value"),
        ('"ceil_div(rows, 64)"', "0", 2, "launch plan: grid of row_softmax is 0"),
        ('"ceil_div(rows, 64)"', '"rows - 9999"', 2, "launch plan: grid of row_softmax is -9992"),
        ('lds = "0"', "ldss = 0", 6, "launch plan: launch 1 has the unknown key 'ldss'"),
    ],
)
def test_what_is_wrong_with_a_plan_is_called_so_with_its_line(
    capsys: pytest.CaptureFixture[str], workdir: Path, old: str, new: str, line: int, words: str
) -> None:
    source = SEED.read_text()
    assert source.count(old) == 1
    (workdir / "k.hip").write_text(source.replace(old, new))
    assert run_command(["check", "k.hip", "--task", "row_softmax"]) == 1
    out = capsys.readouterr().out
    assert words in out
    assert re.search(rf"^ +> +{line} \| ", out, re.MULTILINE)


def test_a_case_that_was_stopped_is_told_once(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    (workdir / "k.hip").write_text(SEED.read_text().replace("if (row >= rows) return;", ""))
    assert run_command(["check", "k.hip", "--task", "row_softmax"]) == 1
    out = capsys.readouterr().out
    assert out.count("out of bounds: work-item") == out.count(" reads x[") == 1
    assert re.search(r"rows=7,cols=1000 +test +stopped, see above", out)
    assert "sample" not in out


def test_the_readable_verdict_says_that_times_are_predicted(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    short_task("row_softmax", workdir / "short", rows=512, cols=1024)
    assert run_command(["check", str(SEED), "--task", "short"]) == 0
    out = capsys.readouterr().out
    for expected in (
        "seed.hip: accepted",
        "Resources, by the compiler",
        "Verification",
        "Times: predicted, not measured",
        "geometric mean",
        "Counters",
        "is bound by",
    ):
        assert expected in out
    stores = next(n for n, text in enumerate(SEED.read_text().split("\n"), 1) if "y[j] =" in text)
    assert re.search(rf"^  {stores} +row_softmax .*l2 requests \S+ \(\d+%\).* y\[j\] = expf", out, re.MULTILINE)
    assert re.search(r"^  case +launch .*hbm", out, re.MULTILINE)
    assert re.search(r"^  rows=512,cols=1024 .*\d", out, re.MULTILINE)  # the star marks what binds


FEW = ["--generations", "1", "--picks", "1", "--tunings", "2", "--limit", "explorations=1", "--limit", "dispatch=0"]


@pytest.mark.parametrize(
    ("words", "task"),
    [
        pytest.param(["run", "short", "--author", "playbook", *FEW], "short", marks=pytest.mark.slow),
        pytest.param(["demo", "--generations", "1"], "row_softmax", marks=pytest.mark.long),
    ],
)
def test_a_run_makes_a_verified_kernel_and_can_be_looked_at(
    capsys: pytest.CaptureFixture[str], workdir: Path, words: list[str], task: str
) -> None:
    short_task("row_softmax", workdir / "short", rows=256, cols=256)
    assert run_command([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    best = answer["best"]
    assert best["speedup_over_seed"] > 1
    assert (best["time_kind"], answer["usd"], answer["llm_calls"]) == ("predicted", 0.0, 0)
    assert run_command(["check", best["path"], "--task", task, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accepted"]
    assert run_command(["runs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["run_id"], row["status"]) == (answer["run_id"], "done")
    assert run_command(["report", "last", "--out", "page.html"]) == 0
    page = (workdir / "page.html").read_text()
    assert best["id"] in page and '"time_kind":"predicted"' in page.replace(" ", "")
    capsys.readouterr()
    assert run_command(["resume", "last", "--json"]) == 0  # a run that is done is told again, not run again
    assert json.loads(capsys.readouterr().out)["best"] == best


@pytest.mark.long
def test_a_run_begins_with_several_files_and_goes_on_beyond_its_end(
    capsys: pytest.CaptureFixture[str], workdir: Path
) -> None:
    short_task("row_softmax", workdir / "short", rows=256, cols=256)
    kernel = SEED.read_text()
    (workdir / "mine.hip").write_text(kernel)
    (workdir / "wrong.hip").write_text(kernel.replace("y[j] = expf", "y[j] = 2.0f * expf"))
    words = ["short", "--author", "playbook", "--from", "mine.hip", "--from", "wrong.hip", "--no-seeds", *FEW]
    assert run_command(["run", *words, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert run_command(["resume", "last", "--generations", "2", "--budget-usd", "3", "--json"]) == 0
    more = json.loads(capsys.readouterr().out)
    assert (first["generations"], more["generations"], more["run_id"]) == (1, 2, first["run_id"])
    assert more["attempts"] > first["attempts"]
    with Ledger(workdir / "runs" / "ledger.db") as ledger:
        run = ledger.run(first["run_id"])
        begun = ledger.experiments(run.id, 0)
        assert [e.title for e in begun] == ["file mine.hip", "file wrong.hip"]
        assert [a.status for a in ledger.attempts(run.id, 0)] == ["accepted", "rejected"]
        assert run.status == "done" and ledger.experiments(run.id, 2)


@pytest.mark.slow
def test_a_dead_endpoint_is_one_sentence_and_a_run_that_can_go_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workdir: Path
) -> None:
    short_task("row_softmax", workdir / "short", rows=256, cols=256)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("KERNEL_SCIENTIST_MODEL_RETRIES", "0")
    assert run_command(["run", "short", "--author", "llm", *FEW, "--json"]) == 3
    out, err = capsys.readouterr()
    before, last = err.rstrip("\n").splitlines()[-2:]
    assert json.loads(out) == {"error": last.removeprefix("kernel-scientist: "), "exit_code": 3}
    assert re.search(r"continue with: kernel-scientist resume \d+-\d+-row_softmax-", before)
    assert last.startswith("kernel-scientist: ")
    assert "127.0.0.1:9" in last
    assert "Traceback" not in err
    assert run_command(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["status"] == "paused"


def test_check_keeps_the_files_of_an_accepted_and_of_a_rejected_kernel(
    capsys: pytest.CaptureFixture[str], workdir: Path
) -> None:
    short_task("row_softmax", workdir / "short", rows=256, cols=256)
    assert run_command(["check", str(SEED), "--task", "short", "--keep", "kept"]) == 0
    folder, readme = workdir / "kept", (workdir / "kept" / "README.txt").read_text()
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name != "README.txt"]
    listed = [line.split()[0] for line in readme.split("\n") if line.startswith("  ") and "=" not in line.split()[0]]
    assert [path for path in files if not any(path.match(pattern) for pattern in listed)] == []
    assert any((folder / "images").iterdir())
    assert "row_softmax" in (folder / "gpu" / "candidate.s").read_text()
    assert json.loads((folder / "run-01" / "result.json").read_text())["findings"] == []
    source = SEED.read_text().replace("j < cols; ++j) top", "j < cols + 900; ++j) top", 1)
    (workdir / "broken.hip").write_text(source)
    assert run_command(["check", "broken.hip", "--task", "short", "--keep", "kept"]) == 1
    last = max(path for path in folder.glob("run-*"))
    assert json.loads((last / "result.json").read_text())["findings"]
    assert (folder / "gpu" / "candidate.hip").read_text() == source
    capsys.readouterr()
    assert run_command(["check", str(SEED), "--task", "row_softmax", "--keep", str(workdir)]) == 2
    assert "holds other files" in capsys.readouterr().err
