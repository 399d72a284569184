"""A candidate as a program for this machine: compiled as plain C++ against our headers, linked with the lab's runtime.

The front end sees only the candidate, our headers and clang's own, through a virtual file system, as in the real
compilation; the program gets no library but musl and the runtime.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from records.codec import dumps, loads
from records.errors import LabError
from records.evaluation import Finding
from sandbox.amdgcn.compiler import FLAGS as DEVICE_FLAGS
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.candidate.diagnostics import SOURCE, START_UP, compiler_findings, refusal
from sandbox.candidate.plan import Candidate
from sandbox.elf import Elf
from sandbox.evidence import Evidence
from sandbox.lab.build import executor
from sandbox.lab.build.assembly import translate
from sandbox.lab.build.device_text import DeviceText, at_source, device_text, source_refusals, text_refusals
from sandbox.lab.build.lines import LineTable, read_lines
from sandbox.lab.build.object_file import DYNAMIC_LDS, prepare_object
from sandbox.lab.build.probes import add_probes
from sandbox.process import Completed, ProcessLimits, run

INCLUDE = executor.INCLUDE
LIMITS = ProcessLimits(cpu_s=60, memory_bytes=8 << 30, file_bytes=256 << 20)
TIMEOUT_S = 60.0
FORMAT = "6"  # raise it when the same source would give another program or description
_HOST_MACROS = (  # what would tell device code that it runs on the host
    "__x86_64__",
    "__x86_64",
    "__amd64__",
    "__amd64",
    "__linux__",
    "__linux",
    "linux",
    "__gnu_linux__",
    "__unix__",
    "__unix",
    "unix",
    "__k8",
    "__k8__",
    "__haswell",
    "__haswell__",
    "__SSE__",
    "__SSE2__",
    "__SSE3__",
    "__SSSE3__",
    "__SSE4_1__",
    "__SSE4_2__",
    "__AVX__",
    "__AVX2__",
    "__FMA__",
    "__F16C__",
    "__BMI__",
    "__BMI2__",
    "__MMX__",
    "__SSE_MATH__",
    "__SSE2_MATH__",
    "__SANITIZE_ADDRESS__",
    "__SEG_FS",
    "__SEG_GS",
    "__code_model_small__",
)
_DEVICE_MACROS = (
    "__HIP__=1",
    "__HIPCC__=1",
    "__HIP_DEVICE_COMPILE__=1",
    "__HIP_PLATFORM_AMD__=1",
    "__AMD__=1",
    "__AMDGPU__=1",
    "__AMDGCN__=1",
    "__gfx942__=1",
    "__GFX9__=1",
    '__amdgcn_processor__="gfx942"',
    "__AMDGCN_WAVEFRONT_SIZE__=64",
    "__AMDGCN_WAVEFRONT_SIZE=64",
    "__HAS_FMAF__=1",
    "__HAS_FP64__=1",
    "__HAS_LDEXPF__=1",
    "__CUDA_ARCH_FEAT_NONE=1",
)
_CHECKS = (
    "-fsanitize=kernel-address",
    "-mllvm",
    "-asan-instrumentation-with-call-threshold=0",
    "-mllvm",
    "-asan-opt=0",
    "-mllvm",
    "-asan-stack=0",
    "-mllvm",
    "-asan-globals=0",
    "-mllvm",
    "-asan-use-stack-safety=1",
    "-mllvm",
    "-asan-kernel-mem-intrinsic-prefix=1",
    "-mllvm",
    "-asan-instrument-atomics=0",
    "-fsanitize=alignment,implicit-integer-truncation,array-bounds,local-bounds",
    "-fno-sanitize-trap=local-bounds",
    "-fsanitize-recover=all",
    "-fno-sanitize-recover=local-bounds",
    "-fstrict-flex-arrays=1",
)
_PREPROCESS = (*("-E" if flag == "-S" else flag for flag in DEVICE_FLAGS), "--offload-arch=gfx942")
EXPANDED = "expanded.hip"
_IR = ("-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes")
_PLAIN = ("-DKS_PLAIN=1",)  # fences do nothing: they only order what the checks remember
FLAGS = (
    "-x",
    "c++",
    "-std=c++20",
    "-target",
    "x86_64-linux-musl",
    "-O2",
    "-march=x86-64-v3",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-gdwarf-4",
    "-gline-tables-only",
    "-fdebug-compilation-dir=.",
    "-fno-exceptions",
    "-fno-rtti",
    "-nostdinc",
    "-nostdinc++",
    "-ffreestanding",
    "-fbuiltin",
    "-fno-stack-protector",
    "-fstack-clash-protection",
    "-ffp-contract=fast",
    "-fdeclspec",
    "-fdata-sections",
    "-fno-asynchronous-unwind-tables",
    "-ftls-model=local-exec",
    "-fno-pic",
    "-fno-finite-loops",
    "-fno-delete-null-pointer-checks",
    "-fno-strict-aliasing",
    "-fno-crash-diagnostics",
    "-fno-color-diagnostics",
    "-ferror-limit=20",
    "-fmessage-length=0",
    "-ftemplate-depth=512",
    "-fconstexpr-steps=2000000",
    "-mlong-double-64",
    "-w",
    "-DKS_LAB=1",
    "-mllvm",
    "-disable-block-placement",  # in the source's order: lowest_site() in runtime/workgroup.cpp rests on it
    *(f"-U{name}" for name in _HOST_MACROS),
    *(f"-D{text}" for text in _DEVICE_MACROS),
)
_BACK_END = ("-x", "ir", *(flag for flag in FLAGS[3:] if not flag.startswith(("-D", "-U"))))


@dataclass(frozen=True)
class LdsVariable:
    """Place of one LDS variable in the thread-local image."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class LabProgram:
    """One executable and what is needed to call it and to read its findings."""

    path: str
    kernels: Mapping[str, int]  # address of the bridge to each kernel
    tls_bytes: int
    tls_align: int
    image: tuple[int, int]
    globals: tuple[int, int]  # where the candidate's own __device__ variables lie
    lds: tuple[LdsVariable, ...]
    dynamic_lds_offset: int
    lines: LineTable


