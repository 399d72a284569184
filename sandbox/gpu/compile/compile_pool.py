"""Processes that compile: as many as may work at once, kept for the next source, replaced when a source ends one."""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from records.errors import ToolchainError
from sandbox.candidate.diagnostics import Ending
from sandbox.gpu.child_channel import ChildChannel, Closed, Late, Malformed
from sandbox.gpu.compile.compile_messages import ANSWERS, GREETINGS, CompilerMissing, Description, Job

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
    """The outcome of one source: an image, or none and why. `ended`: how the source ended its process, if it did."""

    image: bytes | None
    log: str
    ended: Ending | None = None
    symbols: Mapping[str, str] = field(default_factory=dict)  # of the kernels that the job names


class Worker:
    """One process that compiles."""

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
            greeting, _ = self._channel.receive(GREETINGS, START_S)
        except (Closed, Late, Malformed):
            self.close()
            raise ToolchainError(f"the {vendor} compiler's process does not start; reinstall the toolkit") from None
        if isinstance(greeting, CompilerMissing):
            self.close()
            raise ToolchainError(greeting.message)
        self.description = greeting

    def compile(self, job: Job, deadline_s: float) -> CompileReply:
        """Compile one source; a reply with `ended` means that this worker is of no use any more."""
        self.sources += 1
        try:
            self._channel.send(replace(job, cpu_s=int(deadline_s) + 1))
            reply, _ = self._channel.receive(ANSWERS, deadline_s)
            if isinstance(reply, CompilerMissing):
                raise ToolchainError(reply.message)
            image = None if reply.image is None else base64.b64decode(reply.image, validate=True)
            return CompileReply(image, reply.log, symbols=reply.symbols)
        except Late:
            return CompileReply(None, "", Ending("deadline"))
        except Closed:
            return CompileReply(None, "", self._ending())
        except (Malformed, binascii.Error):
            return CompileReply(None, "", Ending("silent"))

    def _ending(self) -> Ending:
        """Say why the process closed its socket; it leaves with a status of its own when out of memory."""
        try:
            status = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return Ending("silent")
        if status >= 0:
            return Ending("memory")
        endings: Mapping[int, Ending] = {-signal.SIGXCPU: Ending("deadline"), -signal.SIGXFSZ: Ending("file_size")}
        return endings.get(status, Ending("signal", -status))

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
        """Describe the compiler that the workers use; start one if there is none."""
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
