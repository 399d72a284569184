"""The compiler: clang and lld inside the pinned `ziglang` wheel. No root, no system compiler, no ROCm."""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from records.computed_once import computed_once
from records.disk_room import full_disk
from records.errors import DiskFull, MachineError, ToolchainError
from records.stopping import StopSignal
from sandbox.cage.confinement import Cage
from sandbox.isolation import choose_cage
from sandbox.process import Completed, ProcessLimits, last_words, run

REMEDY = "run ./kernel-scientist again to repair the set-up, or install the pinned ziglang wheel into this environment"
LAUNCHER = Path(__file__).parents[1] / "cage" / "launcher"
# Of every static program: other options would build another C library. Debug information, of which each program would
# get a copy of the C library's, is neither made nor linked.
STATIC = ("-static", "-s")
_LAUNCHER_FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror")
_LIMITS = ProcessLimits(cpu_s=600, file_bytes=1 << 30)
MOST_BUILT = 64 << 20  # bytes of its cache: the C library, what it keeps while it builds, and the first programs
_HOST_PROBE = '#include <stdio.h>\nint main(void) { return printf("ready\\n") < 0; }\n'
_DEVICE_PROBE = (
    'extern "C" __attribute__((global)) void probe(float *x) { x[__builtin_amdgcn_workitem_id_x()] += 1.0f; }\n'
)
_VERSIONS: dict[tuple[str, int, int], str] = {}  # each file is asked once a process; a run has several toolchains


@dataclass(frozen=True)
class Toolchain:
    """One installed compiler, the folder where it may keep its caches, and what stops those who work with it."""

    zig: Path
    cache: Path
    stop: StopSignal = field(default_factory=StopSignal, compare=False)

    @computed_once
    def cage(self) -> Cage:
        """Choose the strongest confinement that holds here, tried once; build the launcher if the cache has none."""
        return choose_cage(build_launcher(self))

    @computed_once
    def version(self) -> str:
        """Join zig's and clang's versions, as they stand in evaluation keys: "zig 0.17.0 clang 22.1.8"."""
        self.environment()  # a cache that cannot be written is said, whoever has asked before
        if (file := _stamp(self.zig)) not in _VERSIONS:
            zig = self._ask("version").strip()
            words = self._ask("clang", "--version").split("version", 1)
            if not zig or len(words) != 2:
                raise ToolchainError(f"the compiler at {self.zig} does not tell its version; {REMEDY}")
            _VERSIONS[file] = f"zig {zig} clang {words[1].split()[0]}"
        return _VERSIONS[file]

    def environment(self) -> dict[str, str]:
        """Make a compiler process's whole environment: its caches, a private HOME and TMPDIR; nothing inherited."""
        folders = {
            "HOME": self.cache / "home",
            "TMPDIR": self.cache / "tmp",
            "ZIG_GLOBAL_CACHE_DIR": self.cache / "zig",
            "ZIG_LOCAL_CACHE_DIR": self.cache / "zig",
        }
        try:
            for folder in folders.values():
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ToolchainError(
                f"the compiler's cache {self.cache} cannot be written ({error.strerror}); "
                "set KERNEL_SCIENTIST_CACHE_FOLDER to another place"
            ) from None
        return {name: str(folder) for name, folder in folders.items()}

    def command(self, tool: str, *args: str) -> list[str]:
        """Build the argument list for one of the tools inside: clang, cc, c++, ld.lld."""
        return [str(self.zig), tool, *args]

    def warm(self, progress: Callable[[str], None]) -> None:
        """Build what later runs find ready: the static C library (about 30 s once), then a first gfx942 compile."""
        work = self.cache / "warm"
        progress("building the C library for the lab (about half a minute, once)")
        self.build_library()
        completed = run([str(work / "hello")], cwd=work, env={}, timeout_s=10, limits=ProcessLimits(cpu_s=10))
        if completed.stdout != "ready\n":
            raise ToolchainError("a program built by the compiler does not run here; an x86-64 Linux is needed")
        progress("compiling for gfx942")
        (work / "probe.hip").write_text(_DEVICE_PROBE, encoding="utf-8")
        self.build(
            self.command(
                "clang",
                "-x",
                "hip",
                "--cuda-device-only",
                "--offload-arch=gfx942",
                "-nogpulib",
                "-nogpuinc",
                "-O3",
                "-S",
                "probe.hip",
                "-o",
                "probe.s",
            ),
            work,
            self.environment(),
            "compile for gfx942",
        )
        progress(f"ready: {self.version}, isolation by {self.cage.text}")

    def build_library(self) -> None:
        """Build the static C library where the cache has none, with a first program that is linked with it.

        The set-up begins with this, beside what it installs: nothing but the compiler's own package is needed.
        """
        work = self.cache / "warm"
        environment = self.environment()
        work.mkdir(parents=True, exist_ok=True)
        (work / "hello.c").write_text(_HOST_PROBE, encoding="utf-8")
        argv = self.command("cc", "-target", "x86_64-linux-musl", *STATIC, "hello.c", "-o", "hello")
        self.build(argv, work, environment, "link a static program")

    def build(self, argv: Sequence[str], work: Path, environment: dict[str, str], purpose: str) -> None:
        """Run the compiler on sources of our own; ToolchainError says what it cannot do."""
        completed = self._run(argv, work, environment, timeout_s=600)
        if completed.returncode != 0:
            if full := full_disk([work, self.cache], MOST_BUILT):
                raise DiskFull(f"{full}, and the compiler's cache needs {MOST_BUILT >> 20} MiB")
            last = last_words(completed.stderr) or "no message"
            raise ToolchainError(f"the compiler at {self.zig} cannot {purpose} ({last}); {REMEDY}")

    def _ask(self, *args: str) -> str:
        completed = self._run([str(self.zig), *args], self.cache, self.environment(), timeout_s=60)
        if completed.returncode != 0:
            raise ToolchainError(f"the compiler at {self.zig} does not run ({last_words(completed.stderr)}); {REMEDY}")
        return completed.stdout

    def _run(self, argv: Sequence[str], cwd: Path, environment: dict[str, str], timeout_s: float) -> Completed:
        try:
            return run(argv, cwd=cwd, env=environment, timeout_s=timeout_s, limits=_LIMITS, stop=self.stop)
        except MachineError as error:
            raise ToolchainError(f"{error}; {REMEDY}") from None


