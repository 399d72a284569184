"""The worker as people start it: a process of its own, with the real compiler and the real lab."""

from __future__ import annotations

import json
import re
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import run_command
from sandbox.worker import main
from tasks.loader import load_task
from tests.support.compiler_cache import share_toolchain
from tests.support.short_task import short_task

ROOT = Path(__file__).resolve().parents[2]
SEED = ROOT / "tasks" / "row_softmax" / "seed.hip"
BROKEN = "no kernel at all\n"


@pytest.fixture(autouse=True)
def workdir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiler_cache: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    (tmp_path / "broken.hip").write_text(BROKEN)
    return tmp_path


def worker(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sandbox.worker", "--cache", str(cache), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def check(*arguments: str) -> int:
    return run_command(["check", *arguments, "--json"])


@pytest.mark.slow
def test_a_kernel_is_judged_through_a_folder(
    capsys: pytest.CaptureFixture[str], workdir: Path, compiler_cache: Path
) -> None:
    task = short_task("row_softmax", workdir / "short", rows=256, cols=96)
    through = (str(SEED), "--task", str(task), "--on", "spool:there")
    assert check(*through) == 1
    assert "waiting for 1 result in" in capsys.readouterr().err
    process = worker(compiler_cache, "--spool", str(workdir / "there"), "--once", "--on", "lab", "--allow-tasks")
    assert (process.returncode, process.stdout) == (0, ""), process.stderr
    assert "1 request done" in process.stderr
    assert check(*through) == 0
    spooled = json.loads(capsys.readouterr().out)
    assert check(str(SEED), "--task", str(task)) == 0
    answer = json.loads(capsys.readouterr().out)
    loaded = load_task(str(task))
    listed = {case.name for case in (*loaded.tests, *loaded.benchmarks)}
    for verdict in (spooled, answer):  # each process draws inputs and shapes that are not listed itself
        verdict["cases"] = [(c["name"], c["correct"]) for c in verdict["cases"] if c["name"] in listed]
    assert {name for name, _ in answer["cases"]} == listed
    assert spooled == answer


def test_a_task_of_ones_own_travels_along_where_that_is_allowed(
    capsys: pytest.CaptureFixture[str], workdir: Path, compiler_cache: Path
) -> None:
    own_task = short_task("row_softmax", workdir / "own_softmax", rows=256, cols=96)
    through = ("broken.hip", "--task", str(own_task), "--on", "spool:there")
    once = ["--cache", str(share_toolchain(workdir / "cache")), "--spool", "there", "--once", "--on", "lab"]
    assert check(*through) == 1
    assert main(once) == 0
    assert check(*through) == 3
    err = capsys.readouterr().err
    assert "brings code of its own, which a worker executes only when it was started with --allow-tasks" in err
    assert check(*through) == 1
    assert main([*once, "--allow-tasks"]) == 0
    capsys.readouterr()
    assert check(*through) == 1
    assert json.loads(capsys.readouterr().out)["code"] == "A.2"


def test_another_copy_of_a_task_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workdir: Path
) -> None:
    from sandbox.remote.message import Request
    from sandbox.remote.spool import Spool

    spool, cache = Spool(workdir / "there"), share_toolchain(workdir / "cache")
    from sandbox.judge_digest import judge_digest

    for harness, task, words in (
        (judge_digest(), "row_softmax", "is not the one asked for"),
        (judge_digest(), "../row_softmax", "the worker has no task"),
        ("0", "row_softmax", "the request is of harness 0 and this worker of"),
    ):
        request = Request(harness, "mi300x", spool.id, 0, task, "0" * 64, BROKEN, None, ("compile",))
        spool.put(request)
        assert main(["--cache", str(cache), "--spool", "there", "--once", "--on", "lab"]) == 0
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "give either --spool DIR or --serve HOST:PORT"),
        (["--spool", "x", "--serve", "127.0.0.1:0"], 2, "give either"),
        (["--serve", "127.0.0.1:0"], 2, "--serve needs --token-file"),
        (["--serve", "nowhere", "--token-file", "broken.hip", "--on", "lab"], 2, "HOST:PORT"),
        (["--serve", "127.0.0.1:0", "--token-file", "none", "--on", "lab"], 2, "the token file none cannot be read"),
        (["--spool", "broken.hip", "--on", "lab", "--once"], 3, "the spool folder broken.hip cannot be written to"),
        (["--spool", "x", "--target", "moon"], 2, "there is no target 'moon'"),
        (["--spool", "x", "--gpus", "first"], 2, "--gpus is all or a list like 0,1"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_kernel_is_judged_by_a_served_worker_until_it_is_stopped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workdir: Path, compiler_cache: Path
) -> None:
    token = workdir / "token"
    token.write_text(secrets.token_hex(32))
    token.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("KERNEL_SCIENTIST_WORKER_TOKEN", token.read_text())
    arguments = [
        sys.executable,
        "-m",
        "sandbox.worker",
        "--serve",
        f"127.0.0.1:{port}",
        "--token-file",
        str(token),
        "--on",
        "lab",
        "--cache",
        str(compiler_cache),
    ]
    with subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert "listening on" in server.stderr.readline()
        assert check("broken.hip", "--task", "row_softmax", "--on", f"worker:127.0.0.1:{port}") == 1
        assert json.loads(capsys.readouterr().out)["code"] == "A.2"
        monkeypatch.setenv("KERNEL_SCIENTIST_WORKER_TOKEN", "0" * 64)
        assert check("broken.hip", "--task", "row_softmax", "--on", f"worker:127.0.0.1:{port}") == 3
        assert "refused the token" in capsys.readouterr().err
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) == 130
        stderr = server.stderr.read()
    assert token.read_text() not in stderr
    assert "interrupted" in stderr


def test_the_worker_needs_only_numpy_and_ml_dtypes() -> None:
    program = (
        "import sys, sandbox.worker; "
        "print(sorted({name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))"
    )
    process = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    packages = set(re.findall(r"'(\w+)'", process.stdout))
    assert {"numpy", "ml_dtypes", "sandbox", "tasks", "records"} <= packages
    assert (
        packages & {"app", "graph", "agents", "knowledge", "langgraph", "pydantic", "typer", "ziglang", "rich"} == set()
    )
