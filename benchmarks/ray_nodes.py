"""Head and nodes of a Ray cluster as processes of this machine, which can be killed as machines are lost."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.processes import descendants, kill
from benchmarks.simulated import environment

HEAD_S = 300.0  # for a head to listen
START = (sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--object-store-memory", "80000000")


class RayNodes:
    """A head without stations and nodes that declare resources; `close` ends them all."""

    def __init__(self, folder: Path, cores: int = 1) -> None:
        """Start the head. `cores` is how many stations a node starts at once."""
        self._folder, self._cores = folder, cores
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        self.nodes: list[subprocess.Popen[bytes]] = []
        self._temporaries: list[Path] = []
        self.begin()

    @property
    def address(self) -> str:
        """HOST:PORT of the head."""
        return f"127.0.0.1:{self._port}"

    def begin(self) -> None:
        """Start the head, and wait until it listens; again where Ray gives up, as it does on a busy machine."""
        until = time.monotonic() + HEAD_S
        while time.monotonic() < until:
            more = ["--head", "--port", str(self._port), "--include-dashboard=false", "--num-cpus", "1"]
            self.head = self._start(more)
            while time.monotonic() < until and self.head.poll() is None:
                with suppress(OSError):
                    socket.create_connection(("127.0.0.1", self._port), timeout=1.0).close()
                    return
                time.sleep(0.2)
        raise TimeoutError(f"no head of Ray within {HEAD_S:.0f} s; see {self._folder / 'ray-start.log'}")

    def has_ended(self) -> bool:
        """Tell whether the head has ended by itself, and all that hangs on it is to be started again."""
        return self.head.poll() is not None

    def living(self) -> int:
        """List the nodes whose processes are there."""
        self.nodes = [node for node in self.nodes if node.poll() is None]
        return len(self.nodes)

    def add(self, resources: Mapping[str, int]) -> None:
        """Start a node that declares these."""
        declared = ", ".join(f'"{name}": {count}' for name, count in resources.items())
        words = ["--address", self.address, "--num-cpus", str(self._cores), "--resources", f"{{{declared}}}"]
        self.nodes.append(self._start(words))

    def fell(self, node: subprocess.Popen[bytes]) -> None:
        """Kill a node, or the head, with all that runs on it, as a loss of power does."""
        for pid in (*descendants(node.pid), node.pid):
            kill(pid)
        node.wait()
        self.living()

    def close(self) -> None:
        """End everything that was started here."""
        for node in (self.head, *self.nodes):
            self.fell(node)
        for temporary in self._temporaries:
            shutil.rmtree(temporary, ignore_errors=True)

    def _start(self, more: Sequence[str]) -> subprocess.Popen[bytes]:
        # A folder of its own: two nodes that begin at once in one folder take the same sockets, and start no process.
        temporary = Path(f"/tmp/ks-ray-{os.getpid()}-{random.randrange(10**6)}")
        self._temporaries.append(temporary)
        with (self._folder / "ray-start.log").open("ab") as log:
            return subprocess.Popen(
                [*START, "--temp-dir", str(temporary), *more],
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
