"""A station without a GPU: it takes as long as a source says, and answers the time that it says.

The source's first lines: `// seconds = S` is how long the station takes, `// time_us = T` what it answers.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from cluster.cluster_link import ClusterAddress, ClusterLink, spec_of
from cluster.cluster_sandbox import ClusterSandbox
from cluster.digest import code_digest
from records.codec import to_plain
from records.evaluation import Comparison, Contrast, Evaluation, Measurement, Verdict, comparison_key
from sandbox.base import SandboxBase
from sandbox.candidate.prepare import Prepared
from sandbox.remote.bundle import answer
from sandbox.remote.message import Place, Request, pack, unpack
from sandbox.target import Target, load_target
from tasks.loader import load_task
from tasks.task import Task

TARGET = "h200"
CLASS = "benchmarks.simulated:SimulatedStation"
PLACE = Place(TARGET, "simulated h200", "1")
TASK = "row_softmax"
ROOT = Path(__file__).resolve().parent.parent
UNSAID_US = 1000.0  # the time of a seed
_SAID = re.compile(r"^// (\w+) = ([0-9.]+)$", re.MULTILINE)


def values_in(source: str) -> dict[str, float]:
    """Read the figures in a source's comments."""
    return {name: float(value) for name, value in _SAID.findall(source)}


class SimulatedEvaluator(SandboxBase):
    """Accepts everything, after the seconds that the source asks for; asked for a benchmark only."""

    def __init__(self, target: Target, sleeps: bool = True) -> None:
        self._sleeps = sleeps
        self.target, self.device, self.version, self.policy = target, PLACE.device, PLACE.version, ("secret inputs",)

    def benchmark(self, prepared: Prepared) -> Evaluation:
        """Sleep and answer."""
        if self._sleeps:
            time.sleep(values_in(prepared.source).get("seconds", 0.0))
        us = values_in(prepared.source).get("time_us", UNSAID_US)
        times = tuple(
            Measurement(case.name, us, "measured", self.device, us, us, samples=1) for case in prepared.task.benchmarks
        )
        return Evaluation(
            self.key(prepared), prepared.id, prepared.tunables, Verdict("time", True, "OK"), measurements=times
        )

    compile = verify = estimate = confirm = benchmark

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Compare by what the two sources say."""
        new, old = (values_in(prepared.source).get("time_us", UNSAID_US) for prepared in (challenger, incumbent))
        keys = self.key(challenger), self.key(incumbent)
        verdict: Contrast = "faster" if new < old else "slower" if new > old else "same"
        return Comparison(comparison_key(*keys), *keys, verdict, new / old, new / old, new / old, device=self.device)


class SimulatedStation:
    """Stands where `cluster.station.Station` does; counts what it has answered in a file for each request."""

    def __init__(self, spec: dict[str, Any], number: int, share: int) -> None:
        self._target = load_target(spec["target"])
        self._log = Path(spec["cache"])
        self._judge: Any = SimulatedEvaluator(self._target)
        self._task = task()

    def introduce(self) -> dict[str, Any]:
        """Introduce one kind of place, at once."""
        identity = {"digest": code_digest(), "host": platform.node(), "pid": os.getpid(), "kind": "", "capacity": 1}
        return {**identity, "place": to_plain(PLACE), "slot": f"GPU of {os.getpid()}"}

    def beat(self) -> None:
        """Do nothing: nothing is ever stuck here."""

    def answer(self, body: bytes) -> tuple[bytes, str, str]:
        """Answer after the seconds that the source says."""
        request = unpack(Request, body)
        with (self._log / f"begun-{os.getpid()}").open("a") as file:
            file.write(f"{request.hash}\n")
        reply = answer(request, self._judge, self._task, "simulated", PLACE)
        with (self._log / f"done-{os.getpid()}").open("a") as file:
            file.write(f"{request.hash}\n")
        return pack(reply), "", ""


def source_of(name: str, seconds: float, time_us: float = 100.0) -> str:
    """Write a kernel file of usual size that says how long it takes."""
    return f"{_seed()}\n// {name}\n// seconds = {seconds}\n// time_us = {time_us}\n"


@cache
def task() -> Task:
    """Load the task of all simulated candidates, once, as a run does."""
    return load_task(TASK, TARGET)


@cache
def _seed() -> str:
    return task().seeds[0].read_text(encoding="utf-8")


def environment() -> dict[str, str]:
    """Give a bridge's environment: this process's, and the path on which stations find this file."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("KERNEL_SCIENTIST_", "OPENAI_"))}
    if Path("~/.ray/auth_token").expanduser().is_file():
        inherited.setdefault("RAY_AUTH_MODE", "token")
    return {
        **inherited,
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), *sys.path])),
    }


def linked(folder: Path, gpus: int = 0, address: str = "", patience_s: float = 120.0) -> ClusterLink:
    """Open a link to simulated GPUs: a cluster of one's own with so many, or the one at an address."""
    local = None if address else {TARGET: float(gpus)}
    cluster = ClusterAddress(address, local, CLASS, environment(), folder / "ray.log", patience_s)
    return ClusterLink(cluster)


def opened(link: ClusterLink, folder: Path, gpus: int, run: str = "run") -> ClusterSandbox:
    """Open a sandbox on the link, once all the GPUs are there."""
    until = time.monotonic() + 300
    spec = spec_of(TARGET, str(folder), "limits", False)
    while (stations := link.open(spec))[0][1] < gpus:
        if time.monotonic() > until:
            raise TimeoutError(f"{stations} of {gpus} stations")
        time.sleep(1.0)
    return ClusterSandbox(link, stations[0][0], load_target(TARGET), 0, run)


def counted(folder: Path, state: str) -> list[str]:
    """Count the requests that stations have begun or done, each as often as it was."""
    return [line for path in folder.glob(f"{state}-*") for line in path.read_text().split()]
