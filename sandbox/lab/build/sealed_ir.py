"""The wall around a candidate's machine code: software fault isolation on LLVM's text form, behind all optimisation.

What is compiled from here on is not optimised again, so what is read here is what runs. A module is parsed line by line
and everything that is not known is refused. In the sealed module

- a load, a store or an atomic uses the very pointer that a check of the runtime gave back, or a constant offset into a
  variable of its own function; whatever is reached by another pointer lies on a stack apart (`safestack`), so that no
  pointer ever reaches a return address or a saved register;
- a call goes to a function of the candidate with the signature of its definition, to a listed entry of the runtime, or,
  through a pointer, to one of the candidate's functions of that signature, which the runtime compares;
- there is no assembly but that of the lab's headers, no computed jump, no table of jumps, no code without an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from records.computed_once import computed_once
from records.evaluation import Code
from sandbox.lab.build.entries import ENTRIES, NEXT, belongs_to_the_lab
from sandbox.lab.build.ir_types import Types, UnknownText, closing, leading, signature, split

NAME = r'(?:"[^"]*"|[-\w$.]+)'
_TYPE = re.compile(rf"^(%{NAME}) = type (.*)$")
_GLOBAL = re.compile(rf"^@({NAME}) = (.*)$")
_DEFINE = re.compile(rf"^define (.*?)@({NAME})(\(.*) \{{$")
_DECLARE = re.compile(rf"^declare (?:.*?)@({NAME})\(.*$")
_PASSED_OVER = re.compile(
    r"^(?:source_filename = |target (?:datalayout|triple) = "
    r"|; |!(?:\d+|llvm\.(?:module\.flags|ident|dbg\.cu)) = |\$.* = comdat \w+$|$)"
)
_ATTRIBUTES = re.compile(r"^attributes #(\d+) = \{")
_LINKAGE = frozenset(
    {
        "private",
        "internal",
        "external",
        "common",
        "weak",
        "weak_odr",
        "linkonce",
        "linkonce_odr",
        "dso_local",
        "local_unnamed_addr",
        "unnamed_addr",
        "hidden",
        "protected",
        "default",
        "thread_local",
        "thread_local(localexec)",
        "externally_initialized",
        "global",
        "constant",
    }
)
_LISTS = re.compile(r"llvm\.(?:compiler\.)?used$")
_RECORD = re.compile(r"private unnamed_addr (global|constant) \{ (?:\{ ptr, i32, i32 \}|i16, i16, \[)")
_WORDS = frozenset(
    {
        "noundef",
        "zeroext",
        "signext",
        "nonnull",
        "noalias",
        "inreg",
        "internal",
        "private",
        "hidden",
        "protected",
        "weak",
        "weak_odr",
        "linkonce",
        "linkonce_odr",
        "dso_local",
        "local_unnamed_addr",
        "unnamed_addr",
    }
)
_CONVENTIONS = frozenset({"fastcc", "coldcc", "preserve_mostcc", "preserve_nonecc", "ccc"})
_WITH_VALUE = re.compile(r"\b(?:range|nofpclass|dereferenceable(?:_or_null)?|captures|align)\s*\(")
_ALIGN = re.compile(r"\balign \d+\b")
_LOCATION = re.compile(r"!dbg !(\d+)")
_FIELD = re.compile(r"(line|scope|inlinedAt|file): !?(\d+)")
_OWN_ATTRIBUTES = (
    'attributes #%d = { nounwind null_pointer_is_valid safestack "no-jump-tables"="true" "no-builtins" '
    '"probe-stack"="inline-asm" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,'
    '+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }'
)
_OWN = 9100  # the number of the attributes that every function of the candidate gets
APART = 9101  # and of those of a call of the runtime: its place tells one wave operation from another
_APART_ATTRIBUTES = f"attributes #{APART} = {{ convergent noduplicate nomerge nounwind }}"


class Refusal(Exception):
    """A line of the module that is not allowed, and the place in the candidate's file."""

    def __init__(self, message: str, code: Code, line: int | None = None) -> None:
        super().__init__(message)
        self.message, self.code, self.line = message, code, line


