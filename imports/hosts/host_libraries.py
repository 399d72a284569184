"""What every build of a host half needs, made once and kept: libraries, recorder, compiled headers."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from pathlib import Path

from records.computed_once import computed_once
from records.errors import ToolchainError
from records.files import write_whole
from sandbox.amdgcn.toolchain import REMEDY, STATIC, Toolchain
from sandbox.candidate.header_names import INCLUDE
from sandbox.process import ProcessLimits, run

RECORDING = Path(__file__).parent / "recording"
TARGET = "x86_64-linux-musl"
PREFIX = RECORDING / "host_prefix.h"  # not in the cache, whose place a compiled prefix would hold
_DEFINED = (
    *("_LIBCPP_ABI_VERSION=1", "_LIBCPP_ABI_NAMESPACE=__1", "_LIBCPP_HAS_THREADS=1", "_LIBCPP_HAS_MONOTONIC_CLOCK"),
    *("_LIBCPP_HAS_TERMINAL", "_LIBCPP_HAS_MUSL_LIBC=1", "_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS"),
    *("_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS", "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0"),
    *("_LIBCPP_HAS_FILESYSTEM=1", "_LIBCPP_HAS_RANDOM_DEVICE", "_LIBCPP_HAS_LOCALIZATION", "_LIBCPP_HAS_UNICODE"),
    *("_LIBCPP_HAS_WIDE_CHARACTERS", "_LIBCPP_HAS_NO_STD_MODULES", "_LIBCPP_HAS_TIME_ZONE_DATABASE"),
    *("_LIBCPP_PSTL_BACKEND_SERIAL", "_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE"),
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
    *("__HIP_PLATFORM_AMD__=1", "__HIPCC__=1", "__HIP__=1", "_GNU_SOURCE=1"),
    "KS_INLINE=static __attribute__((host)) __attribute__((device)) inline",
)
_FOLDERS = (  # of the C++ and C libraries, in the order in which the compiler's own driver has them
    *("libcxx/include", "libcxxabi/include", "include", f"libc/include/{TARGET}", "libc/include/generic-musl"),
    *("libc/include/x86-linux-any", "libc/include/any-linux-any", "libunwind/include"),
)
FLAGS = (  # of device code's host half
    *("-target", TARGET, "--cuda-host-only", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc"),
    *("-nostdinc", "-O1", "-std=c++20", "-fdeclspec", "-fms-extensions", "-w", "-ferror-limit=8", "-fuse-cuid=none"),
    *("-fno-color-diagnostics", "-fmessage-length=0", "-Wno-error", "-fno-caret-diagnostics"),
)
_UNIT = ("-target", TARGET, "-O1", "-w", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-nostdinc")
_LIMITS = ProcessLimits(cpu_s=1200, file_bytes=1 << 30)


class HostLibraries:
    """Makes them in the toolchain's cache."""

    def __init__(self, toolchain: Toolchain) -> None:
        """Work in a folder of the toolchain's cache."""
        self._toolchain = toolchain
        self.extents = toolchain.cache / "hosts"
        self._sources = toolchain.zig.parent / "lib"

    def positions(self) -> list[str]:
        """List the compiler's words for all headers but the user's."""
        positions = [RECORDING, *(self._sources / name for name in _FOLDERS), RECORDING / "last", INCLUDE]
        return [*(f"-D{d}" for d in _DEFINED), *(word for p in positions for word in ("-isystem", str(p)))]

    @computed_once
    def prefix(self) -> Path:
        """Compile the headers that every host half begins with."""
        image = self.extents / f"prefix-{self._digest}.pch"
        if not image.is_file():
            form = ("-c", "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-fpch-instantiate-templates")
            self.extents.mkdir(parents=True, exist_ok=True)
            self._make(("-x", "hip", *FLAGS, *self.positions(), *form, str(PREFIX)), image)
        return image

    @computed_once
    def recorder(self) -> tuple[Path, ...]:
        """Compile what notes the calls, with the C++ library's reader of symbols."""
        sources = (RECORDING / "recorder.cpp", self._sources / "libcxxabi" / "src" / "cxa_demangle.cpp")
        return tuple(self._unit(source) for source in sources)

    @computed_once
    def stand_ins(self) -> Path:
        """Compile what stands for the C++ library in programs that need little of it."""
        return self._unit(RECORDING / "stand_ins.cpp")

    def _unit(self, source: Path) -> Path:
        unit = self.extents / f"{source.stem}-{self._digest}.o"
        if not unit.is_file():
            more = ("-I", str(RECORDING), "-I", str(source.parent))
            self._make((*_UNIT, *more, *self.positions(), "-c", str(source)), unit)
        return unit

    def _make(self, words: Sequence[str], target: Path) -> None:
        self.extents.mkdir(parents=True, exist_ok=True)
        part = self.extents / f"{secrets.token_hex(8)}.part"
        argv = self._toolchain.command("clang", *words, "-o", str(part))
        self._toolchain.build(argv, self.extents, self._toolchain.environment(), "prepare for host halves")
        part.replace(target)

    def has_standard(self) -> bool:
        """Tell whether the C++ library is built."""
        return self._listed("c++").is_file()

    def archives(self, driver: str) -> list[Path]:
        """List what a program is linked with, by the compiler's driver for C or C++, which builds what is not there."""
        listed = self._listed(driver)
        try:
            paths = [Path(p) for p in json.loads(listed.read_text(encoding="utf-8"))]
            if paths and all(p.is_file() for p in paths):
                return paths
        except (OSError, ValueError):
            pass  # not built yet
        work = self.extents / listed.stem
        work.mkdir(parents=True, exist_ok=True)
        source = "empty.c" if driver == "cc" else "empty.cpp"
        (work / source).write_text("int main(void) { return 0; }\n", encoding="utf-8")
        more = ("-O1",) if driver == "c++" else ()
        argv = self._toolchain.command(driver, "-target", TARGET, *STATIC, *more, "-v", source, "-o", "empty")
        completed = run(
            argv,
            cwd=work,
            env=self._toolchain.environment(),
            limits=_LIMITS,
            timeout_s=3600,
            stop=self._toolchain.stop,
            output_cap=1 << 20,
        )
        line = next((row for row in completed.stderr.splitlines() if row.startswith("ld.lld")), "")
        words = [w for w in line.split() if w.endswith((".a", "crt1.o"))]
        if completed.returncode != 0 or not words:
            raise ToolchainError(f"the compiler at {self._toolchain.zig} cannot build its libraries; {REMEDY}")
        write_whole(listed, json.dumps(words).encode())
        return [Path(w) for w in words]

    def _listed(self, driver: str) -> Path:
        version = hashlib.sha256(self._toolchain.version.encode()).hexdigest()[:16]
        return self.extents / f"libraries-{driver.replace('+', 'p')}-{version}.json"

    @computed_once
    def _digest(self) -> str:
        """Identify the compiler, its flags, the headers, and where they lie, which a compiled prefix has in it."""
        places = (str(self._sources), str(RECORDING), str(INCLUDE))
        digest = hashlib.sha256(repr((self._toolchain.version, FLAGS, _DEFINED, _UNIT, places)).encode())
        for path in sorted([*RECORDING.rglob("*"), *(INCLUDE / "hip").glob("*.h")]):
            if path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()[:16]
