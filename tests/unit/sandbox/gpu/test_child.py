"""A process on the GPU ends with its judge."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from sandbox.gpu.child_process import ROOT, ChildFault, ChildProcess, GpuSlot

BUSY = """
import sys, time
sys.path.insert(0, sys.argv[2])
from sandbox.gpu.child import end_with
end_with(int(sys.argv[1]), 0.0)
print("busy", flush=True)
time.sleep(600)  # a kernel that does not come back
"""


def test_a_process_whose_kernel_does_not_end_does_not_outlive_the_judge() -> None:
    ours, theirs = socket.socketpair()
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", BUSY, str(theirs.fileno()), str(ROOT)],
        stdout=subprocess.PIPE,
        pass_fds=(theirs.fileno(),),
    )
    theirs.close()
    try:
        assert child.stdout is not None and child.stdout.readline() == b"busy\n"
        ours.sendall(b"a message that nobody reads is no end")
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.2)
        ours.close()
        assert child.wait(60) == 1
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("runs_candidate", [True, False])
def test_a_process_that_the_system_kills_is_nobodys_fault(runs_candidate: bool) -> None:
    with ChildProcess(GpuSlot("amd", 0, "no library is opened before the first message")) as seat:
        os.kill(seat._process.pid, signal.SIGKILL)
        with pytest.raises(ChildFault, match="free some of the machine's memory") as told:
            seat.ask({"do": "open"}, runs_candidate=runs_candidate)
    assert (told.value.kind, told.value.lost, told.value.ended) == (None, False, False)
