"""The commands that look and list: runs, tasks, documents and the machine, readable and as JSON."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from app.cli import run_command
from records.program_version import program_version
from tasks.loader import task_names
from tests.support.compiler_cache import share_toolchain

ROOT = Path(__file__).resolve().parents[2]


SEED = ROOT / "tasks" / "row_softmax" / "seed.hip"


WEAK = """
name = "constant"
title = "Nothing"
description = "Writes zeros, whatever comes in."
targets = ["mi300x"]
[[input]]
name = "x"
dtype = "f32"
shape = ["rows", "cols"]
[[output]]
name = "y"
dtype = "f32"
shape = ["rows", "cols"]
[[test]]
rows = 7
cols = 10
[[benchmark]]
rows = 64
cols = 64
[work]
flops = "rows * cols"
bytes = "8 * rows * cols"
peak = "fp32_vector"
[tolerance]
ratio = 2.0
"""


@pytest.fixture(autouse=True)
def workdir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    share_toolchain(tmp_path / "cache" / "kernel-scientist")
    (tmp_path / "file").write_text("not a folder")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], arguments: Sequence[str], code: int) -> str:
    """Run a command that must fail with one sentence on standard error and nothing on standard output."""
    assert run_command(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("kernel-scientist: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_an_error_is_json_where_json_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kernel = tmp_path / "k.hip"
    kernel.write_text("x", encoding="utf-8")
    assert run_command(["check", str(kernel), "--task", "nowhere", "--json"]) == 2
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert answer["exit_code"] == 2
    assert answer["error"].startswith("there is no task 'nowhere'") and answer["error"] in captured.err


def test_no_runs_is_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_tasks_are_listed_with_shapes_types_and_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["tasks", "row_softmax", "--json"]) == 0
    (task,) = json.loads(capsys.readouterr().out)
    assert task["inputs"] == [{"name": "x", "dtype": "f32", "shape": ["rows", "cols"], "layout": "row_major"}]
    assert task["seeds"][0] == "seed.hip"
    assert run_command(["tasks"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]] == task_names()
    assert run_command(["tasks", *task_names()]) == 0
    out = capsys.readouterr().out
    assert "x: f32[rows, cols]" in out
    assert "fp8_block_gemm" in out


def test_seeds_and_types_are_those_of_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    types = {}
    for target in ("mi300x", "h200"):
        assert run_command(["tasks", "--target", target, "--json"]) == 0
        (task,) = [t for t in json.loads(capsys.readouterr().out) if t["name"] == "fp8_block_gemm"]
        assert task["target"] == target
        types[target] = task["seeds"], task["inputs"][0]["dtype"]
    assert types["mi300x"] == (["seed.hip", "seed_mfma.mi300x.hip"], "e4m3fnuz")
    assert types["h200"] == (["seed.h200.hip", "seed_mma.h200.hip", "seed_wgmma.h200.hip"], "e4m3fn")
    assert run_command(["tasks", "fp8_block_gemm"]) == 0
    assert "for mi300x: seed.hip, seed_mfma.mi300x.hip\n" in capsys.readouterr().out


def test_a_task_that_is_not_for_the_target_is_one_sentence(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    weak_task(workdir)
    message = refused(capsys, ["tasks", "./constant", "--target", "h200"], 2)
    assert "the task constant is not for h200, but for mi300x" in message


def weak_task(workdir: Path) -> Path:
    folder = workdir / "constant"
    folder.mkdir()
    (folder / "seed.hip").write_text(SEED.read_text())
    (folder / "task.toml").write_text(WEAK)
    (folder / "reference.py").write_text(
        "import numpy as np\n"
        "def make_inputs(case, rng):\n"
        "    return {'x': rng.standard_normal((case.dims['rows'], case.dims['cols'])).astype(np.float32)}\n"
        "def reference(inputs, case):\n    return {'y': np.zeros(inputs['x'].shape)}\n"
        "def baseline(inputs, case):\n    return {'y': np.zeros(inputs['x'].shape, np.float32)}\n"
    )
    return folder


def test_a_weak_task_is_a_clean_no(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    code = run_command(["tasks", "--lint", str(weak_task(workdir)), "--json"])
    out, err = capsys.readouterr()
    assert code == 1
    assert err.count("\n") == 1 and "not used here before" in err
    assert json.loads(out)["constant"]


def test_documents_come_in_are_found_and_go(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    (workdir / "note.md").write_text("# Zebra stripes in LDS\n\nZebra padding of 33 words avoids bank conflicts.\n")
    assert run_command(["knowledge", "add", "note.md", "--json"]) == 0
    (added,) = json.loads(capsys.readouterr().out)
    assert added["status"] == "added"
    assert run_command(["knowledge", "add", "note.md"]) == 0
    assert capsys.readouterr().out == f"unchanged {added['id']}  Zebra stripes in LDS (1 passage)\n"
    assert run_command(["knowledge", "list", "--mine"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(str(workdir / "note.md"))
    assert run_command(["knowledge", "search", "zebra padding", "-k", "2", "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)
    assert list(hits[0]) == ["score", "passage", "document", "title", "section", "text", "source", "licence"]
    assert hits[0]["document"] == added["id"]
    assert run_command(["knowledge", "search", "zebra padding", "-k", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "1. Zebra stripes in LDS"
    assert run_command(["knowledge", "remove", added["id"], "--json"]) == 0
    capsys.readouterr()
    assert run_command(["knowledge", "list", "--json"]) == 0
    assert added["id"] not in [d["id"] for d in json.loads(capsys.readouterr().out)]


def test_of_a_long_title_the_beginning_is_shown(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    (workdir / "note.md").write_text(f"# {'zebra ' * 3000}\n\nIts stripes.\n")
    for words in (
        ["add", "note.md"],
        ["list", "--mine"],
        ["search", "zebra stripes", "-k", "1"],
        ["remove", "*/note.md"],
    ):
        assert run_command(["knowledge", *words]) == 0
        out = capsys.readouterr().out
        assert "zebra zebra" in out and "…" in out and max(map(len, out.splitlines())) < 200 + len(str(workdir))


def test_a_page_comes_in_from_a_host_that_is_named(
    capsys: pytest.CaptureFixture[str], workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workdir / "zebra.html").write_text("<h1>Zebra pages</h1><p>A zebra crosses the fabric of eight dies.</p>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(workdir))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/zebra.html"
        assert run_command(["knowledge", "add", address]) == 2
        assert "KERNEL_SCIENTIST_FETCH_HOSTS" in capsys.readouterr().err
        monkeypatch.setenv("KERNEL_SCIENTIST_FETCH_HOSTS", f"example.org, 127.0.0.1:{server.server_port}")
        assert run_command(["knowledge", "add", address]) == 0
        server.shutdown()
    assert "Zebra pages" in capsys.readouterr().out
    assert run_command(["knowledge", "search", "zebra dies", "-k", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["source"] == address
    assert run_command(["knowledge", "remove", f"{address[:22]}*"]) == 0


def test_a_folder_comes_in_without_its_bad_files(capsys: pytest.CaptureFixture[str], workdir: Path) -> None:
    (workdir / "docs").mkdir()
    (workdir / "docs" / "good.rst").write_text("=====\nGood\n=====\n\nA zebra in the LDS.\n")
    (workdir / "docs" / "empty.md").write_text("")
    assert run_command(["knowledge", "add", "docs", "--licence", "MIT"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "1 added, 1 skipped" and "Good (1 passage)" in out
    assert err.count("\n") == 1 and "empty.md is empty" in err
    assert run_command(["knowledge", "list", "--mine", "--json"]) == 0
    (mine,) = json.loads(capsys.readouterr().out)
    assert (mine["title"], mine["licence"], mine["source"]) == ("Good", "MIT", "docs/good.rst")
    assert run_command(["knowledge", "remove", "docs/*"]) == 0
    assert run_command(["knowledge", "check"]) == 0
    assert run_command(["knowledge", "list", "--mine", "--json"]) == 0
    assert capsys.readouterr().out.endswith("the knowledge store is sound\n[]\n")
    assert run_command(["knowledge", "rebuild", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passages"] > 100


def test_doctor_says_what_there_is_with_a_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workdir: Path
) -> None:
    assert run_command(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    lines = {line["name"]: line for line in answer["lines"]}
    assert answer["ready"] is True
    assert program_version() in lines["program"]["found"]
    assert "clang" in lines["compiler (gfx942, lab)"]["found"]
    assert [name for name, line in lines.items() if line["state"] == "missing" and not line["remedy"]] == []
    monkeypatch.setenv("KERNEL_SCIENTIST_RUNS_FOLDER", str(workdir / "file" / "runs"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("KERNEL_SCIENTIST_MODEL_RETRIES", "0")
    assert run_command(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "set KERNEL_SCIENTIST_RUNS_FOLDER to another place" in out
    assert re.search(r"^missing +model", out, re.MULTILINE)
    assert "not ready" in out
