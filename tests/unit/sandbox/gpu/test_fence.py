"""The levels of the fence around a process on the GPU: what each refuses, tried in a process of its own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from sandbox.cage import landlock
from sandbox.gpu.child_link import ROOT
from sandbox.gpu.fence import FENCES, Fence

TRIES = """
import ctypes, json, os, socket, sys, threading
sys.path.insert(0, sys.argv[1])
from sandbox.gpu.fence import enclose
level, mine, other = enclose(sys.argv[2], "nvidia"), sys.argv[3], int(sys.argv[4])
libc = ctypes.CDLL(None, use_errno=True)

def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")

def forked():
    if os.fork() == 0:
        os._exit(0)

def listening():
    made = socket.socket(socket.AF_UNIX)
    made.bind("\\0ks-fence-" + str(os.getpid()))
    made.listen()

def spread(folder):
    with open(folder + "/new", "w") as file:
        file.write("x")

tries = {
    "read a file": lambda: open(mine).read(),
    "list a folder": lambda: os.listdir(os.path.dirname(mine)),
    "read passwd": lambda: open("/etc/passwd").read(),
    "see others' processes": lambda: open(f"/proc/{other}/cmdline").read(),
    "write a file": lambda: spread(os.path.dirname(mine)),
    "write a temporary file": lambda: (open("/tmp/ks-fence-probe", "w").close(), os.unlink("/tmp/ks-fence-probe")),
    "remove a file": lambda: os.unlink(mine),
    "make a FIFO": lambda: os.mkfifo(os.path.dirname(mine) + "/fifo"),
    "make a link": lambda: os.symlink(mine, os.path.dirname(mine) + "/link"),
    "socket": lambda: socket.socket(socket.AF_INET),
    "datagrams": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "local socket": lambda: socket.socket(socket.AF_UNIX),
    "connect": lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[5]),
    "listen": listening,
    "signal the parent": lambda: os.kill(os.getppid(), 0),
    "signal another": lambda: os.kill(other, 0),
    "signal all": lambda: os.kill(-1, 0),
    "signal a thread": lambda: checked(libc.syscall(200, other, 0)),
    "fork": forked,
    "start a program": lambda: level == "open" or os.execv("/bin/true", ["true"]),
    "trace": lambda: checked(libc.ptrace(16, other, 0, 0)),
    "read others' memory": lambda: checked(libc.process_vm_readv(other, 0, 0, 0, 0, 0)),
    "a namespace of its own": lambda: checked(libc.unshare(0x10000000)),
    "limits of another": lambda: checked(libc.syscall(302, other, 7, None, ctypes.create_string_buffer(16))),
    "kernel rings": lambda: checked(libc.syscall(425, 1, ctypes.create_string_buffer(256))),
    "BPF": lambda: checked(libc.syscall(321, 0, None, 0)),
}
done = []
for name, attempt in tries.items():
    try:
        attempt()
        done.append(name)
    except OSError:
        pass
thread = threading.Thread(target=lambda: done.append("a thread"))
thread.start()
thread.join()
print(json.dumps([level, done]))
"""
OUTSIDE = {"read a file", "list a folder", "read passwd", "write a file", "write a temporary file", "remove a file"}
NEEDED = {"a thread"}
WITHOUT_FILES = {"see others' processes", "make a FIFO", "make a link"}


@cache
def try_all(fence: Fence, folder: Path) -> tuple[str, set[str]]:
    mine = folder / fence / "secret"
    mine.parent.mkdir()
    mine.write_text("secret", encoding="utf-8")
    other, address = subprocess.Popen(["/bin/sleep", "60"]), str(folder / fence / "socket")
    argv = [sys.executable, "-I", "-c", TRIES, str(ROOT), fence, str(mine), str(other.pid), address]
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            completed = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    finally:
        other.kill()
        other.wait()
    level, names = json.loads(completed.stdout)
    return level, set(names)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fence")


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_closed_leaves_nothing_but_threads(folder: Path) -> None:
    assert try_all("closed", folder) == ("closed", NEEDED)


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_listening_leaves_a_socket_that_nobody_outside_is_reached_by(folder: Path) -> None:
    assert try_all("listening", folder) == ("listening", NEEDED | {"local socket", "listen"})


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_local_leaves_local_sockets_besides(folder: Path) -> None:
    assert try_all("local", folder) == ("local", NEEDED | {"local socket", "listen", "connect"})


def test_the_filter_alone_leaves_files(folder: Path) -> None:
    level, names = try_all("filter", folder)
    assert level == "filter"
    assert names - OUTSIDE - WITHOUT_FILES == NEEDED | {"local socket", "listen", "connect"}
    assert "read a file" in names, "the probe can tell"


def test_the_probe_finds_what_is_open(folder: Path) -> None:
    level, names = try_all("open", folder)
    assert level == "open" and {"socket", "local socket", "fork", "signal another", *OUTSIDE} <= names


def test_the_rungs_are_in_order() -> None:
    assert FENCES == ("closed", "listening", "local", "filter", "open")
