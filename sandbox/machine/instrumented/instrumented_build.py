"""Compiles a candidate with probes: front end, probes in LLVM's text form, then a listing at -O1.

    candidate.hip --clang -S -emit-llvm, no pass--> front.ll --probed_module.py--> probed.ll --clang -O1--> probed.s

Both runs are in the compiler's cage. Loops are not unrolled, and aliasing is not judged by types: the listing is to
show what the source does, not how fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from records import scratch_folder
from records.errors import NoAnswer
from records.evaluation import Finding
from sandbox.amdgcn.build_budget import BuildBudget
from sandbox.amdgcn.compiler import FLAGS, MAX_LISTING
from sandbox.amdgcn.front_end import FrontEnd, Tools, begins_with_header
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.cage.output import UNREADABLE, UnusableOutput, read_output
from sandbox.candidate.diagnostics import SOURCE, compiler_findings, ending_of, refusal
from sandbox.candidate.header_names import header_words
from sandbox.candidate.instances import appended, launches_with, macros, read_symbols
from sandbox.candidate.plan import Candidate, Launch
from sandbox.machine.instrumented.fault_probe import FaultProbe
from sandbox.machine.instrumented.probed_module import instrument
from sandbox.process import Completed

_FRONT, _PROBED, _LISTING = "front.ll", "probed.ll", "probed.s"
_WATCHED = "null,alignment,array-bounds,implicit-signed-integer-truncation,implicit-unsigned-integer-truncation"
_CHECKS = (f"-fsanitize={_WATCHED}", f"-fsanitize-recover={_WATCHED}", "-fstrict-flex-arrays=1")
_FRONT_END = (
    *("-O1" if flag == "-O3" else flag for flag in FLAGS if flag[:2] != "-W" or flag[:5] == "-Wno-"),
    "-w",
    "-emit-llvm",
    "-Xclang",
    "-disable-llvm-passes",
    *(word for flag in _CHECKS for word in ("-Xclang", flag)),  # for this target the driver takes none
    "-ftrivial-auto-var-init=pattern",
    "-fno-strict-aliasing",
    "-fno-discard-value-names",
    "-DKS_PROBES=1",
    *(f'-D{name}(...)=annotate("")' for name in ("no_sanitize", "__no_sanitize__")),  # each probe is wanted
)
_BACK_END = (
    "-x",
    "ir",
    "-target",
    "amdgcn-amd-amdhsa",
    "-nogpulib",
    "-S",
    "-O1",
    "-w",
    "-fno-unroll-loops",
    "-fno-crash-diagnostics",
    "-fno-color-diagnostics",
    "-Xclang",
    "-fsanitize=local-bounds",
    "-Xclang",
    "-fsanitize-recover=local-bounds",
    "-mllvm",
    "-amdgpu-early-inline-all=true",
    "-mllvm",
    "-amdgpu-function-calls=false",
    "-mllvm",
    "-simplifycfg-hoist-common=false",  # accesses of two branches keep their lines
    "-mllvm",
    "-simplifycfg-sink-common=false",
    "-mllvm",
    "-enable-misched=false",  # the order of the source is kept
    "-mllvm",
    "-enable-post-misched=false",
    "-mllvm",
    "-disable-promote-alloca-to-vector",  # arrays lie in scratch, where each byte is defined or not
)


@dataclass(frozen=True)
class InstrumentedListing:
    """The listing with probes; with findings there is none.

    Findings of a candidate that compiles without probes are no fault of its own: it goes without this run. But where
    `is_source` says that the text itself is in error there, it asks how it is compiled.

    `symbols`: the symbol of each kernel that the plan names by an expression.
    """

    listing: str = ""
    probes: tuple[FaultProbe, ...] = ()
    symbols: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    cpu_s: float = 0.0  # processor time of the compiler
    is_source: bool = False


class InstrumentedBuild:
    """Builds candidates with probes for one target; `cache` holds the precompiled header and working folders."""

    def __init__(self, toolchain: Toolchain, cache: Path, arch: str = "gfx942") -> None:
        self._cache, self._arch = cache.resolve(), arch
        self._front_end = FrontEnd(Tools(toolchain), self._cache, (*_FRONT_END, f"--offload-arch={arch}"))

    def warm(self) -> None:
        """Make the precompiled header."""
        self._front_end.warm()

    def build(
        self, candidate: Candidate, tunables: Mapping[str, int], absent: frozenset[int] = frozenset()
    ) -> InstrumentedListing:
        """List the candidate's code with probes; a candidate that compiles without them is expected.

        `absent`: positions of arguments that are null pointers where the listing is executed, as optional buffers are.
        NoAnswer where the compiler leaves nothing that can be read.
        """
        (self._cache / "work").mkdir(parents=True, exist_ok=True)
        work, budget = scratch_folder.make_in(self._cache / "work"), BuildBudget()
        try:
            return self._build(candidate, tunables, absent, work, budget)
        except (UnusableOutput, *UNREADABLE) as error:
            raise NoAnswer(f"the compiler left nothing that can be read ({error})") from None
        finally:
            scratch_folder.remove(work)

    def _build(
        self, candidate: Candidate, tunables: Mapping[str, int], absent: frozenset[int], work: Path, budget: BuildBudget
    ) -> InstrumentedListing:
        definitions = macros(candidate.source, tunables)
        words = [f"-D{name}={value}" for name, value in definitions.items()]
        prefixed = begins_with_header(candidate.source) and header_words().isdisjoint(definitions)
        launches = launches_with(candidate.plan.launches, tunables)
        source = candidate.source + appended(launches, SOURCE, is_symbol=True)
        front_end = self._front_end.within(budget)
        completed = front_end.run(work, source, source if prefixed else None, *words, SOURCE, "-o", _FRONT)
        if completed.returncode != 0:
            return replace(_failed(completed, candidate, budget), is_source=ending_of(completed) is None)
        text = read_output(work / _FRONT).decode("utf-8", errors="replace")
        module = instrument(text, SOURCE, _aligned(launches) - absent)
        (work / _PROBED).write_text(module.text, encoding="utf-8")
        argv = (*_BACK_END, f"-mcpu={self._arch}", _PROBED, "-o", _LISTING)
        completed = front_end.tools.run(work, "clang", *argv)
        if completed.returncode != 0:
            return _failed(completed, candidate, budget)
        listed = read_output(work / _LISTING)
        if len(listed) > MAX_LISTING:
            much = "the code with probes is larger than 16 MiB of assembly; unroll less or use smaller tables"
            return InstrumentedListing(findings=(refusal(much),), cpu_s=budget.spent_s)
        listing, symbols = read_symbols(listed.decode("utf-8", errors="replace"), launches)
        return InstrumentedListing(listing, module.probes, tuple(symbols.items()), cpu_s=budget.spent_s)


def _aligned(launches: Sequence[Launch]) -> frozenset[int]:
    """Find where every launch passes a name: a buffer's first address, which is aligned, or a number."""
    texts = [[(position, str(text)) for position, text in enumerate(launch.args)] for launch in launches]
    return frozenset(position for row in texts for position, _ in row) - {
        position for row in texts for position, text in row if not text.isidentifier()
    }


def _failed(completed: Completed, candidate: Candidate, budget: BuildBudget) -> InstrumentedListing:
    return InstrumentedListing(findings=compiler_findings(completed, candidate.source), cpu_s=budget.spent_s)
