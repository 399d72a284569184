"""One start of a program, bare or in a cage: its process, the launcher's report, its end."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import secrets
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from records import scratch_folder
from records.errors import HostStarved, MachineError
from sandbox.cage.confinement import Cage
from sandbox.cage.meter import ProcessLimits
from sandbox.cage.view import View
from sandbox.process_tree import MARK, ProcessTree, processes

_REPORT_BYTES = 4096
_STEP_S = 0.002
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.ENFILE)  # processes, memory, open files of all users together
_GRACE_S = 5.0  # for the launcher to see the last process inside end


_living: dict[StartedProgram, int] = {}  # with the process that started each, for forks have a copy of this


def _kill_living() -> None:
    """Kill the programs of threads that do not hold the exit. Those in a cage see by themselves that this one goes."""
    for program, pid in list(_living.items()):
        if pid == os.getpid() and program.child.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(program.child.pid, signal.SIGKILL)  # it is not reaped yet, and leads a session of its own


scratch_folder.before_leaving(_kill_living)


class StartedProgram:
    """A program that is started, watched by others, and ended."""

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        cage: Cage | None,
        view: View | None,
    ) -> None:
        """Start it; MachineError when it cannot be started, HostStarved where that may pass."""
        self._cage, self._name = cage, argv[0]
        # In namespaces of its own nobody can stay behind, so nobody needs to be found again.
        before = frozenset[tuple[str, int]]() if self._has_namespaces else processes()
        self._tree = ProcessTree(secrets.token_hex(16), before)
        self._read, self._report, self._cpu_s = -1, b"", 0.0
        words, write = list(argv), -1
        descriptors: tuple[int, ...] = ()
        if cage is not None:
            cage_view = view or View()
            self._read, write = os.pipe()
            rows = limits.rows()
            words = cage.command(words, cage_view, folder=cwd, parent=os.getpid(), report=write, limits=rows)
            descriptors = (write, *cage_view.descriptors)
        try:
            self.child = subprocess.Popen(
                words,
                cwd=cwd,
                env={**env, MARK: self._tree.mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                close_fds=True,
                pass_fds=descriptors,
            )
        except OSError as error:
            self._close()
            raise _failure(f"{argv[0]} cannot be started: {error.strerror or error}", error.errno) from None
        finally:
            if write >= 0:
                os.close(write)
        _living[self] = os.getpid()
        if cage is None:
            _limit(self.child.pid, limits)

    def __enter__(self) -> Self:
        """Return the program itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave nobody behind."""
        self.end()
        self._close()

    def begin(self) -> int | None:
        """Return the program's number, once it is in its cage; None without a cage. MachineError where it failed."""
        if self._cage is None:
            return None
        # At the latest when the program begins, which closes the pipe.
        self._report = os.read(self._read, _REPORT_BYTES)
        self._refuse_failure()
        words = self._report.split()
        return int(words[1]) if words[:1] == [b"pid"] else self.child.pid

    @property
    def has_ended(self) -> bool:
        """True once the process is a zombie; it is not reaped, so its number cannot be taken by another process."""
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def wait(self, seconds: float) -> None:
        """Return when the program has ended, at the latest after so long."""
        try:
            handle = os.pidfd_open(self.child.pid)
        except OSError:  # before Linux 5.3
            time.sleep(min(seconds, _STEP_S))
            return
        try:
            watch = select.poll()
            watch.register(handle, select.POLLIN)
            watch.poll(1e3 * seconds)
        finally:
            os.close(handle)

    @property
    def is_swept(self) -> bool:
        """True where no process of the tree within reach can be left."""
        return self._has_namespaces or self._tree.swept

    def sweep(self) -> None:
        """Kill whoever is left; in namespaces of its own nobody can be."""
        if not self._has_namespaces:
            self._tree.sweep(self.child.pid)

    def end(self) -> None:
        """Kill the program and all that it has started, and wait until they are gone."""
        if self.child.returncode is None:
            if self._has_namespaces:
                self._end_namespaces()
            elif not self._tree.is_gone:
                self._tree.sweep(self.child.pid)
            _, status, usage = os.wait4(self.child.pid, 0)
            self.child.returncode = os.waitstatus_to_exitcode(status)
            _living.pop(self, None)
            self._cpu_s = usage.ru_utime + usage.ru_stime
        for pipe in (self.child.stdin, self.child.stdout, self.child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def returned(self) -> tuple[int, float]:
        """Exit status, or minus the number of the signal, and seconds of processor time; MachineError after a failure.

        To be asked after the end.
        """
        while self._cage is not None and (more := os.read(self._read, _REPORT_BYTES)):
            self._report += more
        self._refuse_failure()
        for line in self._report.split(b"\n"):
            words = line.split()
            if words[:1] == [b"ended"]:
                code, cpu_us = int(words[2]), int(words[3])
                return (-code if words[1] == b"signal" else code), cpu_us / 1e6
        return int(self.child.returncode), self._cpu_s

    @property
    def _has_namespaces(self) -> bool:
        return self._cage is not None and self._cage.level == "namespaces"

    def _end_namespaces(self) -> None:
        """Have the launcher kill the init inside: it returns when the last process inside is gone."""
        deadline = time.monotonic() + _GRACE_S
        os.kill(self.child.pid, signal.SIGTERM)
        while not self.has_ended and time.monotonic() < deadline:
            self.wait(deadline - time.monotonic())
        os.kill(self.child.pid, signal.SIGKILL)  # it is not reaped yet, so the number is its own

    def _refuse_failure(self) -> None:
        for line in self._report.split(b"\n"):
            if line.startswith(b"failed "):
                _, number, why = line.decode("utf-8", errors="replace").split(" ", 2)
                raise _failure(f"{self._name} cannot be started in its cage ({why})", int(number))

    def _close(self) -> None:
        if self._read >= 0:
            os.close(self._read)
            self._read = -1


def _failure(text: str, number: int | None) -> MachineError:
    """Say why a program cannot be started: HostStarved where others may give back what is missing."""
    return HostStarved(f"{text}; let this machine do less at a time") if number in _PASSING else MachineError(text)


def _limit(pid: int, limits: ProcessLimits) -> None:
    bounds: list[tuple[int, int | None, int]] = [
        (resource.RLIMIT_CPU, limits.cpu_s, 2),
        (resource.RLIMIT_FSIZE, limits.file_bytes, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_AS, limits.memory_bytes, 0),
        (resource.RLIMIT_NPROC, limits.processes, 0),
    ]
    # A program that has ended needs no limit: ESRCH once it is reaped, EPERM while it is a zombie.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        for kind, value, slack in bounds:
            if value is not None:
                hard = resource.prlimit(pid, kind)[1]
                top = value + slack if hard == resource.RLIM_INFINITY else min(value + slack, hard)
                resource.prlimit(pid, kind, (min(value, top), top))
