"""One reading of a candidate for both compilers: the text that the lab compiles, once it means the same to each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from records.computed_once import computed_once
from records.evaluation import Finding
from sandbox.amdgcn.compiler import FLAGS as DEVICE_FLAGS
from sandbox.amdgcn.front_end import FrontEnd, Tools, begins_with_header
from sandbox.amdgcn.syntax_tree import DUMP, SyntaxTree, read_tree
from sandbox.cage.output import read_output
from sandbox.candidate.diagnostics import SOURCE, compiler_findings, refusal
from sandbox.candidate.header_names import header_words
from sandbox.candidate.instances import appended, macros
from sandbox.candidate.plan import Candidate, Launch
from sandbox.candidate.pp_tokens import is_directive, rows, scan
from sandbox.lab.build.address_spaces import with_spaces
from sandbox.lab.build.assembly import translate
from sandbox.lab.build.buffer_intrinsics import with_buffer_intrinsics
from sandbox.lab.build.device_text import (
    DeviceText,
    at_source,
    device_text,
    early_definitions,
    lines_of_definitions,
    source_refusals,
    text_refusals,
)
from sandbox.lab.build.flags import PREPROCESS
from sandbox.lab.build.kernel_names import compilers_names, expanded, kernel_names, with_names
from sandbox.lab.build.likeness import differences
from sandbox.lab.build.tree_rules import attribute_refusals, tree_refusals

EXPANDED = "expanded.hip"
CLOSING = "#pragma clang attribute pop\n"  # of what the lab's header leaves open
_HEADER = "#include <hip/hip_runtime.h>"
_BEHIND_HEADER = "#include <ks_lab/convergent.h>"
_PRINTED = 64 << 20  # bytes of a syntax tree
# Macros in `#pragma unroll N`: the compiler puts their values there, `clang -E` leaves them as they are written. So a
# line with one goes through the preprocessor as text, under a name that no candidate may write, and is a pragma again.
_PRAGMAS = {
    ("unroll",): "ks_pragma_unroll",
    ("GCC", "unroll"): "ks_pragma_gcc_unroll",
    ("clang", "loop"): "ks_pragma_clang_loop",
}
_WRITTEN = {name: f"#pragma {' '.join(words)}" for words, name in _PRAGMAS.items()}


@dataclass(frozen=True)
class Reading:
    """The candidate's text for the lab, and for each kernel of its plan the C++ expression of its address."""

    text: str
    kernels: Mapping[str, str]
    unknown: tuple[Finding, ...] = ()  # assembly that no kernel may reach


