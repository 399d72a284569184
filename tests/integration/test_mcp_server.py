"""The server for coding agents, by the SDK's own client over stdio: all tools, refusals, cancellation, lost clients."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from records.program_version import program_version
from tests.support.few import few

if find_spec("mcp") is None:
    pytest.skip("the extra mcp is not installed", allow_module_level=True)

import anyio

from app.commands import mcp_command  # noqa: F401 - the command of these tests
from app.mcp import call_process, run_calls, tool_results, tool_server  # noqa: F401 - and what answers them
from app.mcp.tool_server import ACTING, READING
from tests.support.mcp_client import (
    Caller,
    check_note,
    check_resources,
    connected,
    refusal,
    server_command,
    server_environment,
)
from tests.support.short_task import short_task

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


def programs_of(server: int) -> list[str]:
    """Command lines of the processes below a server."""
    programs = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            words = (process / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if parent == server:
            programs.append(" ".join(words))
    return programs


def gone(server: int, deadline_s: float = 30.0) -> bool:
    until = time.monotonic() + deadline_s
    while programs_of(server) and time.monotonic() < until:
        time.sleep(0.05)
    return not programs_of(server)


async def check_list(client: Any) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {*READING, *ACTING}
    for tool in tools.values():
        assert tool.description and tool.output_schema and tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name in READING)


async def check_verdicts(call: Caller, task: str, seed: str) -> None:
    verdicts: dict[str, dict[str, Any]] = {}

    async def checked(name: str, source: str) -> None:
        verdicts[name] = await call("check", task=task, source=source)

    async with anyio.create_task_group() as group:  # several at once, each with its own answer
        group.start_soon(checked, "right", seed)
        group.start_soon(checked, "beyond", seed.replace("i < rows &&", "i <= rows &&"))
        group.start_soon(checked, "broken", seed.replace("const int j", "const itn j"))
    assert verdicts["right"]["accepted"] and verdicts["right"]["time_kind"] == "predicted"
    assert verdicts["right"]["times"][0]["bound"] and verdicts["right"]["resources"]
    [beyond] = verdicts["beyond"]["findings"][:1]
    assert beyond["kind"] == "out_of_bounds" and beyond["line"] == 16 and "guard" in beyond["advice"]
    assert verdicts["broken"]["stage"] == "compile" and verdicts["broken"]["findings"][0]["line"] == 14


async def check_run(call: Caller, folder: Path) -> None:
    run = (await call("run", task="short", tunings=2, picks=1, generations=9))["run_id"]
    assert f"{run} is at work, and no more may be" in await refusal(call.client, "run", task="transpose")
    while not (await call("status", run=run))["result"][0]["best"]:
        await anyio.sleep(0.2)
    assert (await call("stop", run=run))["state"] == "paused"
    best = await call("best", run=run)
    assert best["source"] and best["geomean_us"] > 0
    explanation = await call("explain", about=best["attempt"], run=run)
    assert explanation["verdict"]["accepted"]
    notebook, kernel = [await call.client.read_resource(f"{kind}://{run}") for kind in ("notebook", "kernel")]
    assert f"`{best['attempt']}` accepted" in notebook.contents[0].text and kernel.contents[0].text == best["source"]
    for path, why in (
        ("runs/ledger.db", "ends in .hip"),
        ("Makefile", "ends in .hip"),
        ("a\nb.hip", "can be read"),
        (f"runs/{run}/best.hip", "in the folder of the runs"),
    ):
        assert why in await refusal(call.client, "export", run=run, path=path, replace=True)
    exported = await call("export", run=run, path="best.hip")
    assert (folder / exported["path"]).read_text() == best["source"]
    assert "--max-calls" in await refusal(call.client, "resume", run=run, limits={"max_calls": 0.5})
    assert (await call("resume", run=run, limits={"max_evaluations": 0}))["run_id"] == run
    while (status := (await call("status", run=run))["result"][0])["state"] == "running":
        await anyio.sleep(0.2)
    assert (status["state"], status["best"]["id"]) == ("done", best["attempt"])
    assert "--max-evaluations" in status["reason"]


def test_a_client_lists_and_calls_every_tool(tmp_path: Path, compiler_cache: Path) -> None:
    async def session() -> set[str]:
        async with connected(tmp_path, compiler_cache) as client:
            await check_list(client)
            call = Caller(client)
            listed = [row["name"] for row in (await call("list_tasks"))["result"]]
            assert "transpose" in listed
            sheet = await call("show_task", task="transpose")
            assert sheet["benchmarks"] and "transpose" in sheet["seed_source"] and "def reference" in sheet["reference"]
            seed = sheet["seed_source"]
            (tmp_path / "mine.hip").write_text(seed)
            short_task("transpose", tmp_path / "short", rows=256, cols=256)
            await check_verdicts(call, "short", seed)
            assert "global_load" in (await call("isa", task="transpose", file="mine.hip"))["text"]
            comparison = await call("compare", task="short", left_file="mine.hip", right_source=seed + "// the same\n")
            assert (comparison["verdict"], comparison["speedup"]) == ("same", 1.0) and comparison["text"]
            assert "barrier" in (await call("explain", about="race"))["text"]
            notes = await call("search_notes", query="lds bank conflict", k=2)
            assert len(notes["result"]) == 2 and all(len(n["text"]) < 7000 for n in notes["result"])
            await check_note(call)
            await check_resources(client)
            await check_run(call, tmp_path)
            return call.used

    assert anyio.run(session) == {*READING, *ACTING} - {"optimise", "make_task"}  # test_user_text.py calls it


IMPOSSIBLE: tuple[tuple[str, dict[str, Any], str], ...] = (  # calls, and what the refusal says
    ("check", {"task": "transpose"}, "one of the two"),
    ("check", {"task": "transpose", "sorce": "x"}, "the tool check has no argument 'sorce'; it has task,"),
    ("run", {"task": "transpose", "generatons": 2}, "no argument 'generatons'; it has task, target"),
    ("run", {"task": "transpose", "generations": 0}, "the arguments cannot be: generations: Input should be"),
    ("search_notes", {"query": "", "k": 10**6}, "cannot be: query: String should have"),
    ("show_task", {"task": "ünknown"}, "no 'ünknown' in the workspace; the shipped tasks are batched_gemv"),
    ("list_tasks", {"all": True}, "the tool list_tasks has no argument 'all'; it has none"),
    ("check", {"task": "transpose", "source": "x", "file": "y"}, "one of the two"),
    ("check", {"task": "transpose", "file": "/etc/passwd"}, "no path inside"),
    ("check", {"task": "transpose", "file": "../../etc/passwd"}, "no path inside"),
    ("check", {"task": "transpose", "file": "away/passwd"}, "links are not followed"),
    ("check", {"task": "/etc", "source": "x"}, "no path inside"),
    ("check", {"task": "away", "source": "x"}, "links are not followed"),
    ("show_task", {"task": "linked"}, "'linked/seed.hip' is neither a file nor a folder; links are not"),
    ("show_task", {"task": "gone"}, "no 'gone' in the workspace"),
    ("show_task", {"task": "transpose", "target": "b200"}, "b200"),
    (
        "check",
        {"task": "transpose", "source": "x", "on": "spool:/tmp"},
        "on: Input should be 'lab', 'device' or 'auto'",
    ),
    ("check", {"task": "transpose", "source": "x" * 200_000}, "source: String should have at most"),
    ("isa", {"task": "transpose", "source": "x", "target": "h200"}, "AMD GPUs only"),
    (
        "check",
        {"task": "transpose", "source": "x", "tunables": {"A\nB" + "C" * 900: "one"}},
        "cannot be: tunables.A BCCC",
    ),
    ("search_notes", {"query": "x", "k": 1000}, "k: Input should be less than or equal to 10"),
    ("best", {"run": "last"}, "there are no runs"),
    ("export", {"run": "last", "path": "x.hip"}, "there are no runs"),
    ("export", {"run": "last", "path": "x"}, "ends in .hip"),
    ("run", {"task": "transpose", "author": "llm"}, "--budget-usd"),
    ("run", {"task": "transpose", "author": "llm", "budget_usd": 1000}, "--budget-usd"),
    ("explain", {"about": "nonsense"}, "out_of_bounds"),
)


def test_what_cannot_be_is_one_sentence_and_touches_nothing(tmp_path: Path, compiler_cache: Path) -> None:
    (tmp_path / "away").symlink_to("/etc")
    shutil.copytree(ROOT / "tasks" / "transpose", tmp_path / "linked", ignore=shutil.ignore_patterns("seed.hip"))
    (tmp_path / "linked" / "seed.hip").symlink_to("/etc/passwd")

    async def session() -> None:
        async with connected(tmp_path, compiler_cache) as client:
            for name, wrong, why in IMPOSSIBLE:
                message = await refusal(client, name, **wrong)
                assert why in message and "\n" not in message and len(message) < 800, message
                assert "Traceback" not in message and "root:" not in message

    anyio.run(session)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["away", "linked", "server.log"]
    assert "Traceback" not in (tmp_path / "server.log").read_text()


def begun(folder: Path, cache: Path) -> subprocess.Popen[str]:
    """A server by hand, at work on a check."""
    with (folder / "said").open("w") as log:
        server = subprocess.Popen(
            server_command(),
            cwd=folder,
            env=server_environment(cache),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert server.stdin is not None and server.stdout is not None
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    seed = (ROOT / "tasks" / "transpose" / "seed.hip").read_text()
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "check", "arguments": {"task": "transpose", "source": seed, "whole": True}},
        },
    ):
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
    begun = json.loads(server.stdout.readline())
    assert (begun["id"], begun["result"]["serverInfo"]["version"]) == (1, program_version())
    while not any("kernel_calls" in words for words in programs_of(server.pid)):
        assert server.poll() is None
        time.sleep(0.02)
    return server


@pytest.mark.parametrize("how", few(["cancelled", "client gone", "stopped", "killed"], 3))
def test_a_call_ends_with_its_client_its_server_or_its_cancellation(
    tmp_path: Path, compiler_cache: Path, how: str
) -> None:
    server = begun(tmp_path, compiler_cache)
    calls = [int(process.name) for process in Path("/proc").glob("[0-9]*") if _is_call_of(process, server.pid)]
    assert server.stdin is not None and len(calls) == 1
    if how == "cancelled":
        notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        server.stdin.write(json.dumps(notification) + "\n")
        server.stdin.flush()
        assert gone(server.pid)
        assert server.poll() is None, "the server goes on"
        assert "Traceback" not in (tmp_path / "said").read_text()
        server.stdin.close()
    elif how == "client gone":
        server.stdin.close()
    else:
        server.send_signal(signal.SIGTERM if how == "stopped" else signal.SIGKILL)
    server.wait(timeout=30)
    until = time.monotonic() + 30
    while Path(f"/proc/{calls[0]}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{calls[0]}").exists()
    if server.stdin and not server.stdin.closed:
        server.stdin.close()
    assert server.stdout is not None
    server.stdout.close()


SIGNALLED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "pydantic_core":
            os.kill(os.getpid(), signal.SIGTERM)
sys.meta_path.insert(0, Finder())
"""


def test_a_signal_within_an_import_ends_a_call_at_once_and_is_no_exception_there() -> None:
    request = {"call": "show_task", "kernels": [], "task": "transpose", "target": "mi300x"}
    words = [sys.executable, "-P", "-c", SIGNALLED + call_process.PROGRAM, str(ROOT)]
    process = subprocess.run(words, input=json.dumps(request) + "\n", capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (-signal.SIGTERM, "", "")


def _is_call_of(process: Path, server: int) -> bool:
    try:
        parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        return parent == server and "kernel_calls" in (process / "cmdline").read_text()
    except OSError:
        return False


def test_without_the_extra_the_command_names_it(tmp_path: Path) -> None:
    hidden = (
        "import sys; sys.modules['mcp'] = None; sys.path.insert(0, sys.argv.pop(1)); from app.cli import main; main()"
    )
    words = [sys.executable, "-P", "-c", hidden, server_command()[4], "mcp"]
    process = subprocess.run(words, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert process.returncode == 2 and ".[mcp]" in process.stderr and process.stderr.count("\n") == 1
