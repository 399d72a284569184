"""`langgraph dev` and its SDK on the lab: start, stream, approve, fork, resume, several at once, faults in words."""

from __future__ import annotations

import json
import os
import site
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
START_S = 120.0
ASKED = {"task": "transpose", "author": "playbook", "on": "lab", "limits": {"generations": 1, "picks": 1, "tunings": 1}}


@pytest.fixture(scope="module")
def server() -> Path:
    """The server's own environment over this one, kept in the cache for the next time."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["serve"]
    folder = ROOT / ".cache" / "serve" / f"{sys.version_info[0]}.{sys.version_info[1]}"
    stamp = folder / "installed.json"
    built = json.dumps([str(ROOT), sys.prefix, wanted])  # an environment over another checkout is no good here
    if not stamp.exists() or stamp.read_text() != built:
        venv.create(folder, with_pip=True, clear=True)
        [packages] = folder.glob("lib/python*/site-packages")
        here = [str(ROOT), *site.getsitepackages(), *(p for p in sys.path if p.endswith("site-packages"))]
        (packages / "zz_beneath.pth").write_text("\n".join(dict.fromkeys(here)) + "\n")
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input", *wanted]
        subprocess.run(install, check=True)
        stamp.write_text(built)
    return folder / "bin" / "langgraph"


@pytest.fixture(scope="module")
def client(server: Path, compiler_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("served")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "KERNEL_SCIENTIST_RUNS_FOLDER": str(folder / "runs"),
        "KERNEL_SCIENTIST_CACHE_FOLDER": str(compiler_cache),
        "LANGGRAPH_NO_VERSION_CHECK": "true",
    }
    start = [str(server), "dev", "--port", str(port), "--no-browser", "--no-reload", "--n-jobs-per-worker", "4"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(start, cwd=ROOT, env=environment, stdout=log, stderr=log)
    url, until = f"http://127.0.0.1:{port}", time.monotonic() + START_S
    try:
        while not answers(url):
            assert process.poll() is None and time.monotonic() < until, (folder / "log").read_text()[-3000:]
            time.sleep(0.2)
        with get_sync_client(url=url) as found:
            yield found
    finally:
        process.terminate()
        process.wait()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/ok", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def test_schemas_and_the_drawing_with_the_experiment_come_from_the_server(client: SyncLangGraphClient) -> None:
    [assistant] = client.assistants.search()
    found = client.assistants.get_schemas(assistant["assistant_id"])
    assert {"task", "target", "on", "author", "limits"} <= set(found["input_schema"]["properties"])  # type: ignore[index]
    assert "author" in found["context_schema"]["properties"]  # type: ignore[index]
    drawn = client.assistants.get_graph(assistant["assistant_id"], xray=True)
    assert "experiment:benchmark" in {node["id"] for node in drawn["nodes"]}


def test_a_run_streams_waits_for_approval_and_is_resumed_then_forked(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    asked = {**ASKED, "approve": True}
    modes: Any = ["updates", "custom"]
    parts = list(client.runs.stream(thread, "scientist", input=asked, stream_mode=modes, stream_subgraphs=True))
    assert "attempt" in {part.data.get("event") for part in parts if part.event.startswith("custom")}
    assert any(part.event.startswith("updates|open_run") for part in parts)
    [waiting] = client.threads.get_state(thread)["interrupts"]
    assert [row["id"] for row in waiting["value"]["experiments"]] == ["g001-e1"]
    on = list(
        client.runs.stream(thread, "scientist", command={"resume": True}, stream_mode=modes, stream_subgraphs=True)
    )
    assert any(part.event.startswith("updates|experiment") for part in on)
    done: Any = client.threads.get_state(thread)["values"]
    assert done["stop"] and Path(done["result"]["best"]["path"]).is_file()
    assert client.runs.wait(thread, "scientist", command={"resume": True})["result"] == done["result"]  # type: ignore[index,call-overload]
    at = next(s for s in client.threads.get_history(thread, limit=50) if s["next"] == ["select"])
    changed = {"limits": {"generations": 1, "picks": 1, "tunings": 2}, "approve": False}
    fork = client.threads.update_state(thread, changed, checkpoint=at["checkpoint"])
    forked: Any = client.runs.wait(thread, "scientist", input=None, checkpoint=fork["checkpoint"])
    assert forked["run_id"] != done["run_id"] and forked["run_id"].startswith(done["run_id"])
    assert forked["stop"] == done["stop"]


def test_two_runs_go_on_at_once(client: SyncLangGraphClient) -> None:
    def one(seed: int) -> Any:
        return client.runs.wait(None, "scientist", input={**ASKED, "seed": seed})

    with ThreadPoolExecutor() as pool:
        found = list(pool.map(one, (1, 2)))
    assert len({f["run_id"] for f in found}) == 2
    assert all(f["result"]["accepted"] >= 1 for f in found)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"task": "no_such_task"}, "there is no task 'no_such_task'"),
        ({**ASKED, "author": "shakespeare"}, "--author is llm or playbook"),
        ({**ASKED, "limits": {"generations": -1}}, "the limit generations is a whole number from 1"),
    ],
)
def test_a_request_that_cannot_be_is_told_in_a_sentence(client: SyncLangGraphClient, asked: Any, why: str) -> None:
    told: Any = client.runs.wait(None, "scientist", input=asked, raise_error=False)
    assert why in told["__error__"]["message"]


def test_two_inputs_on_one_thread_follow_each_other_and_invalid_json_is_refused(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    runs = [
        client.runs.create(thread, "scientist", input={**ASKED, "seed": n}, multitask_strategy="enqueue")
        for n in (3, 4)
    ]
    results: Any = [client.runs.join(thread, run["run_id"]) for run in runs]
    assert all(r["stop"] for r in results)
    url = f"{str(client.http.client.base_url).rstrip('/')}/runs/wait"
    request = urllib.request.Request(url, b'{"assistant_id": ', {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    caught.value.close()
    assert 400 <= caught.value.code < 500
