"""Findings on the candidate's own lines from what clang, the assembler and lld print.

Their texts are read here and nowhere else: every finding leaves this file with its code.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from records.evaluation import Code, Finding
from sandbox.candidate.host_headers import headers_not_here
from sandbox.candidate.kernel import source_name_of
from sandbox.process import Completed

SOURCE = "candidate.hip"
ASSEMBLY = "candidate.s"
MAX_TEXT = 65536
MAX_FINDINGS = 20
MAX_NOTES = 3
BUILD_CPU_S = 35.0  # of all tools together; the largest of our kernels takes 0.6 s
_SMALLER = "make the code smaller (fewer unrolled iterations, template instances or macro expansions)"
_ERROR = re.compile(r"^(?:(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): )?(?:fatal )?error: (?P<text>.*)$")
_PLACE = re.compile(rf"^{re.escape(SOURCE)}:(\d+):\d+: note: (.*)$")
_INCLUDED = re.compile(rf"^(?:In file included|\s+) from {re.escape(SOURCE)}:(\d+):")
_BACKEND = re.compile(r"error: error in backend: (.*)")
_CANNOT_SELECT = re.compile(r"Cannot select: .*?(?:%|@)?llvm\.amdgcn\.([\w.]+)", re.S)
_LOCATED = re.compile(rf"^{re.escape(SOURCE)}:(\d+):\d+: (?P<text>.*)$")
_LOCAL_MEMORY = re.compile(r"local memory \((\d+)\) exceeds limit \((\d+)\) in (?:function )?'([^']*)'")
_UNDEFINED = re.compile(r"undefined (?:\w+ )?symbol: (.*)")
_REFERENCED = re.compile(rf">>> referenced by {re.escape(SOURCE)}:(\d+)")
_FORBIDDEN = re.compile(r"\.(incbin|include|macro|irpc?|rept?|altmacro|secure_log_unique|secure_log_reset)\b", re.I)
_NOISE = re.compile(
    r"^(PLEASE|Stack dump|zig: (note|error: clang frontend)|clang version|Target: |Thread model|InstalledDir"
    r"|\d+\.\t|\s*#\d+ 0x)"
)
_LOC = re.compile(r"^\t\.loc\t(\d+) (\d+)")
_FILE = re.compile(r'^\t\.file\t(\d+) (?:"[^"]*" )?"([^"]*)"')
_CODES: tuple[tuple[Code, re.Pattern[str]], ...] = (  # the first that fits what a compiler says
    ("A.3", re.compile(r"file not found|(cannot|may not) be included|no member named .* in namespace", re.I)),
    ("B.2", re.compile(r"undeclared identifier|unknown type name|undefined symbol|no member", re.I)),
    ("B.1", re.compile(r"builtin|intrinsic|cannot select|must be a constant|inline asm|argument to .* must", re.I)),
    ("B.4", re.compile(r"lds size|local memory|exceeds limit|launch_bounds|workgroup size", re.I)),
)
_CLOCK = re.compile(r"^\t(s_memtime|s_memrealtime|s_getreg_b32)\b", re.M)
_DESCRIPTOR = re.compile(r"^[^\S\n]*\.amdhsa_kernel [^\S\n]*(\S+)", re.M)
_STATIC_START = re.compile(r"^\t\.section\t\.(init_array|fini_array|ctors|dtors|preinit_array)", re.M)


@dataclass(frozen=True)
class Ending:
    """The end of a tool that failed and printed nothing about the source; this machine's limits may be the reason."""

    cause: Literal["deadline", "budget", "memory", "file_size", "signal", "silent"]
    signal: int = 0

    def finding(self, tool: str) -> Finding:
        """Make the finding for the candidate's author."""
        message = {
            "deadline": f"did not end within its time limit; {_SMALLER}",
            "budget": f"did not end: the whole build of a candidate may take {BUILD_CPU_S:g} s of processor time; "
            f"{_SMALLER}",
            "memory": "ran out of memory; make the code or its arrays smaller",
            "file_size": "would write more than 256 MiB; make the file's arrays smaller",
            "signal": f"was ended by signal {self.signal}; the code is too large or "
            "too deeply nested for it, or makes it crash",
            "silent": "failed",
        }[self.cause]
        return refusal(f"the {tool} {message}")


def refusal(message: str, line: int | None = None, code: Code = "A.1") -> Finding:
    """Make a compile error with its code; A.1 where nothing more precise is known."""
    return Finding("compile_error", message, line, code=code)


def code_of_error(message: str) -> Code:
    """Find the code of a compile error from a compiler's own text."""
    return next((code for code, pattern in _CODES if pattern.search(message)), "A.1")


