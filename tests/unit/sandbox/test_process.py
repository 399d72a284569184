from __future__ import annotations

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from records.errors import HostStarved, MachineError
from sandbox.cage.confinement import Cage
from sandbox.cage.view import View
from sandbox.process import MARK, ProcessLimits, Stream, clean, converse, run
from sandbox.started import StartedProgram

LIMITS = ProcessLimits(cpu_s=20)


def sh(script: str, timeout_s: float = 20.0, limits: ProcessLimits = LIMITS, **more: object):
    return run(["/bin/sh", "-c", script], cwd=Path("/"), env={"GIVEN": "1"}, timeout_s=timeout_s, limits=limits, **more)


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_returns_code_and_both_streams() -> None:
    completed = sh("echo out; echo err >&2; exit 3")
    assert (completed.returncode, completed.stdout, completed.stderr, completed.timed_out) == (
        3,
        "out\n",
        "err\n",
        False,
    )


def test_the_environment_is_what_was_given_and_the_mark() -> None:
    completed = run(["/usr/bin/env"], cwd=Path("/"), env={"GIVEN": "1"}, timeout_s=20, limits=LIMITS)
    assert {line.split("=")[0] for line in completed.stdout.split()} == {"GIVEN", MARK}


def test_no_descriptor_is_inherited() -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    try:
        assert sh(f"test -e /proc/self/fd/{write} && echo open").stdout == ""
    finally:
        os.close(read)
        os.close(write)


def test_the_deadline_kills_the_whole_group() -> None:
    completed = sh("sleep 300 & echo $!; sleep 300", timeout_s=0.5)
    assert completed.timed_out
    assert completed.returncode == -9
    assert not alive(int(completed.stdout))


def test_a_daemon_that_left_session_and_group_does_not_survive() -> None:
    completed = sh("setsid sleep 300 >/dev/null 2>&1 & setsid sh -c 'sleep 301 & echo $!' ; sleep 0.2; exit 0")
    assert completed.returncode == 0
    assert not alive(int(completed.stdout.split()[0]))
    commands = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if os.access(p, os.R_OK)]
    assert not [c for c in commands if c in (b"sleep\x00300\x00", b"sleep\x00301\x00")]


@pytest.mark.slow
def test_what_leaves_at_once_leaves_no_program_of_its_threads(tmp_path: Path) -> None:
    script = """
import sys, threading, time
from pathlib import Path
from records.scratch_folder import leave
from sandbox.process import ProcessLimits, run
words = ["/bin/sh", "-c", "echo $$ > pid; mv pid begun; sleep 300"]
work = lambda: run(words, cwd=Path(), env={"PATH": "/usr/bin:/bin"}, limits=ProcessLimits())
threading.Thread(target=work).start()
while not Path("begun").exists():
    time.sleep(0.02)
leave(3)
"""
    root = str(Path(__file__).resolve().parents[3])
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env={"PYTHONPATH": root}, check=False)
    assert ended.returncode == 3
    assert not alive(int((tmp_path / "begun").read_text()))


def test_cpu_time_is_limited_and_counts_as_time_out() -> None:
    completed = sh("while :; do :; done", limits=ProcessLimits(cpu_s=1))
    assert completed.timed_out
    assert completed.returncode < 0


def test_address_space_and_file_size_are_limited(tmp_path: Path) -> None:
    limits = ProcessLimits(cpu_s=20, memory_bytes=512 << 20, file_bytes=1 << 20)
    grow = "import sys\nsys.stdin.read()\nbytearray(1 << 30)"
    completed = run([sys.executable, "-c", grow], cwd=tmp_path, env={}, timeout_s=20, limits=limits, stdin=b"go")
    assert "MemoryError" in completed.stderr
    write = "import sys\nsys.stdin.read()\nopen('big', 'wb').write(bytes(2 << 20))"
    completed = run([sys.executable, "-c", write], cwd=tmp_path, env={}, timeout_s=20, limits=limits, stdin=b"go")
    assert completed.returncode != 0
    assert (tmp_path / "big").stat().st_size <= 1 << 20


def test_long_output_is_drained_and_keeps_its_beginning_and_its_end() -> None:
    completed = sh("printf first; head -c 3000000 /dev/zero | tr '\\0' x; printf 'the cause'", output_cap=1000)
    assert completed.returncode == 0
    head, note, tail = completed.stdout.split("\n")
    assert (len(head), len(tail), head[:5], tail[-9:]) == (750, 250, "first", "the cause")
    assert note == "[2999014 bytes were cut here]"[: len(note)] and str(3_000_014 - 1000) in note


@pytest.mark.parametrize("cap", [0, 1, 7, 64])
def test_a_stream_keeps_all_that_fits_whatever_the_pieces(cap: int) -> None:
    data, stream = bytes(range(65, 91)) * 3, Stream(cap)
    for begin in range(0, len(data), 5):
        stream.add(data[begin : begin + 5])
    assert (len(stream.head) + len(stream.tail), stream.cut) == (cap, len(data) - cap)
    assert data.startswith(bytes(stream.head)) and data.endswith(bytes(stream.tail))


def test_input_larger_than_a_pipe_is_fed() -> None:
    assert sh("wc -c", stdin=b"y" * 1_000_000).stdout.strip() == "1000000"


def test_a_program_that_does_not_read_its_input_ends_normally() -> None:
    assert sh("exit 0", stdin=b"y" * 1_000_000).returncode == 0


def test_escapes_and_controls_are_stripped() -> None:
    assert clean("\x1b[31mred\x1b[0m\x07\tx\r\n\x1b]0;title\x07y\x9bz\u202e") == "red\tx\nyz"


def test_a_missing_program_is_a_fault_of_the_machine() -> None:
    with pytest.raises(MachineError, match="/no/such/program cannot be started: No such file"):
        run(["/no/such/program"], cwd=Path("/"), env={}, timeout_s=1, limits=LIMITS)


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.EAGAIN, HostStarved), (errno.ENOMEM, HostStarved), (errno.ENOENT, MachineError)]
)
def test_a_start_that_fails_for_want_of_what_others_hold_may_be_tried_again(
    number: int, kind: type[MachineError], tmp_path: Path
) -> None:
    launcher = ("/bin/sh", "-c", f"echo 'failed {number} fork: its words' >/proc/self/fd/$3; exit 71")
    with pytest.raises(MachineError, match=r"cannot be started in its cage \(fork: its words\)") as raised:
        run(["/bin/true"], cwd=tmp_path, env={}, limits=LIMITS, cage=Cage("landlock", launcher), view=View())
    assert type(raised.value) is kind


def test_threads_do_not_disturb_each_other() -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda i: sh(f"sleep 0.05; echo {i}; exit {i % 5}"), range(40)))
    assert [(d.returncode, d.stdout) for d in results] == [(i % 5, f"{i}\n") for i in range(40)]


class Held(StartedProgram):
    """A program whose judge gets no processor until it has ended, from the second look on."""

    looks = 0

    @property
    def has_ended(self) -> bool:
        self.looks += 1
        if self.looks > 1:
            self.wait(20.0)
        return super().has_ended

    is_swept = True  # as in namespaces


def test_what_a_program_wrote_while_its_judge_had_no_processor_is_read() -> None:
    out, err = Stream(1 << 20), Stream(1 << 20)
    script = "sleep 0.3; head -c 60000 /dev/zero | tr '\\0' x"
    with Held(["/bin/sh", "-c", script], Path("/"), {}, LIMITS, None, None) as launch:
        assert converse(launch, b"", (out, err), None, None, None) == "ended"
    assert len(out.text()) == 60000
