"""Functions that a candidate declares `const` or `pure`, held to it.

Such an attribute is a promise: a `const` function reads and writes no memory that others can write, a `pure` one
writes none. Compilers merge and move its calls, and drop the stores that only it would have read, each in its own way.
So what is declared is compared with what LLVM itself finds: the attribute is taken away, the function kept whole, and
the module optimised once without checks; what the optimiser then states about the function's memory must cover the
promise. Only a candidate with such a function pays for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from records.evaluation import Finding
from sandbox.amdgcn.front_end import Tools
from sandbox.cage.output import read_output
from sandbox.candidate.diagnostics import refusal
from sandbox.lab.build.entries import MATHS, POINTED
from sandbox.lab.build.flags import BACK_END, OPTIMISED
from sandbox.lab.build.ir_types import closing, split
from sandbox.process import Completed

_GROUP = re.compile(r"^attributes (#\d+) = \{(.*)\}$", re.M)
_MEMORY = re.compile(r"\bmemory\(([^()]*)\)")
_HEAD = re.compile(r"^define (?P<before>[^\n@]*)@(?P<name>\"[^\"]*\"|[-\w$.]+)\((?P<rest>[^\n]*)\{$", re.M)
_OWN_GROUP = re.compile(r"(?<=[ )])#\d+(?= )")
_SUBPROGRAM = re.compile(r"!dbg (!\d+)")
_LINE = re.compile(r"^(!\d+) = distinct !DISubprogram\([^\n]*?\bline: (\d+)", re.M)
_LINKAGE = re.compile(r"^(?:(?:internal|private|linkonce_odr|linkonce|weak_odr|weak|dso_local|hidden|protected) )*")
_DECLARED = re.compile(r"^declare ([^\n@]*)@(\"[^\"]*\"|[-\w$.]+)\(([^\n]*)\)[^\n)]*$", re.M)
_NUMBER = re.compile(
    r'= call (i32|i64|ptr) asm "mov[lq] \$1, \$0", "=r,\*m,[^"]*"\(ptr elementtype\(\w+\) %[^)]*\)[^\n]*'
)
_FREE = "ks.number."  # a number of a work-item, for which a GPU reads no memory
_PLACED = re.compile(r"\b(?:byval|sret)\(")
_OPTIONS = re.compile(r"\b(?:alwaysinline|noinline|optnone|willreturn|memory\([^()]*\))")
_KEPT = 9097  # the first of the groups that are added


_ARGUMENTS = "argmem"


@dataclass(frozen=True)
class PromisedFunction:
    """One function that was declared so, and what it may do by that: by place, "" for all places that are not named."""

    name: str
    line: int | None
    effects: Mapping[str, str]

    @property
    def word(self) -> str:
        """The attribute in the source."""
        if self.effects.get(_ARGUMENTS) == "readwrite":
            return "noalias"
        return "const" if self.effects[""] == "none" else "pure"


def broken_promises(tools: Tools, work: Path, module: str) -> Completed | tuple[Finding, ...]:
    """A finding for each function whose memory is not as promised; how the optimiser ended where it failed."""
    if not (promised := promised_functions(module)):
        return ()
    (work / "promised.ll").write_text(without_promises(module, promised), encoding="utf-8")
    done = tools.run(work, "clang", *BACK_END, *OPTIMISED, "promised.ll", "-o", "kept.ll")
    if done.returncode != 0:
        return done
    return _unkept(read_output(work / "kept.ll").decode("utf-8"), promised)


def promised_functions(text: str) -> tuple[PromisedFunction, ...]:
    """The functions of the front end's module that carry such an attribute."""
    groups = dict(_GROUP.findall(text))
    if not any("memory(" in group for group in groups.values()):
        return ()
    lines = {number: int(line) for number, line in _LINE.findall(text)}
    found = list[PromisedFunction]()
    for head in _HEAD.finditer(text):
        memory = _MEMORY.search(_group(head["rest"], groups))
        if memory:
            place = _SUBPROGRAM.search(head["rest"])
            line = lines.get(place[1]) if place else None
            found.append(PromisedFunction(head["name"].strip('"'), line, _effects(memory[1])))
    return tuple(found)