def ending_of(completed: Completed) -> Ending | None:
    """Find out how a tool failed; None where it printed what is wrong with the source."""
    if completed.timed_out:
        return Ending("budget" if completed.end == "cpu" else "deadline")
    if completed.end == "memory" or "out of memory" in completed.stderr.lower() or "bad_alloc" in completed.stderr:
        return Ending("memory")
    if completed.end == "folder" or completed.returncode == -signal.SIGXFSZ:
        return Ending("file_size")
    if completed.returncode < 0 and not re.search(r"\berror: ", completed.stderr):
        return Ending("signal", -completed.returncode)
    return None if readable(completed.stderr).strip() else Ending("silent")


def readable(text: str) -> str:
    """Strip the compiler's own crash report from its text, and cut it at 64 KiB."""
    cleaned = "\n".join(line for line in text.split("\n") if not _NOISE.match(line)).strip("\n")
    return cleaned if len(cleaned) <= MAX_TEXT else cleaned[:MAX_TEXT] + "\n[the rest was cut]"


def compiler_findings(completed: Completed, source: str) -> tuple[Finding, ...]:
    """List the errors for which clang refused the source, at least one."""
    ending = ending_of(completed)
    if ending:
        return (ending.finding("compiler"),)
    findings = list(dict.fromkeys(_errors(completed.stderr, source)))
    if (missing := headers_not_here(source)) and findings:
        message = f"{findings[0].message}; left out, as it is not here: {', '.join(missing[:3])}"
        findings[0] = replace(findings[0], message=message)
    return tuple(findings[:MAX_FINDINGS]) or (_last_line(completed.stderr),)


def assembler_findings(completed: Completed, listing: str) -> tuple[Finding, ...]:
    """List the errors for which the assembler refused the compiler's output: only inline assembly can cause them."""
    findings = list[Finding]()
    for line in completed.stderr.split("\n"):
        match = _ERROR.match(line)
        if match and match["file"] == ASSEMBLY and len(findings) < MAX_FINDINGS:  # each reads the listing
            source_line = _line_of_label(listing, int(match["line"]), SOURCE)
            findings.append(refusal(f"inline asm is refused by the assembler: {match['text']}", source_line, "B.1"))
    if findings:
        return tuple(findings)
    ending = ending_of(completed)
    if ending and ending.cause != "silent":
        return (ending.finding("assembler"),)
    return (refusal(f"inline asm is refused: {_last_line(completed.stderr).message}", code="B.1"),)


def linker_findings(completed: Completed) -> tuple[Finding, ...]:
    """List the symbols that the linker misses: device code may call nothing that the file does not define."""
    findings = list[Finding]()
    for line in completed.stderr.split("\n"):
        if match := _UNDEFINED.search(line):
            message = (
                f"undefined symbol: {match[1].strip()} is called but not defined in this file; "
                "device code has no library to link with"
            )
            findings.append(refusal(message, code="B.2"))
        elif (match := _REFERENCED.match(line)) and findings and findings[-1].line is None:
            findings[-1] = replace(findings[-1], line=int(match[1]))
    if findings:
        return tuple(findings[:MAX_FINDINGS])
    ending = ending_of(completed)
    return (ending.finding("linker") if ending else _last_line(completed.stderr),)


def forbidden_directive(line: str) -> str:
    """Find the directive on a line of assembly that may not be used; "" where there is none."""
    match = _FORBIDDEN.search(line)
    return match[1].lower() if match else ""


def listing_findings(listing: str, source_name: str = SOURCE) -> tuple[Finding, ...]:
    """Refuse clocks, start-up code, and what inline assembly could use to read files or to hide from the metadata."""
    refused = [match for match in (_FORBIDDEN.search(listing), _CLOCK.search(listing)) if match]
    if refused:
        first = min(refused, key=lambda match: match.start())
        source_line = _line_of_label(listing, listing.count("\n", 0, first.start()) + 1, source_name)
        if first.re is _FORBIDDEN:
            return (refusal(f"the assembler directive .{first[1].lower()} may not be used", source_line),)
        message = (
            f"{first[1]}: a kernel may not read clocks or ask where on the chip it "
            "runs; what it computes may not depend on either"
        )
        return (refusal(message, source_line),)
    descriptors = _DESCRIPTOR.findall(listing)
    if listing.count(".amdgpu_metadata") > 1 or len(set(descriptors)) != len(descriptors):
        return (refusal("inline asm may not write kernel metadata", code="B.1"),)
    if _STATIC_START.search(listing) or any(name.startswith("amdgcn.device.") for name in descriptors):
        return (START_UP,)
    return ()