@dataclass
class SealedModule:
    """One module, as the optimiser leaves it."""

    text: str
    secret: str = ""  # behind the names by which the bridges call the runtime
    functions: dict[str, str] = field(default_factory=dict)  # signatures of what it defines
    declared: set[str] = field(default_factory=set)
    tables: dict[str, str] = field(default_factory=dict)  # of functions with one signature

    def __post_init__(self) -> None:
        """Read heads: types, functions, variables."""
        lines = self.text.split("\n")
        self.types = Types({m[1]: m[2] for line in lines if (m := _TYPE.match(line))})
        for line in lines:
            if found := _DEFINE.match(line):
                self.functions[found[2].strip('"')] = self._signature(found)
            elif found := _DECLARE.match(line):
                self.declared.add(found[1].strip('"'))

    def refused(self, message: str, code: Code = "B.1", near: str = "") -> Refusal:
        """A refusal at the place that a line of the module names."""
        found = _LOCATION.search(near)
        return Refusal(message, code, self._line(found[1]) if found else None)

    def heads(self) -> Iterator[tuple[str, list[str]]]:
        """Every top-level line, and for a function the lines of its body; raises where one is not allowed."""
        lines = iter(self.text.split("\n"))
        for line in lines:
            if _DEFINE.match(line):
                body = []
                for inside in lines:
                    if inside == "}":
                        break
                    body.append(inside)
                yield self._head(line), body
            elif kept := self._top_level(line):
                yield kept, []

    def _top_level(self, line: str) -> str:
        if _PASSED_OVER.match(line) or _TYPE.match(line):
            return line or " "
        if found := _GLOBAL.match(line):
            return self._global(found[1].strip('"'), found[2], line)
        if found := _DECLARE.match(line):
            if '"' in line.split("(")[0].replace(f'@"{found[1]}"', "") or " section " in line or " addrspace(" in line:
                raise self.refused("a declaration is not understood")
            return re.sub(r" #\d+$", "", self._renamed(line))
        if _ATTRIBUTES.match(line) or line.startswith("!"):
            return " "  # every function gets ours, calls need none; no options for the linker
        raise self.refused(f"the lab cannot execute this construct: {' '.join(line.split())[:60]}")

    def _global(self, name: str, text: str, line: str) -> str:
        if _LISTS.match(name):
            return " "  # what they keep has been kept by now
        if name == "llvm.global_ctors" and "[0 x " in text:
            return " "
        if belongs_to_the_lab(name) and not re.match(r"external thread_local\(localexec\) global \[\d+ x ", text):
            raise self.refused(f"the name {name} belongs to the lab; choose another", "A.1")
        rest = text
        while True:
            word, behind = leading(rest)
            if word == "thread_local" and behind.startswith("("):
                end = closing(behind, 0)
                word, behind = word + behind[: end + 1], behind[end + 1 :].lstrip()
            if word not in _LINKAGE:
                break
            rest = behind
        parts = split(rest)
        extra = [
            part
            for part in parts[1:]
            if not re.match(r"align \d+$|comdat(?:\(\$.*\))?$|no_sanitize_address$|!dbg !\d+$", part)
        ]
        if extra or word[0] not in "[{<%ifdhbp" or word.startswith(("addrspace", "ifunc")):
            raise self.refused(f"the variable {name} is declared in a way that the lab cannot execute")
        if _RECORD.match(text):  # what a check says of its place: nothing that a candidate may change
            return line.replace("unnamed_addr global ", "unnamed_addr constant ", 1)
        return line

    def _signature(self, found: re.Match[str]) -> str:
        end = closing(found[3], 0)
        convention, returned = self._returns(found[1])
        return signature(convention, returned, split(found[3][1:end]))

    @staticmethod
    def _returns(head: str) -> tuple[str, str]:
        """Calling convention and returned type from what stands before a function's name."""
        while found := _WITH_VALUE.search(head):
            head = head[: found.start()] + head[closing(head, found.end() - 1) + 1 :]
        convention, rest = "", _ALIGN.sub("", head).strip()
        while rest:
            word, behind = leading(rest)
            if word in _CONVENTIONS:
                convention = word
            elif word not in _WORDS:
                if behind and not behind.startswith("("):
                    raise UnknownText(head)
                return convention, word
            rest = behind
        raise UnknownText(head)

    def returns(self, head: str) -> tuple[str, str]:
        """As `_returns`, for what stands before the callee of a call."""
        return self._returns(head)

    def _head(self, line: str) -> str:
        found = _DEFINE.match(line)
        assert found
        name, end = found[2].strip('"'), closing(found[3], 0)
        if belongs_to_the_lab(name):
            raise self.refused(f"the name {name} belongs to the lab; choose another", "A.1")
        rest = re.sub(
            r" (?:unnamed_addr|local_unnamed_addr|#\d+|comdat(?:\(\$[^)]*\))?|align \d+|!dbg !\d+)(?= |$)",
            "",
            found[3][end + 1 :],
        )
        if rest.strip():
            raise self.refused(
                f"the function {name} is declared in a way that the lab cannot execute ({rest.strip()[:40]})"
            )
        debug = _LOCATION.search(found[3][end:])
        comdat = re.search(r" comdat(?:\(\$[^)]*\))?", found[3][end:])
        return (
            f"define {found[1]}@{found[2]}{found[3][: end + 1]} #{_OWN}{comdat[0] if comdat else ''}"
            f"{f' {debug[0]}' if debug else ''} {{"
        )

    def _renamed(self, line: str) -> str:
        """The line with the bridges' secret names replaced by the runtime's own."""
        for name in NEXT:
            if re.search(rf"@{name}\b(?!_)", line):
                raise self.refused(f"the name {name} belongs to the lab; choose another", "A.1", line)
            if self.secret:
                line = line.replace(f"@{name}_{self.secret}", f"@{name}")
        return line

    def renamed(self, line: str) -> str:
        """As `_renamed`."""
        return self._renamed(line)

    def table_of(self, wanted: str) -> str:
        """The name of the table of the candidate's functions with this signature, for calls through pointers."""
        if wanted not in self.tables:
            self.tables[wanted] = f"@ks.callees.{len(self.tables)}"
        return self.tables[wanted]

    def trailer(self) -> str:
        """Tables of functions, declarations of the checks, the attributes of all functions."""
        lines = []
        for wanted, name in self.tables.items():
            members = [f'ptr @"{f}"' for f, s in self.functions.items() if s == wanted and not f.startswith("ks_")]
            rows = ", ".join([*members, "ptr null"])
            lines.append(f"{name} = private unnamed_addr constant [{len(members) + 1} x ptr] [{rows}], align 8")
        for name, wanted in ENTRIES.items():
            if (
                name not in self.declared
                and wanted.startswith("ptr (")
                and (name.startswith("ks.") or name in ("ks_atomic", "ks_touch"))
            ):
                lines.append(f"declare ptr @{name}{wanted[4:]}")
        return "\n".join([*lines, _OWN_ATTRIBUTES % _OWN, _APART_ATTRIBUTES, ""])

    def _line(self, number: str) -> int | None:
        """The candidate's line of a location: the innermost that lies in its file."""
        at: str | None = number
        while at is not None:
            fields = self._fields(at)
            scope = self._fields(fields.get("scope", "0"))
            if (
                self._nodes.get(scope.get("file", "0"), "").find('"candidate.hip"') >= 0
                and fields.get("line", "0") != "0"
            ):
                return int(fields["line"])
            at = fields.get("inlinedAt")
        return None

    def _fields(self, number: str) -> dict[str, str]:
        return dict(_FIELD.findall(self._nodes.get(number, "")))

    @computed_once
    def _nodes(self) -> dict[str, str]:
        return dict(re.findall(r"^!(\d+) = (.*)$", self.text, re.M))