@dataclass(frozen=True)
class Builder:
    """Compiles and links candidates, each once."""

    toolchain: Toolchain
    cache: Path
    wave: int = 64
    evidence: Evidence | None = None  # keeps the files of the first build

    def build(
        self, candidate: Candidate, tunables: Mapping[str, int], *, instrumented: bool = True
    ) -> LabProgram | tuple[Finding, ...]:
        """The program, or why the candidate cannot be one. Without instrumentation no access is checked or counted."""
        parts = [
            self.identity,
            candidate.id,
            dict(tunables),
            *([] if instrumented else ["plain"]),
            *([] if self.wave == 64 else [self.wave]),
        ]
        key = hashlib.sha256(dumps(parts).encode()).hexdigest()
        folder = self.cache / "lab" / "programs" / key[:2] / key
        kept = self.evidence.once("lab") if self.evidence else None
        try:
            if kept is None:
                return loads(LabProgram, (folder / "program.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError):
            pass  # not built yet
        (self.cache / "lab" / "work").mkdir(parents=True, exist_ok=True)
        work = kept or Path(tempfile.mkdtemp(dir=self.cache / "lab" / "work"))
        try:
            made = self._build(candidate, tunables, work, folder, _CHECKS if instrumented else ())
            if isinstance(made, LabProgram):
                _keep(work / "program", dumps(made), folder)
                if kept is not None:
                    shutil.copy(folder / "program", kept / "program")
            return made
        except OSError as error:
            raise LabError(f"the lab's cache {self.cache} cannot be used ({error.strerror})") from None
        finally:
            if kept is None:
                shutil.rmtree(work, ignore_errors=True)

    @cached_property
    def identity(self) -> str:
        """SHA-256 of everything but the candidate: runtime, flags, headers, compiler."""
        files = sorted(path for path in INCLUDE.rglob("*") if path.is_file())
        headers = [(str(path.relative_to(INCLUDE)), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
        parts = [FORMAT, executor.identity(self.toolchain), [*FLAGS, *_CHECKS, *_PLAIN, *_PREPROCESS], headers]
        return hashlib.sha256(dumps(parts).encode()).hexdigest()

    def _build(
        self, candidate: Candidate, tunables: Mapping[str, int], work: Path, folder: Path, checks: Sequence[str]
    ) -> LabProgram | tuple[Finding, ...]:
        made = self._as_on_the_gpu(candidate, tunables, work / "text")
        if isinstance(made, tuple):
            return made
        text, refused = translate(made.text)
        if refused := (*text_refusals(made), *at_source(refused, made)):
            return refused
        self._lay_out(work, f"{text}\n{_bridges(candidate)}")
        macros = _wave_macros(self.wave)  # the tunables stand in the text by now
        output = [*_IR, "-o", "candidate.ll"] if checks else ["-c", "-o", "candidate.o"]
        done = self._tool(
            work,
            "clang",
            *FLAGS,
            *(checks or _PLAIN),
            "-ivfsoverlay",
            "files.json",
            "-isystem",
            "/include",
            "-isystem",
            "/clang",
            *macros,
            SOURCE,
            *output,
        )
        if done.returncode == 0 and checks:
            probed = add_probes((work / "candidate.ll").read_text(encoding="utf-8"))
            (work / "probed.ll").write_text(probed, encoding="utf-8")
            done = self._tool(work, "clang", *_BACK_END, *checks, "-c", "probed.ll", "-o", "candidate.o")
        if done.returncode != 0:
            return compiler_findings(done, candidate.source)
        prepared = prepare_object((work / "candidate.o").read_bytes())
        if prepared.start_up:
            return (START_UP,)
        (work / "prepared.o").write_bytes(prepared.data)
        done = self._tool(work, *executor.link_command(self.toolchain, self.cache, "prepared.o", "program"))
        if done.returncode != 0:
            return _link_findings(done)
        return _describe(
            candidate, Elf((work / "program").read_bytes()), Elf(prepared.data), set(prepared.lds), folder / "program"
        )

    def _as_on_the_gpu(
        self, candidate: Candidate, tunables: Mapping[str, int], work: Path
    ) -> DeviceText | tuple[Finding, ...]:
        if refused := source_refusals(candidate.source):
            return refused
        self._lay_out(work, candidate.source)
        macros = [f"-D{name}={value}" for name, value in tunables.items()] + _wave_macros(self.wave)
        done = self._tool(
            work,
            "clang",
            *_PREPROCESS,
            "-ivfsoverlay",
            "files.json",
            "-isystem",
            "/include",
            "-isystem",
            "/clang",
            *macros,
            SOURCE,
            "-o",
            EXPANDED,
        )
        if done.returncode != 0:
            return compiler_findings(done, candidate.source)
        return device_text((work / EXPANDED).read_text(encoding="utf-8"))

    def _lay_out(self, work: Path, source: str) -> None:
        work.mkdir(exist_ok=True)
        (work / SOURCE).write_text(source, encoding="utf-8")
        (work / "files.json").write_text(json.dumps(self._visible_files(work)), encoding="utf-8")

    def _visible_files(self, work: Path) -> dict[str, object]:
        clang = self.toolchain.zig.parent / "lib" / "include"
        return {
            "version": 0,
            "redirecting-with": "redirect-only",
            "case-sensitive": True,
            "use-external-names": False,
            "roots": [
                {"name": str(work / SOURCE), "type": "file", "external-contents": str(work / SOURCE)},
                {"name": "/include", "type": "directory-remap", "external-contents": str(INCLUDE)},
                {"name": "/clang", "type": "directory-remap", "external-contents": str(clang)},
            ],
        }

    def _tool(self, work: Path, tool: str, *args: str) -> Completed:
        environment = {**self.toolchain.environment(), "TMPDIR": str(work), "HOME": str(work)}
        argv = self.toolchain.command(tool, *args)
        done = run(argv, cwd=work, env=environment, output_cap=2 * 65536, timeout_s=TIMEOUT_S, limits=LIMITS)
        if self.evidence:
            self.evidence.command(work, argv, environment, done)
        return done


def _wave_macros(wave: int) -> list[str]:
    names = ("__AMDGCN_WAVEFRONT_SIZE__", "__AMDGCN_WAVEFRONT_SIZE")
    return [] if wave == 64 else [*(w for n in names for w in (f"-U{n}", f"-D{n}={wave}")), f"-DKS_WAVE={wave}"]


def _bridges(candidate: Candidate) -> str:
    """One exported function a launch; it stands behind the candidate's text and has a line number of the plan."""
    parts = ['#line 1 "launch"', "#include <ks_lab/launch.h>"]
    for number, launch in enumerate(candidate.plan.launches):
        parts += [f'#line {launch.line} "{SOURCE}"', f"KS_LAUNCH({number}, {len(launch.args)}, {launch.kernel})"]
    return "\n".join(parts) + "\n"


def _link_findings(done: Completed) -> tuple[Finding, ...]:
    missing = sorted(
        {line.split("undefined symbol:")[1].strip() for line in done.stderr.split("\n") if "undefined symbol:" in line}
    )
    if not missing:
        raise LabError(f"the lab's linker failed: {(done.stderr.strip() or 'no message')[:400]}")
    return tuple(
        refusal(
            f"undefined symbol: {name} is used but not defined in this file, and the lab does not provide it",
            code="B.2",
        )
        for name in missing[:20]
    )


def _describe(candidate: Candidate, program: Elf, source: Elf, lds_names: set[str], path: Path) -> LabProgram:
    by_name = {s.name: s for s in program.symbols if s.section}
    lds = tuple(LdsVariable(s.name, s.value, s.size) for s in program.symbols if s.kind == 6 and s.name in lds_names)
    own = {s.name for s in source.symbols if s.kind == 1 and s.section and s.name}
    spans = [(s.value, s.value + s.size) for s in program.symbols if s.kind == 1 and s.name in own]
    memory, align = program.tls_segment()
    kernels = {launch.kernel: by_name[f"ks_launch_{i}"].value for i, launch in enumerate(candidate.plan.launches)}
    return LabProgram(
        path=str(path),
        kernels=kernels,
        tls_bytes=memory,
        tls_align=align,
        image=program.image(),
        globals=(min((s[0] for s in spans), default=0), max((s[1] for s in spans), default=0)),
        lds=lds,
        dynamic_lds_offset=by_name[DYNAMIC_LDS].value,
        lines=read_lines(program.content(".debug_line"), SOURCE),
    )


def _keep(program: Path, description: str, folder: Path) -> None:
    """Move the program into the cache; the description comes last, so a half-made entry is never read."""
    folder.mkdir(parents=True, exist_ok=True)
    program.chmod(0o500)
    os.replace(program, folder / "program")  # noqa: PTH105
    draft = folder / f"program.json.{os.getpid()}"
    draft.write_text(description, encoding="utf-8")
    draft.replace(folder / "program.json")