def _errors(output: str, source: str) -> Iterator[Finding]:
    lines = output.split("\n")
    for number, line in enumerate(lines):
        if match := _BACKEND.search(line):
            yield _backend(match[1] + "\n" + "\n".join(lines[number + 1 : number + 8]), source)
            return
        match = _ERROR.match(line)
        if not match or match["text"].startswith(("too many errors", "clang frontend command", "unable to execute")):
            continue
        message, source_line = match["text"], int(match["line"]) if match["file"] == SOURCE else None
        if located := _LOCATED.match(message):  # back-end errors carry their place in the text
            message, source_line = located["text"], int(located[1])
        if memory := _LOCAL_MEMORY.search(message):
            kernel = source_name_of(memory[3])
            text = (
                f"{kernel} declares {memory[1]} bytes of static LDS (local memory exceeds limit {memory[2]}); use "
                "smaller __shared__ arrays"
            )
            yield Finding("over_limit", text, source_line or _line_with(source, kernel), kernel, code="B.4")
            continue
        notes = tuple(_notes(lines, number))
        code = code_of_error(" ".join((message, *(text for _, text in notes))))
        message = "".join((message, *(f"; line {note_line}: {text}" for note_line, text in notes)))
        yield refusal(message, source_line or _nearest_place(lines, number), code)


def _notes(lines: list[str], number: int) -> Iterator[tuple[int, str]]:
    """Yield the compiler's notes on the candidate's own lines, such as why an overload does not fit: line and text."""
    count = 0
    for line in lines[number + 1 : number + 60]:
        if count == MAX_NOTES or _ERROR.match(line):
            return
        if match := _PLACE.match(line):
            count += 1
            yield int(match[1]), match[2]


def _nearest_place(lines: list[str], number: int) -> int | None:
    """Find the candidate's line of an error in a header: the one that used it (by a note), else that included it."""
    for line in lines[number + 1 : number + 60]:
        if _ERROR.match(line):
            break
        if match := _PLACE.match(line):
            return int(match[1])
    for line in reversed(lines[:number]):
        if match := _INCLUDED.match(line):
            return int(match[1])
    return None


def _backend(text: str, source: str) -> Finding:
    first = text.split("\n")[0]
    if match := _CANNOT_SELECT.search(text):
        builtin = "__builtin_amdgcn_" + match[1].replace(".", "_")
        line = _line_with(source, builtin)
        while line is None and builtin.count("_") > 5:  # intrinsics end in the types of their operands
            builtin = builtin.rpartition("_")[0]
            line = _line_with(source, builtin)
        message = f"Cannot select: this GPU has no instruction for {builtin}; use a builtin that exists on gfx942"
        return refusal(message, line, "B.1")
    if "Cannot select" in text:
        return refusal(f"the back end has no instruction for an operation here ({first.strip()})", code="B.1")
    return refusal(f"the back end failed: {first.strip()}", code=code_of_error(first))


def _line_with(source: str, word: str) -> int | None:
    pattern = re.compile(rf"\b{re.escape(word)}")
    return next((n for n, line in enumerate(source.split("\n"), 1) if pattern.search(line)), None)


def _last_line(output: str) -> Finding:
    lines = [line for line in readable(output).split("\n") if line.strip()]
    last = lines[-1].strip()[:500] if lines else "it gave no message"
    return refusal(last, code=code_of_error(last))


def _line_of_label(listing: str, listing_line: int, source_name: str) -> int | None:
    """Find the candidate's line that the given 1-based line of the listing was compiled from."""
    files: set[str] = set()
    source_line = None
    for number, line in enumerate(listing.split("\n"), 1):
        if number > listing_line:
            break
        if (match := _FILE.match(line)) and match[2] == source_name:
            files.add(match[1])
        elif (match := _LOC.match(line)) and match[1] in files:
            source_line = int(match[2]) or source_line
    return source_line


START_UP = refusal(
    "the file has start-up or exit code (a constructor or a global with a "
    "run-time initialiser); initialise in a kernel instead"
)


def named_findings(findings: tuple[Finding, ...], names: Mapping[int, str]) -> tuple[Finding, ...]:
    """Turn findings on the line of a launch into sentences about the kernel that it names."""
    pairs = ((names.get(f.line or 0), f) for f in findings)
    return tuple(replace(f, message=_about_name(name, f.message)) if name else f for name, f in pairs)


def _about_name(name: str, message: str) -> str:
    if "address of overloaded function" in message:
        return (
            f"the plan launches {name!r}, a name that several functions have, or a template without its arguments; "
            "name the instantiation, as in name<float, 256>, or the types of its parameters, as in name(float*, int)"
        )
    return f"the plan launches {name!r}: {message}"


def without_kernel(source: str) -> Finding:
    """Make the finding for code in which the compiler finds nothing to launch."""
    if "__global__" in source and "template" in source:
        return refusal(
            "the file's kernels are templates, and the plan launches no instantiation of one; name it as in "
            '"name<float, 256>"'
        )
    return refusal("the file defines no __global__ function")
