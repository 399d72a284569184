"""A candidate as a program for this machine: compiled as plain C++ against our headers, linked with the lab's runtime.

The front end sees only the candidate, our headers and clang's own, through a virtual file system, as in the real
compilation; the program gets no library but musl and the runtime.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from records import scratch_folder
from records.codec import dumps, loads
from records.computed_once import computed_once
from records.errors import LabError, NoAnswer
from records.evaluation import Finding
from sandbox.amdgcn.build_budget import BuildBudget
from sandbox.amdgcn.front_end import FrontEnd, Tools, header_digests
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.cage.output import UNREADABLE, UnusableOutput, read_output
from sandbox.candidate.code_identity import code_id
from sandbox.candidate.diagnostics import SOURCE, START_UP, compiler_findings, linker_findings, refusal
from sandbox.candidate.instances import instantiated
from sandbox.candidate.plan import Candidate
from sandbox.elf import Elf
from sandbox.evidence import Evidence
from sandbox.lab.build import executor
from sandbox.lab.build.assembly import reached
from sandbox.lab.build.bridges import bridges_of
from sandbox.lab.build.conditions import SEALED as SEALED_TEXT
from sandbox.lab.build.conditions import UNMARKED, conditions_in, with_marks, write_marked
from sandbox.lab.build.decisions import decisions_in
from sandbox.lab.build.flags import BACK_END, CHECKS, FLAGS, IR, OPTIMISED, PLAIN, PREPROCESS, SEALED
from sandbox.lab.build.kernel_names import called_symbols
from sandbox.lab.build.lab_program import LabProgram, described_program
from sandbox.lab.build.object_file import prepare_object
from sandbox.lab.build.probes import add_probes
from sandbox.lab.build.pure_functions import broken_promises
from sandbox.lab.build.reading import CLOSING, Reader, Reading, behind_header, text_digest, wave_macros
from sandbox.lab.build.sealed_calls import seal
from sandbox.process import Completed

RECORDED_S = 6.0  # of processor time to build what records; for kernels as people write them it takes 0.2
FORMAT = "27"  # raise it when the same source would give another program or description


@dataclass(frozen=True)
class Builder:
    """Compiles and links candidates, each once."""

    toolchain: Toolchain
    cache: Path
    wave: int = 64
    evidence: Evidence | None = None  # keeps the files of the first build
    budget: BuildBudget | None = None  # of one build
    recorded_s: float = RECORDED_S

    def build(
        self,
        candidate: Candidate,
        tunables: Mapping[str, int],
        *,
        instrumented: bool = True,
        expressions: Mapping[str, str] | None = None,
        spent_s: float = 0.0,
    ) -> LabProgram | tuple[Finding, ...]:
        """The program, or why the candidate cannot be one. Without instrumentation no access is checked or counted.

        With `expressions`, which the same candidate's program has with other tunables, what the two compilers read is
        not compared: such a program may be timed, and no verdict can rest on it. `spent_s`: processor time of the
        candidate's build so far.
        """
        candidate = instantiated(candidate, tunables)
        form = [*([] if instrumented else ["plain"]), *([] if self.wave == 64 else [self.wave])]
        folder = self._folder(candidate, tunables, form)
        kept = self.evidence.once("lab") if self.evidence else None
        if kept is None and (known := _known(folder)):
            return known
        if expressions is not None:
            folder = self._ranked(candidate, tunables, form, expressions)
            if kept is None and (known := _known(folder)):
                return known
        (self.cache / "lab" / "work").mkdir(parents=True, exist_ok=True)
        work = kept or scratch_folder.make_in(self.cache / "lab" / "work")
        try:
            within = replace(self, budget=BuildBudget(spent_s=spent_s))
            read = Reader(within._tools, self.cache, within._checked, self.wave).read(
                candidate, tunables, work, expressions
            )
            if isinstance(read, tuple):
                return read
            ranked = None if kept else _known(self._ranked(candidate, tunables, form, read.kernels))
            if ranked and ranked.text_digest == text_digest(read.text):
                _describe_in(folder, dumps(ranked))  # built when this choice was ranked, and compared now
                return ranked
            made = within._build(candidate, read, work, folder, CHECKS if instrumented else ())
            if isinstance(made, LabProgram):
                _keep(work / "program", dumps(made), folder)
            return made
        except (UnusableOutput, *UNREADABLE) as error:
            raise NoAnswer(f"the lab's compiler left nothing that can be read ({error})") from None
        except OSError as error:
            raise LabError(f"the lab's cache {self.cache} cannot be used ({error.strerror})") from None
        finally:
            if kept is None:
                scratch_folder.remove(work)

    def recording(self, candidate: Candidate, tunables: Mapping[str, int], program: LabProgram) -> LabProgram | None:
        """The same program, which records what its comparisons compare; None where that cannot be had."""
        folder = Path(program.path).parent / "recording"
        if known := _known(folder):
            return known
        work = scratch_folder.make_in(self.cache / "lab" / "work")
        tools = replace(self, budget=BuildBudget(self.recorded_s))._tools
        try:
            text = read_output(folder.parent / UNMARKED).decode("utf-8")
            (work / SEALED_TEXT).write_text(with_marks(text, is_recorded=True)[0], encoding="utf-8")
            done = tools.run(work, "clang", *BACK_END, *SEALED, "-c", SEALED_TEXT, "-o", "candidate.o")
            if done.returncode != 0:
                return None
            prepared = prepare_object(read_output(work / "candidate.o"))
            (work / "prepared.o").write_bytes(prepared.data)
            command = executor.link_command(self.toolchain, self.cache, "prepared.o", "program")
            done = tools.run(work, *command, shown=(executor.folder(self.toolchain, self.cache),))
            if done.returncode != 0:
                return None
            elf, own = Elf(read_output(work / "program")), instantiated(candidate, tunables)
            described = described_program(own, elf, set(prepared.lds), folder / "program")
            made = replace(described, conditions=program.conditions, recorded_of=program.path)
            _keep(work / "program", dumps(made), folder)
            return made
        except (UnusableOutput, *UNREADABLE, OSError):
            return None  # an older program left no text
        finally:
            scratch_folder.remove(work)

    def warm(self) -> None:
        """Make what every program needs: the runtime and the precompiled header."""
        try:
            executor.link_command(self.toolchain, self.cache, "prepared.o", "program")
            self._checked.warm()
        except OSError as error:
            raise LabError(f"the lab's cache {self.cache} cannot be used ({error.strerror})") from None

    @computed_once
    def identity(self) -> str:
        """SHA-256 of everything but the candidate: runtime, flags, headers, compiler."""
        headers = [list(row) for row in header_digests()]
        flags = [*FLAGS, *CHECKS, *OPTIMISED, *SEALED, *PLAIN, *PREPROCESS]
        parts = [FORMAT, executor.identity(self.toolchain), flags, headers]
        return hashlib.sha256(dumps(parts).encode()).hexdigest()

    def _folder(self, candidate: Candidate, tunables: Mapping[str, int], form: Sequence[object]) -> Path:
        launches = [[each.kernel, each.line, len(each.args), each.structs] for each in candidate.plan.launches]
        parts = [self.identity, code_id(candidate.source), launches, dict(tunables), *form]
        key = hashlib.sha256(dumps(parts).encode()).hexdigest()
        return self.cache / "lab" / "programs" / key[:2] / key

    def _ranked(
        self, candidate: Candidate, tunables: Mapping[str, int], form: Sequence[object], expressions: Mapping[str, str]
    ) -> Path:
        """The place of a program that was built to rank this choice."""
        return self._folder(candidate, tunables, [*form, "not compared", dict(expressions)])

    def _build(
        self, candidate: Candidate, made: Reading, work: Path, folder: Path, checks: Sequence[str]
    ) -> LabProgram | tuple[Finding, ...]:
        secret = secrets.token_hex(16) if checks else ""
        bridges = bridges_of(candidate, made.kernels, secret)
        done = self._compiled(work, f"{made.text}\n{bridges}", checks, secret)  # the tunables stand in it by now
        if isinstance(done, tuple):
            return done
        if done.returncode != 0:
            return compiler_findings(done, candidate.source)
        module = read_output(work / "candidate.ll").decode("utf-8") if checks else ""
        if checks and (refused := reached(made.unknown, module)):
            return refused
        prepared = prepare_object(read_output(work / "candidate.o"))
        if prepared.start_up:
            return (START_UP,)
        if prepared.foreign:
            return tuple(map(_undefined, prepared.foreign[:20]))
        (work / "prepared.o").write_bytes(prepared.data)
        command = executor.link_command(self.toolchain, self.cache, "prepared.o", "program")
        done = self._tools.run(work, *command, shown=(executor.folder(self.toolchain, self.cache),))
        if done.returncode != 0:
            return _link_findings(done)
        symbols = called_symbols(module, candidate.plan.launches)
        described = described_program(
            candidate, Elf(read_output(work / "program")), set(prepared.lds), folder / "program"
        )
        return replace(
            described,
            symbols=symbols,
            decisions=decisions_in(work, len(candidate.plan.launches)),
            conditions=conditions_in(work) if checks else (),
            expressions=made.kernels,
            text_digest=text_digest(made.text),
        )

    def _compiled(self, work: Path, text: str, checks: Sequence[str], secret: str) -> Completed | tuple[Finding, ...]:
        """Compile to candidate.o; with checks by way of LLVM's text form, to which probes are added, and sealed."""
        front_end, prefixed = self._checked if checks else self._plain, behind_header(text)
        if not checks:
            return front_end.run(work, text, prefixed, SOURCE, "-c", "-o", "candidate.o")
        done = front_end.run(work, text, prefixed, SOURCE, *IR, "-o", "candidate.ll")
        if done.returncode != 0:
            return done
        module = read_output(work / "candidate.ll").decode("utf-8")
        if refused := broken_promises(self._tools, work, module):
            return refused
        probed = add_probes(module)
        (work / "probed.ll").write_text(probed, encoding="utf-8")
        done = self._tools.run(work, "clang", *BACK_END, *checks, *OPTIMISED, "probed.ll", "-o", "optimised.ll")
        if done.returncode != 0:
            return done
        sealed = seal(read_output(work / "optimised.ll").decode("utf-8"), secret)
        if isinstance(sealed, Finding):
            return (sealed,)
        write_marked(work, sealed)
        return self._tools.run(work, "clang", *BACK_END, *SEALED, "-c", "sealed.ll", "-o", "candidate.o")

    @computed_once
    def _tools(self) -> Tools:
        return Tools(self.toolchain, self.evidence, budget=self.budget)

    @computed_once
    def _checked(self) -> FrontEnd:
        flags = (*FLAGS, *CHECKS, *wave_macros(self.wave))
        return FrontEnd(self._tools, self.cache, flags, CLOSING)

    @computed_once
    def _plain(self) -> FrontEnd:
        flags = (*FLAGS, *PLAIN, *wave_macros(self.wave))
        return FrontEnd(self._tools, self.cache, flags, CLOSING)