def without_promises(text: str, promised: tuple[PromisedFunction, ...]) -> str:
    """The module in which nothing is promised, each such function stands whole, and numbers need no memory."""
    names, groups, added = {each.name for each in promised}, dict(_GROUP.findall(text)), list[str]()

    def head(found: re.Match[str]) -> str:
        if found["name"].strip('"') not in names:
            return found[0]
        group = _OWN_GROUP.search(found["rest"])
        options = _OPTIONS.sub("", groups.get(group[0], "") if group else "")
        added.append(f"attributes #{_KEPT + len(added)} = {{ noinline {options} }}")
        rest = _OWN_GROUP.sub(f"#{_KEPT + len(added) - 1}", found["rest"], count=1)
        return f"define dso_local {_LINKAGE.sub('', found['before'])}@{found['name']}({rest}{{"

    made = _HEAD.sub(head, text)
    called = "|".join(re.escape(name) for name in sorted(names))
    made = re.sub(
        rf'^(  [^\n]*call [^\n]*@"?(?:{called})"?\([^\n]*\)) #\d+', r"\1", made, flags=re.M
    )  # promises it too
    made = _DECLARED.sub(_declaration, made)
    made = _NUMBER.sub(lambda found: f"= call {found[1]} @{_FREE}{found[1]}()", made)
    free = [f"declare {kind} @{_FREE}{kind}() nounwind willreturn memory(none)" for kind in ("i32", "i64", "ptr")]
    return "\n".join([made, *free, *added, ""])


def _unkept(optimised: str, promised: tuple[PromisedFunction, ...]) -> tuple[Finding, ...]:
    groups = dict(_GROUP.findall(optimised))
    heads = {head["name"].strip('"'): head["rest"] for head in _HEAD.finditer(optimised)}
    return tuple(
        _finding(each) for each in promised if each.name in heads and not _kept(each, heads[each.name], groups)
    )


def _kept(promised: PromisedFunction, rest: str, groups: Mapping[str, str]) -> bool:
    memory = _MEMORY.search(_group(rest, groups))
    found = _effects(memory[1] if memory else "readwrite")
    places = {*found, *promised.effects} - {_ARGUMENTS}
    if not all(_within(_at(found, place), _at(promised.effects, place)) for place in places):
        return False
    allowed = _at(promised.effects, _ARGUMENTS)
    if _within(_at(found, _ARGUMENTS), allowed):
        return True
    needed = {"none": ("readnone",), "read": ("readnone", "readonly")}[allowed]
    given = split(rest[: closing(f"({rest}", 0) - 1])
    return all(_PLACED.search(each) or any(word in each.split() for word in needed) for each in given if "ptr" in each)


def _effects(text: str) -> dict[str, str]:
    """`read, argmem: readwrite` by place; "" is every place that is not named."""
    parts = (part.rpartition(": ") for part in text.split(", "))
    return {"": "none"} | {place: effect for place, _, effect in parts}


def _at(effects: Mapping[str, str], place: str) -> str:
    return effects.get(place, effects[""])


def _within(effect: str, allowed: str) -> bool:
    return effect in ("none", allowed) or allowed == "readwrite"


def _finding(promised: PromisedFunction) -> Finding:
    does = {"const": "reads or writes memory", "pure": "writes memory"}.get(promised.word, "uses other memory")
    message = (
        f"a function that is declared {promised.word} {does}, or may: compilers merge and move its calls, and drop "
        "stores that it reads; remove the attribute, they find by themselves what may be merged"
    )
    return refusal(message, promised.line, "B.1")


def _group(rest: str, groups: Mapping[str, str]) -> str:
    """The attributes of a function, which stand in a group and behind its head."""
    found = _OWN_GROUP.search(rest)
    return f"{rest} {groups.get(found[0], '') if found else ''}"


def _declaration(found: re.Match[str]) -> str:
    """A declaration that states what the runtime and the C library do without the candidate's memory."""
    name = found[2].strip('"')
    is_free = name in MATHS or name in ("ks_wave", "ks_is_shared", "ks_is_private") or name.startswith("__ubsan_")
    if not is_free and name not in POINTED:
        return found[0]
    memory = "argmem: readwrite" if name in POINTED else "none"
    return f"declare {found[1]}@{found[2]}({found[3]}) nounwind willreturn memory({memory})"
