"""The fence that a process on the GPU puts around itself before it opens the driver, and the levels of it.

- `closed`: Landlock, by which only libraries, the driver's tables and the vendor's device nodes can be opened, and a
  filter of system calls: no socket, no other program or process, no signal to others;
- `listening`: the same, but the driver may make a local socket and listen on it (CUDA's does), and connect to none;
- `local`: the same, but it may connect to local sockets;
- `filter`: the filter only, where there is no Landlock or the driver opens other files;
- `open`: nothing but the bare environment.

Drivers differ in what they open and no document lists it, so the judge tries: the strongest level on which the device
computes a known kernel's result is the one in force.
"""

from __future__ import annotations

import errno
import os
import platform
import resource
import socket
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from sandbox.cage import landlock, seccomp
from sandbox.cage.calls import others
from sandbox.cage.view import SYSTEM_LIBRARIES, View

Fence = Literal["closed", "listening", "local", "filter", "open"]
FENCES: tuple[Fence, ...] = get_args(Fence)
SUMMARY: dict[Fence, str] = {
    "closed": "Landlock and a filter of system calls without sockets",
    "listening": "Landlock and a filter of system calls that lets the driver listen on a local socket",
    "local": "Landlock and a filter of system calls with local sockets only",
    "filter": "a filter of system calls only",
    "open": "nothing but a bare environment",
}
ROOT = Path(__file__).parents[2]
PACKAGES = ("sandbox", "tasks", "records")
TABLES = (
    "/proc/self",
    "/proc/driver",
    "/proc/devices",
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/proc/stat",
    "/proc/version",
    "/proc/modules",
    "/proc/sys/vm",
    "/proc/sys/kernel",
    "/sys/devices",
    "/sys/bus/pci",
    "/sys/class",
    "/sys/module",
    "/sys/dev",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/nvidia",
    "/etc/localtime",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local",
    "/usr/share/nvidia",
    "/usr/share/libdrm",
    "/opt/amdgpu",
    "/opt/rocm",
)
NODES = {"nvidia": ("nvidia*", "nvidia-caps/*"), "amd": ("kfd", "dri/renderD*")}
_UNIX, _THREAD, _NAMESPACES = 1, 0x10000, 0x7E020080
_USED: dict[Fence, tuple[str, ...]] = {
    "closed": (),
    "listening": ("bind", "listen", "accept", "accept4"),
    "local": ("bind", "listen", "accept", "accept4", "connect"),
    "filter": ("bind", "listen", "accept", "accept4", "connect"),
    "open": (),
}
_SPAWNING = ("execve", "fork", "vfork", "kill", "tgkill", "prlimit64")
_OWN: tuple[seccomp.Test, ...] = (("any", 0, (seccomp.OWN_PID,)),)


def enclose(fence: str, vendor: str, library: str | None = None) -> Fence:
    """Put a level of the fence around this process, as far as the kernel can; the level that is then in force.

    It holds for the calling thread and what it starts: call it before any other thread is there.
    """
    if fence == "open":
        return "open"
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    has_files = fence != "filter" and landlock.restrict(view_of(library), _nodes(vendor))
    chosen = next(level for level in FENCES if level == fence)
    in_force: Fence = chosen if has_files else "filter"
    return in_force if _filtered(in_force) and holds(in_force) else "open"


def view_of(library: str | None) -> View:
    """Name the files that a driver, this interpreter and this code are read from."""
    python = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    shared = [Path(name) for name in SYSTEM_LIBRARIES]
    code_folders = [ROOT / name for name in PACKAGES] + ([Path(library).resolve().parent] if library else [])
    packages = [Path(entry) for entry in sys.path if entry.endswith("-packages")]
    return View(
        executable=tuple({*python, *packages, *shared, *code_folders, *map(Path, TABLES)}),
        writable=(Path("/proc/self"),),  # CUDA's driver names its threads there
        devices=(Path("/dev/null"), Path("/dev/zero"), Path("/dev/urandom"), Path("/dev/random")),
    )


def _nodes(vendor: str) -> Sequence[Path]:
    return sorted(path for pattern in NODES[vendor] for path in Path("/dev").glob(pattern) if not path.is_dir())


def _filtered(fence: Fence) -> bool:
    """Install the filter of system calls; False where this kernel or architecture has none."""
    local: tuple[seccomp.Test, ...] = (("any", 0, (_UNIX,)),)
    return refuse_calls({"socketpair": local, "socket": () if fence == "closed" else local}, _USED[fence])


def refuse_compilers_calls(starts_programs: bool) -> bool:
    """Install the filter of a process that compiles; False where this kernel or architecture has none.

    Compilers need no socket, no tracing, mounts, keys, BPF, rings or signals to others. `starts_programs`: this one is
    a driver of other programs, so it may start and end processes, which inherit the filter.
    """
    spawned: dict[str, tuple[seccomp.Test, ...]] = {"clone": (("clear", 0, (_NAMESPACES,)),)}
    return refuse_calls(spawned, _SPAWNING) if starts_programs else refuse_calls({}, ())


def refuse_calls(changed: Mapping[str, tuple[seccomp.Test, ...]], used: Sequence[str]) -> bool:
    """Install a filter without the calls that neither drivers nor compilers need, but for these changes."""
    refused: dict[str, tuple[seccomp.Test, ...]] = {
        **dict.fromkeys(others(platform.machine()), ()),
        "clone": (("clear", 0, (_NAMESPACES,)), ("set", 0, (_THREAD,))),
        "kill": _OWN,
        "tgkill": _OWN,
        "prlimit64": (("any", 0, (0, seccomp.OWN_PID)),),
        **changed,
    }
    for name in used:
        refused.pop(name, None)
    program = seccomp.compose_refusing(platform.machine(), refused)
    try:
        if program:
            landlock.renounce()
            seccomp.install(program, os.getpid())
    except OSError:
        return False
    return bool(program)


def holds(fence: Fence) -> bool:
    """Try what the level forbids: True where nothing of it succeeds in this process."""
    tries: list[Callable[[], object]] = []
    if fence in ("closed", "listening", "local"):
        tries += [partial(os.open, name, os.O_RDONLY) for name in ("/root", "/tmp", "/etc", "/etc/passwd")]
    if fence != "open":
        tries += [lambda: socket.socket(socket.AF_INET), lambda: os.kill(os.getppid(), 0), _forked]
    if fence == "closed":
        tries.append(lambda: socket.socket(socket.AF_UNIX))
    if fence == "listening":
        tries.append(lambda: socket.socket(socket.AF_UNIX).connect("\0nobody"))
    for attempt in tries:
        try:
            attempt()
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOENT):
                continue
        return False
    return True


def _forked() -> None:
    if os.fork() == 0:
        os._exit(0)  # the filter should have refused it
