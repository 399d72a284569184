"""Processes that compile: as many as may work at once, kept for the next source, replaced when a source ends one."""

from __future__ import annotations

import base64
import contextlib
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from records.errors import ToolchainError
from sandbox.candidate.diagnostics import Ending
from sandbox.gpu.child_messages import ChildChannel, Closed, Late

ROOT = Path(__file__).parents[3]
START_S = 120.0
REPLACED_AFTER = 200  # sources; compilers keep some memory of each
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from sandbox.gpu.compile.compile_child import main; "
    "sys.exit(main(int(sys.argv[2]), sys.argv[3], sys.argv[4]))"
)
_PATH = "/usr/local/bin:/usr/bin:/bin"
# The C library keeps what a source took for the next one: a compiler's pages cost it a tenth of its time to get anew.
_KEPT = {
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(64 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
}


@dataclass(frozen=True)
class CompileReply:
    """What came of one source: an image, or none and why. `ended` says how the source ended its process, if it did."""

    image: bytes | None
    log: str
    ended: Ending | None = None


@dataclass(frozen=True)
class Description:
    """The compiler behind a pool."""

    version: str  # "nvrtc 13.0"
    kind: str  # nvrtc | nvcc | hiprtc | hipcc
    fenced: bool  # it can open no file but those it needs
    include: str  # folder of the toolkit's own headers; "" when there is none or the compiler knows it
    build: str  # tells builds of the same version apart


@dataclass(frozen=True)
class Job:
    """One source and how to compile it; `headers` maps include names to texts."""

    source: str
    name: str
    arch: str
    options: Sequence[str]
    headers: Mapping[str, str]


class Worker:
    """One process."""

    def __init__(self, vendor: str, library: str, folder: Path) -> None:
        """ToolchainError when it finds no compiler."""
        self._work = Path(tempfile.mkdtemp(dir=folder))
        ours, theirs = socket.socketpair()
        self._channel = ChildChannel(ours)
        argv = [sys.executable, "-I", "-c", _BOOT, str(ROOT), str(theirs.fileno()), vendor, library]
        environment = {"PATH": _PATH, "HOME": str(self._work), "TMPDIR": str(self._work), **_KEPT}
        try:
            self._process = subprocess.Popen(
                argv,
                cwd=self._work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        finally:
            theirs.close()
        self.sources = 0
        try:
            said, _ = self._channel.receive(START_S)
        except (Closed, Late):
            self.close()
            raise ToolchainError(f"the {vendor} compiler's process does not start; reinstall the toolkit") from None
        if "error" in said:
            self.close()
            raise ToolchainError(str(said["error"]))
        self.description = Description(
            str(said["version"]), str(said["kind"]), bool(said["fenced"]), str(said["include"]), str(said["build"])
        )

    def compile(self, job: Job, deadline_s: float) -> CompileReply:
        """Compile one source; a reply with `ended` means that this worker is of no use any more."""
        self.sources += 1
        try:
            self._channel.send(
                {
                    "source": job.source,
                    "name": job.name,
                    "arch": job.arch,
                    "headers": dict(job.headers),
                    "options": list(job.options),
                    "cpu_s": int(deadline_s) + 1,
                }
            )
            said, _ = self._channel.receive(deadline_s)
        except Late:
            return CompileReply(None, "", Ending("deadline"))
        except Closed:
            return CompileReply(None, "", self._ending())
        if "error" in said:
            raise ToolchainError(str(said["error"]))
        image = base64.b64decode(said["image"]) if said["image"] is not None else None
        return CompileReply(image, str(said["log"]))

    def _ending(self) -> Ending:
        """The reason for which the process closed its socket; it leaves with a status of its own when out of memory."""
        try:
            status = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return Ending("silent")
        if status >= 0:
            return Ending("memory")
        known: Mapping[int, Ending] = {-signal.SIGXCPU: Ending("deadline"), -signal.SIGXFSZ: Ending("file_size")}
        return known.get(status, Ending("signal", -status))

    def close(self) -> None:
        """End it and everything that it has started."""
        self._channel.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self._work, ignore_errors=True)


class CompilePool:
    """A fixed number of workers, started when first needed. Safe from several threads."""

    def __init__(self, vendor: str, folder: Path, workers: int, library: str = "") -> None:
        """`folder` is where the workers have their own folders; `library` is opened instead of the usual one."""
        self._vendor, self._folder, self._library = vendor, folder, library
        self._free: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        self._workers = workers
        for _ in range(workers):
            self._free.put(None)

    def describe(self) -> Description:
        """What the workers compile with; starts one if there is none."""
        worker = self._take()
        try:
            return worker.description
        finally:
            self._free.put(worker)

    def compile(self, job: Job, deadline_s: float) -> CompileReply:
        """Wait for a free worker and compile; ToolchainError when the machine, not the source, is at fault."""
        worker, usable = self._take(), False
        try:
            reply = worker.compile(job, deadline_s)
            usable = not reply.ended and worker.sources < REPLACED_AFTER
            return reply
        finally:
            if not usable:
                worker.close()
            self._free.put(worker if usable else None)

    def _take(self) -> Worker:
        worker = self._free.get()
        if worker is not None:
            return worker
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            return Worker(self._vendor, self._library, self._folder)
        except OSError as error:
            self._free.put(None)
            raise ToolchainError(
                f"the compiler's process cannot be started in {self._folder} ({error.strerror})"
            ) from None
        except BaseException:
            self._free.put(None)
            raise

    def close(self) -> None:
        """End all workers; waits for those at work."""
        for _ in range(self._workers):
            worker: Any = self._free.get()
            if worker is not None:
                worker.close()
        for _ in range(self._workers):
            self._free.put(None)