def _stamp(path: Path) -> tuple[str, int, int]:
    """Return the file's name, size and time, of which one changes with its contents; of no file the name."""
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), status.st_size, status.st_mtime_ns


def build_launcher(toolchain: Toolchain) -> Path:
    """Build the launcher of caged programs once for each version of its sources; ToolchainError when it cannot be."""
    sources = sorted(LAUNCHER.glob("*.[ch]"))
    target = f"{platform.machine()}-linux-musl"
    digest = hashlib.sha256(repr((toolchain.version, target, STATIC, _LAUNCHER_FLAGS)).encode())
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    program = toolchain.cache / "launcher" / digest.hexdigest()[:24]
    if program.is_file():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=program.parent) as name:
        work, environment = Path(name), toolchain.environment()
        units = [path for path in sources if path.suffix == ".c"]
        for unit in units:
            argv = toolchain.command("cc", "-target", target, *_LAUNCHER_FLAGS, "-c", str(unit), "-o", f"{unit.stem}.o")
            toolchain.build(argv, work, environment, "build the launcher")
        objects = [f"{unit.stem}.o" for unit in units]
        argv = toolchain.command("cc", "-target", target, *STATIC, *objects, "-o", "launcher")
        toolchain.build(argv, work, environment, "build the launcher")
        (work / "launcher").chmod(0o500)
        (work / "launcher").replace(program)
    return program


def find_toolchain(cache: Path, stop: StopSignal | None = None) -> Toolchain:
    """Find the compiler of this Python environment; ToolchainError says how to get one when it is missing.

    `stop` ends its programs.
    """
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise ToolchainError(f"there is no compiler: the ziglang package is not installed here; {REMEDY}")
    zig = Path(spec.origin).parent / "zig"
    if not zig.is_file():
        raise ToolchainError(f"the ziglang package has no compiler at {zig}; {REMEDY}")
    return Toolchain(zig, cache.absolute(), stop or StopSignal())
