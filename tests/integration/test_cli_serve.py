"""`serve` as a process: its address, its end, its refusals; and the machine code that the page asks for."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.disassembly import disassembler
from app.live_page import is_loopback, names_of
from app.settings import Settings
from records.experiment import Run
from tests.support.compiler_cache import share_toolchain
from tests.support.long_run import LongRun

pytest.importorskip("starlette")

ROOT = Path(__file__).resolve().parents[2]
SEED = ROOT / "tasks" / "row_softmax" / "seed.hip"
WITHOUT = (
    "import sys; sys.modules['starlette'] = None; from app.cli import run_command; sys.exit(run_command(['serve']))"
)


@contextlib.contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the address that it prints."""
    environment = {**os.environ, "KERNEL_SCIENTIST_RUNS_FOLDER": str(folder)}
    command = [sys.executable, "-m", "app", "serve", "--port", "0", *options]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        yield process, next(line.strip() for line in lines if line.strip().startswith("http://"))
    finally:
        process.kill()
        process.communicate()


def status_of(address: str, **headers: str) -> tuple[int, str]:
    host, _, path = address.removeprefix("http://").partition("/")
    with contextlib.closing(http.client.HTTPConnection(host, timeout=60)) as connection:
        connection.request("GET", f"/{path}", headers=headers)
        with connection.getresponse() as answer:
            return answer.status, answer.read().decode()


def test_it_prints_an_address_with_a_token_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    long_run = LongRun(tmp_path)
    long_run.write(10)
    long_run.ledger.close()
    with serving(tmp_path) as (process, address):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", address)
        status, text = status_of(address)
        assert (status, '<script src="page.js" defer></script>' in text) == (200, True)
        assert status_of(address.partition("?")[0])[0] == 401
        assert status_of(address, Host="evil.example")[0] == 421
        port, token = re.findall(r":(\d+)/\?token=(.*)", address)[0]
        status, text = status_of(f"http://127.0.0.1:{port}/api/runs", Cookie=f"kernel_scientist_{port}={token}")
        assert (status, long_run.run_id in text) == (200, True)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")


def test_without_the_extra_it_is_one_sentence(tmp_path: Path) -> None:
    process = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (2, "")
    assert "needs starlette, of the extra `page`" in process.stderr
    assert len(process.stderr.splitlines()) == 1


def test_it_opens_before_the_first_run(tmp_path: Path) -> None:
    with serving(tmp_path / "new") as (_, address):
        port, token = re.findall(r":(\d+)/\?token=(.*)", address)[0]
        status, text = status_of(f"http://127.0.0.1:{port}/api/runs", Cookie=f"kernel_scientist_{port}={token}")
        assert (status, json.loads(text)["runs"]) == (200, [])


def test_a_port_in_use_is_one_sentence_and_makes_no_folder(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        command = [sys.executable, "-m", "app", "serve", "--port", str(door.getsockname()[1])]
        environment = {**os.environ, "KERNEL_SCIENTIST_RUNS_FOLDER": str(tmp_path / "runs")}
        process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (process.returncode, len(process.stderr.splitlines())) == (2, 1)
    assert "cannot listen on 127.0.0.1" in process.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("host", "is_own", "last"),
    [
        ("127.0.0.1", True, "127.0.0.1"),
        ("localhost", True, "localhost"),
        ("127.0.0.5", True, "127.0.0.5"),
        ("::1", True, "[::1]"),
        ("192.0.2.7", False, "192.0.2.7"),
        ("2001:db8::7", False, "[2001:db8::7]"),
        ("gpu-box", False, "gpu-box"),
    ],
)
def test_the_names_of_an_address(host: str, is_own: bool, last: str) -> None:
    assert is_loopback(host) is is_own
    assert names_of(host)[-1] == last
    assert {"127.0.0.1", "localhost"} <= set(names_of(host))


@pytest.fixture
def compiling(tmp_path: Path, compiler_cache: Path) -> Settings:
    return Settings(cache_folder=share_toolchain(tmp_path / "cache"))


def test_machine_code_is_shown_from_the_cache_and_compiled_only_where_asked(compiling: Settings) -> None:
    run, source = Run("r", "row_softmax", "mi300x", "lab", "playbook", 7), SEED.read_text(encoding="utf-8")
    stored = disassembler(compiling, run, compiles=False)
    assert "not in the compiler's cache" in stored(source, {}).refusal
    compiled = disassembler(compiling, run, compiles=True)(source, {})
    (rows,) = compiled.kernels.values()
    assert "s_endpgm" in {row.text for row in rows}
    assert {row.line for row in rows} & set(range(1, source.count("\n") + 1))
    assert stored(source, {}) == compiled


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("int x;", "mi300x", "plan"),
        (SEED.read_text(encoding="utf-8").replace("float", "flaot"), "mi300x", "does not compile"),
        ("x", "h200", "AMD GPUs only"),
        ("x", "nosuch", "there is no target"),
    ],
)
def test_what_has_no_machine_code_says_why(compiling: Settings, source: str, target: str, words: str) -> None:
    run = Run("r", "row_softmax", target, "lab", "playbook", 7)
    listing = disassembler(compiling, run, compiles=True)(source, {})
    assert (dict(listing.kernels), words in listing.refusal) == ({}, True), listing.refusal
