"""A real Ray on this machine with stations that only sleep: what dies, and what becomes of the answers.

The tests that start Ray are `long`, and are skipped where the extra is not installed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.simulated import TARGET, TASK, counted, linked, opened, source_of
from cluster.cluster_link import ClusterLink
from cluster.cluster_sandbox import ClusterSandbox
from cluster.digest import code_digest
from cluster.frames import packed, receive, receive_soon
from records.errors import SpoolError
from tasks.loader import load_task

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")


def test_messages_arrive_whole_or_not_at_all() -> None:
    mine, theirs = socket.socketpair()
    mine.sendall(packed({"id": 1, "text": "ü" * 100_000})[:70_000])
    mine.close()
    assert receive(theirs) is None
    theirs.close()

    async def both() -> None:
        left, right = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=right)
        left.sendall(packed({"id": 1}) + packed({"id": 2})[:5])
        left.close()
        assert await receive_soon(reader) == {"id": 1}
        assert await receive_soon(reader) is None
        writer.close()
        await writer.wait_closed()

    asyncio.run(both())


def test_the_digest_is_of_the_code() -> None:
    program = "from cluster.digest import code_digest; print(code_digest())"
    root = str(Path(__file__).resolve().parents[2])
    process = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert process.stdout.strip() == code_digest() and len(code_digest()) == 64


@pytest.fixture
def link(tmp_path: Path) -> Iterator[ClusterLink]:
    cluster_link = linked(tmp_path, 3)
    try:
        yield cluster_link
    finally:
        cluster_link.close()


def judge(sandbox: ClusterSandbox, name: str, seconds: float) -> str:
    prepared = sandbox.prepare(source_of(name, seconds), load_task(TASK, TARGET))
    evaluation = sandbox.benchmark(prepared)
    assert evaluation.verdict.accepted and evaluation.key == sandbox.key(prepared)
    return evaluation.candidate_id


def kill_station(link: ClusterLink) -> None:
    stations = [station for station in link.state()["supervisor"]["stations"] if station["state"] == "busy"]
    os.kill(stations[0]["pid"], signal.SIGKILL)


def kill_desk(link: ClusterLink) -> None:
    os.kill(link.state()["supervisor"]["pid"], signal.SIGKILL)


def kill_bridge(link: ClusterLink) -> None:
    os.kill(link.pid, signal.SIGKILL)


@needs_ray
@pytest.mark.long
@pytest.mark.parametrize("kill", [kill_station, kill_desk, kill_bridge])
def test_nothing_is_lost_with_a_process(link: ClusterLink, tmp_path: Path, kill: Callable[[ClusterLink], None]) -> None:
    sandbox = opened(link, tmp_path, 3)
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(judge, sandbox, f"kernel {number}", 1.0) for number in range(12)]
        time.sleep(1.5)
        kill(link)
        results = [future.result() for future in futures]
    assert len(set(results)) == 12
    counts = Counter(counted(tmp_path, "done"))
    assert len(counts) == 12
    assert link.state()["supervisor"]["waiting"] == 0


@needs_ray
@pytest.mark.long
def test_a_wrong_address_is_one_sentence(tmp_path: Path) -> None:
    unreachable = linked(tmp_path, address="127.0.0.1:1")
    with pytest.raises(SpoolError, match=r"no Ray cluster answers at 127\.0\.0\.1:1"):
        unreachable.open({"target": TARGET})
    unreachable.close()