def _known(folder: Path) -> LabProgram | None:
    try:
        return loads(LabProgram, (folder / "program.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None  # not built yet


def _link_findings(done: Completed) -> tuple[Finding, ...]:
    missing = sorted(
        {line.split("undefined symbol:")[1].strip() for line in done.stderr.split("\n") if "undefined symbol:" in line}
    )
    if not missing and done.timed_out:
        return linker_findings(done)
    if not missing:
        raise NoAnswer(f"the lab's linker failed: {(done.stderr.strip() or 'no message')[:400]}")
    return tuple(_undefined(name) for name in missing[:20])


def _undefined(name: str) -> Finding:
    return refusal(
        f"undefined symbol: {name} is used but not defined in this file, and the lab does not provide it", code="B.2"
    )


def _keep(program: Path, description: str, folder: Path) -> None:
    """Copy the program into the cache; the description comes last, so a half-made entry is never read."""
    folder.mkdir(parents=True, exist_ok=True)
    program.chmod(0o500)
    draft = folder / f"program.{program.parent.name}"
    shutil.copy(program, draft)  # evidence keeps its own, and may lie on another file system
    draft.replace(folder / "program")
    with suppress(FileNotFoundError):  # there are no conditions
        shutil.copy(program.parent / UNMARKED, folder / UNMARKED)
    _describe_in(folder, description)


def _describe_in(folder: Path, description: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"program.json.{os.getpid()}"
    draft.write_text(description, encoding="utf-8")
    draft.replace(folder / "program.json")
