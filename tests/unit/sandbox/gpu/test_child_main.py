"""A process on the GPU ends with its judge."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from sandbox.gpu.child_link import ROOT

BUSY = """
import sys, time
sys.path.insert(0, sys.argv[2])
from sandbox.gpu.child_main import end_with
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
