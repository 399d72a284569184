"""The compiler's tools, and clang's front end on one text.

A tool runs in a folder of its own with an empty environment, limits and a deadline. The front end sees the text, our
headers and clang's own, and no other file.

Nearly every candidate begins with `#include <hip/hip_runtime.h>`, which takes longer to read than the candidate itself.
It is read once for each set of flags and kept in clang's precompiled form. That form is used only where nothing stands
before the include, so that the tokens are the same; and where clang has anything to say, the text is read again as it
stands, so that its words are the same, too. The form lies under a random name: no condition in a candidate can ask
whether it is used.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from records.codec import dumps
from records.computed_once import computed_once
from records.disk_room import full_disk
from records.errors import DiskFull, ToolchainError
from records.files import write_whole
from sandbox.amdgcn.build_budget import BuildBudget, unaffordable
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.cage.view import View
from sandbox.candidate.diagnostics import BUILD_CPU_S, SOURCE, ending_of
from sandbox.candidate.header_names import INCLUDE, further_names
from sandbox.candidate.pp_tokens import first_row
from sandbox.evidence import Evidence
from sandbox.process import Completed, ProcessLimits, last_words, run

PRINTED = 2 * 65536  # bytes of a tool's output that are kept
LIMITS = ProcessLimits(cpu_s=int(BUILD_CPU_S), memory_bytes=1900 << 20, file_bytes=256 << 20)  # of each tool
_FOLDERS = ("/include", "/first", "/clang", "/include/host", "/last")  # in this order
_FILES = ("-ivfsoverlay", "files.json", *(word for folder in _FOLDERS for word in ("-isystem", folder)))
_HEADER = ["#", "include", "<hip/hip_runtime.h>"]
_PREFIX, _IMAGE, _PLACE = "prefix.h", "prefix.pch", "place"
# The templates that the header itself uses are instantiated in it once, not again behind each text.
_PRECOMPILE = ("-c", "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-fpch-instantiate-templates")


@dataclass(frozen=True)
class Tools:
    """Clang and the linker in their cage, and the evidence that keeps a record of their calls."""

    toolchain: Toolchain
    evidence: Evidence | None = None
    limits: ProcessLimits = LIMITS  # of each tool
    budget: BuildBudget | None = None  # of all tools together; None for our own headers

    def run(
        self, work: Path, tool: str, *args: str, readable: Sequence[Path] = (), printed: int = PRINTED
    ) -> Completed:
        """Run clang or ld.lld with this folder as its working, home and temporary directory, the only one it writes to.

        It sees that folder, our headers, clang's own, and `readable`. With nothing left of the budget it is late.
        """
        limits = self.budget.limits(self.limits) if self.budget else self.limits
        if limits is None:
            return unaffordable()
        environment = {"TMPDIR": str(work), "HOME": str(work)}
        argv = self.toolchain.command(tool, *args)
        completed = run(
            argv,
            cwd=work,
            env=environment,
            limits=limits,
            cage=self.toolchain.cage,
            view=compiler_view(self.toolchain, work, readable),
            output_cap=printed,
            stop=self.toolchain.stop,
        )
        if completed.returncode != 0 and (full := full_disk([work])):
            raise DiskFull(f"{full}, and the compiler writes there")  # a text is never blamed for it
        if self.budget:
            self.budget.charge(completed)
        if self.evidence:
            self.evidence.command(work, argv, environment, completed)
        return completed


@dataclass(frozen=True)
class FrontEnd:
    """Clang with fixed flags; `cache` may be shared by any number of processes."""

    tools: Tools
    cache: Path
    flags: tuple[str, ...]  # without macros of the candidate and without the output

    def run(self, work: Path, text: str, prefixed: str | None, *args: str, printed: int = PRINTED) -> Completed:
        """Run on `text`; `prefixed` is what stands for it behind the precompiled header, None where nothing does."""
        if prefixed is not None:
            prefix = self._prefix
            self.lay_out(work, prefixed, prefix)
            form = ("-include-pch", str(prefix / _IMAGE), *_FILES)
            completed = self.tools.run(work, "clang", *self.flags, *form, *args, readable=(prefix,), printed=printed)
            if completed.returncode == 0 and not completed.stderr.strip():
                return completed
            if completed.returncode != 0 and ending_of(completed):
                return completed  # it has said nothing about the text, and would meet its limit again
        self.lay_out(work, text)
        return self.tools.run(work, "clang", *self.flags, *_FILES, *args, printed=printed)

    def within(self, budget: BuildBudget) -> FrontEnd:
        """Copy the front end for runs that this budget pays for."""
        return replace(self, tools=replace(self.tools, budget=budget))

    def warm(self) -> None:
        """Make the precompiled header now."""
        _ = self._prefix

    def lay_out(self, work: Path, text: str, prefix: Path | None = None) -> None:
        """Write the text and the list of files that the front end can open; every other path does not exist for it."""
        work.mkdir(exist_ok=True)
        (work / SOURCE).write_text(text, encoding="utf-8")
        precompiled = (prefix / _PREFIX, prefix / _IMAGE) if prefix else ()
        visible = {str(path): path for path in (work / SOURCE, *precompiled)}
        visible |= {
            f"/{position}/{name}": path
            for position in ("first", "last")
            for name, path in further_names(position).items()
        }
        files = {
            "version": 0,
            "redirecting-with": "redirect-only",
            "case-sensitive": True,
            "use-external-names": False,
            "roots": [
                *({"name": name, "type": "file", "external-contents": str(path)} for name, path in visible.items()),
                {"name": "/include", "type": "directory-remap", "external-contents": str(INCLUDE)},
                {"name": "/clang", "type": "directory-remap", "external-contents": str(self._clang_headers)},
            ],
        }
        (work / "files.json").write_text(json.dumps(files), encoding="utf-8")

    @computed_once
    def _prefix(self) -> Path:
        """Find the folder with the precompiled header; make it now if there is none."""
        parts = [header_digests(), self.flags, _PRECOMPILE, self.tools.toolchain.version, str(self.cache)]
        parent = self.cache / "prefix" / hashlib.sha256(dumps(parts).encode()).hexdigest()
        try:
            folder = parent / (parent / _PLACE).read_text(encoding="ascii")
            if (folder / _IMAGE).is_file():
                return folder
        except OSError:
            pass  # not made yet
        folder = parent / secrets.token_hex(16)
        folder.mkdir(parents=True)
        (folder / _PREFIX).write_text("#include <hip/hip_runtime.h>\n", encoding="utf-8")
        self.lay_out(folder, "", folder)
        make = (*self.flags, *_FILES, *_PRECOMPILE, str(folder / _PREFIX), "-o", _IMAGE)
        completed = Tools(self.tools.toolchain).run(folder, "clang", *make)
        if completed.returncode != 0:
            raise ToolchainError(
                f"our own headers do not compile ({last_words(completed.stderr)}); run ./kernel-scientist again"
            )
        write_whole(parent / _PLACE, folder.name.encode())
        return folder

    @computed_once
    def _clang_headers(self) -> Path:
        folder = self.tools.toolchain.zig.parent / "lib" / "include"
        if not (folder / "stddef.h").is_file():
            raise ToolchainError(f"clang's own headers are missing at {folder}; run ./kernel-scientist again")
        return folder


def compiler_view(toolchain: Toolchain, work: Path, readable: Sequence[Path] = ()) -> View:
    """Name all that the compiler's tools see: themselves, the headers, `readable`, and one folder to work in."""
    zig = toolchain.zig
    return View(
        readable=(INCLUDE, zig.parent / "lib" / "include", *readable),
        executable=(zig,),
        writable=(work,),
        devices=(Path("/dev/null"), Path("/dev/urandom")),
    )


def begins_with_header(source: str) -> bool:
    """Tell whether nothing but comments stands before `#include <hip/hip_runtime.h>`."""
    return [token.text for token in first_row(source)] == _HEADER


@cache
def header_digests() -> tuple[tuple[str, str], ...]:
    """Digest all our headers by SHA-256, by name."""
    files = sorted(path for path in INCLUDE.rglob("*") if path.is_file())
    return tuple((str(p.relative_to(INCLUDE)), hashlib.sha256(p.read_bytes()).hexdigest()) for p in files)