@dataclass(frozen=True)
class Reader:
    """Reads candidates; `checked` is the lab's own front end."""

    tools: Tools
    cache: Path
    checked: FrontEnd
    wave: int = 64

    def read(
        self, candidate: Candidate, tunables: Mapping[str, int], work: Path, kernels: Mapping[str, str] | None = None
    ) -> Reading | tuple[Finding, ...]:
        """The text, or the reasons not to execute it for what the GPU's compiler makes of the source.

        With `kernels`, which another choice of tunables gave, the trees are not compared: enough to rank by time only.
        """
        work.mkdir(exist_ok=True)
        named = macros(candidate.source, tunables)
        words = tuple(f"-D{name}={value}" for name, value in named.items())
        behind = appended(candidate.plan.launches, SOURCE)
        made = self._as_on_the_gpu(candidate, named, words, work / "text")
        if isinstance(made, tuple):
            return made
        translated = translate(made.text)
        text, unknown = translated.text, at_source(translated.unknown, made)
        if refused := (*text_refusals(made), *at_source(translated.refused, made)):
            return refused
        launches = self._without_macros(candidate, words, work / "names")
        text += appended(launches, SOURCE)
        called = dict(zip((launch.kernel for launch in candidate.plan.launches), launches, strict=True))
        if kernels is not None:
            return Reading(with_buffer_intrinsics(text), {**kernels, **compilers_names(called)}, unknown)
        prefixed = begins_with_header(candidate.source) and header_words().isdisjoint(named)
        source = candidate.source + behind
        gpu = self._tree(self._device, work / "gpu", source, source if prefixed else None, source, *words)
        if isinstance(gpu, tuple):
            return gpu
        gpu = with_spaces(gpu, source)
        if refused := tree_refusals(gpu):
            return refused
        ended = f"{text}\n{CLOSING}"
        lab = self._tree(self.checked, work / "lab", ended, behind_header(ended), source)
        if isinstance(lab, tuple):
            return lab
        if refused := attribute_refusals(lab) or differences(gpu, lab):
            return refused
        names = kernel_names(gpu, called)
        return names if isinstance(names, tuple) else Reading(with_buffer_intrinsics(text), names, unknown)

    def _as_on_the_gpu(
        self, candidate: Candidate, tunables: Mapping[str, int], macros: tuple[str, ...], work: Path
    ) -> DeviceText | tuple[Finding, ...]:
        if refused := source_refusals(candidate.source):
            return refused
        text = _with_pragmas_as_text(candidate.source, tunables)
        done = self._preprocessor.run(work, text, None, *macros, SOURCE, "-o", EXPANDED)
        if done.returncode != 0:
            return compiler_findings(done, candidate.source)
        expanded = read_output(work / EXPANDED).decode("utf-8", errors="replace")
        if early := early_definitions(candidate.source, expanded):
            self._preprocessor.run(work, text, None, *macros, "-dD", SOURCE, "-o", EXPANDED)
            read = lines_of_definitions(read_output(work / EXPANDED).decode("utf-8", errors="replace"))
            if refused := tuple(finding for finding in early if finding.line in read):
                return refused
        made = device_text(expanded)
        return made if isinstance(made, tuple) else replace(made, text=_with_pragmas_again(made.text))

    def _without_macros(self, candidate: Candidate, macros: tuple[str, ...], work: Path) -> tuple[Launch, ...]:
        """The launches with the values of the file's macros in the names of their kernels."""
        launches = candidate.plan.launches
        text = with_names(candidate.source, launches)
        if not text or self._preprocessor.run(work, text, None, *macros, SOURCE, "-o", EXPANDED).returncode != 0:
            return launches
        return expanded(launches, read_output(work / EXPANDED).decode("utf-8", errors="replace"))

    @staticmethod
    def _tree(
        front_end: FrontEnd, work: Path, text: str, prefixed: str | None, source: str, *macros: str
    ) -> SyntaxTree | tuple[Finding, ...]:
        done = front_end.run(work, text, prefixed, *macros, SOURCE, *DUMP, printed=_PRINTED)
        if done.returncode != 0:
            return compiler_findings(done, source)
        if len(done.stdout) >= _PRINTED:
            return (refusal("the code is too large to be compared: its syntax tree has more than 64 MiB"),)
        return read_tree(done.stdout)

    @computed_once
    def _device(self) -> FrontEnd:
        return FrontEnd(self.tools, self.cache, (*DEVICE_FLAGS, "--offload-arch=gfx942", *wave_macros(self.wave)))

    @computed_once
    def _preprocessor(self) -> FrontEnd:
        return FrontEnd(self.tools, self.cache, (*PREPROCESS, *wave_macros(self.wave)))


def behind_header(text: str) -> str | None:
    """The text as it stands behind the precompiled header; None where it does not begin with that header.

    What the header leaves open, a `#pragma clang attribute`, is no part of the precompiled form.
    """
    rows = text.split("\n")
    first = next((n for n, row in enumerate(rows) if row.strip() and not row.startswith("# ")), None)
    if first is None or rows[first] != _HEADER:
        return None
    return "\n".join([*rows[:first], _BEHIND_HEADER, *rows[first + 1 :]])


def text_digest(text: str) -> str:
    """SHA-256 of a text as it is compiled."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def wave_macros(wave: int) -> list[str]:
    """Macros for a device whose waves have another width."""
    names = ("__AMDGCN_WAVEFRONT_SIZE__", "__AMDGCN_WAVEFRONT_SIZE")
    return [] if wave == 64 else [*(w for n in names for w in (f"-U{n}", f"-D{n}={wave}")), f"-DKS_WAVE={wave}"]


def _with_pragmas_as_text(source: str, tunables: Iterable[str]) -> str:
    """The source with pragmas that name a macro as lines of text; no line moves."""
    if "pragma" not in source:
        return source
    pieces, at, macros = list[str](), 0, set(tunables)
    for row in rows(scan(source)):
        words = [token.text for token in row]
        if not is_directive(row) or len(row) < 3:
            continue
        if words[1] == "define":
            macros.add(words[2])
        count = 2 if words[2] in ("GCC", "clang") else 1
        name = _PRAGMAS.get(tuple(words[2 : 2 + count])) if words[1] == "pragma" else None
        if name and macros.intersection(words[2 + count :]):
            pieces += [source[at : row[0].start], name]
            at = row[1 + count].end
    return "".join([*pieces, source[at:]])


def _with_pragmas_again(text: str) -> str:
    """The preprocessed text with those lines as pragmas."""
    if "ks_pragma_" not in text:
        return text
    pieces, at = list[str](), 0
    for row in rows(scan(text)):
        if row[0].text in _WRITTEN:
            pieces += [text[at : row[0].start], _WRITTEN[row[0].text]]
            at = row[0].end
    return "".join([*pieces, text[at:]])
