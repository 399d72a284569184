"""Modules sealed whole, and the calls of each function: whom it may call, and with what. See `sealed_ir`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from records.evaluation import Finding
from sandbox.candidate.diagnostics import refusal
from sandbox.lab.build.entries import ENTRIES, MATHS, NEXT, POINTED, PROBES, belongs_to_the_lab
from sandbox.lab.build.first_looks import with_first_looks
from sandbox.lab.build.ir_types import UnknownText, closing, leading, signature, split
from sandbox.lab.build.sealed_accesses import SealedAccesses
from sandbox.lab.build.sealed_ir import APART, NAME, Refusal, SealedModule

_CALL = re.compile(
    rf"^  (?:%{NAME} = )?(?:tail |notail )?call "
    rf"(?P<flags>(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*)(?P<head>[^@]*?)(?P<callee>[@%]{NAME})\("
)
_ASSEMBLY = re.compile(
    r'^  (?:%\S+ = )?(?:tail )?call \S+(?: \S+)*? asm (?:sideeffect )?"(?P<text>[^"]*)", "(?P<rules>[^"]*)"'
    r"\(ptr (?:[a-z]+(?:\([^()]*\))? |align \d+ )*?elementtype\((?P<kind>\w+)\) "
    r"(?:[a-z]+(?:\([^()]*\))? |align \d+ )*(?P<pointer>%\S+)\)"
)
_CLOBBERED = ",~{dirflag},~{fpsr},~{flags}"
_MOST_WAYS = 64  # on which one pointer may have come
_MOVES = {"movl $1, $0": "i32", "movq $1, $0": "i64"}
_INTRINSICS = re.compile(
    r"llvm\.(?:(?:abs|smax|smin|umax|umin|scmp|ucmp|ctpop|ctlz|cttz|bswap|bitreverse|fshl|fshr|fabs|sqrt|exp|exp2|exp10"
    r"|log|log2|log10|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|sincos|sincospi|pow|powi|fma|fmuladd|floor|ceil"
    r"|trunc|rint|nearbyint|round|roundeven|copysign|minnum|maxnum|minimum|maximum|minimumnum|maximumnum|lround"
    r"|llround|lrint|llrint|ldexp|frexp|modf|is\.fpclass|canonicalize|fptosi\.sat|fptoui\.sat|[su](?:add|sub|mul|shl)"
    r"\.(?:sat|with\.overflow)|[su](?:mul|div)\.fix(?:\.sat)?|vector\.reduce\.\w+|vector\.(?:insert|extract)"
    r"|vector\.(?:de)?interleave\d|vector\.(?:splice|reverse)|stepvector|bitreverse|arithmetic\.fence|ptrmask|prefetch"
    r"|lifetime\.(?:start|end)|threadlocal\.address|expect|is\.constant|convert\.(?:to|from)\.fp16|experimental\.noalias"
    r"\.scope\.decl)(?:\.[\w.]+)?|trap|readcyclecounter|donothing|sideeffect)$"
)
_DROPPED = re.compile(r"llvm\.(?:assume|experimental\.noalias\.scope\.decl|donothing|sideeffect|pseudoprobe)\b")
_RECORD = re.compile(r"@(?:\d+|__unnamed_\d+)$")
_CHOICE = re.compile(
    rf"^  (%{NAME}) = (?:phi ptr (?P<phi>.*)|select i1 [^,]*, ptr (?P<yes>[@%]{NAME}), ptr (?P<no>[@%]{NAME}))"
)
_DRAINED = re.compile(  # a fence of this wave's own order may stand between
    r"^(  call void @ks_fence\(i32 noundef )(\d+)(\)[^\n]*\n(?:  fence syncscope\(\"singlethread\"\) seq_cst[^\n]*\n)?"
    r"  call preserve_nonecc void @ks_barrier\(\))",
    re.M,
)
_INCOMING = re.compile(rf"\[ ([^\s,]+), %{NAME} \]")


@dataclass
class SealedFunction(SealedAccesses):
    """One function of the module; the bridges may call what belongs to them."""

    def call(self, result: str | None, line: str) -> None:
        """Add a call, as far as it is allowed."""
        if "addrspace(" in line or "blockaddress(" in line:
            raise self.module.refused("the lab cannot execute a call of this kind", "B.1", line)
        if " asm " in line:
            self._assembly(result, line)
            return
        line = self.module.renamed(line)
        found = _CALL.match(line)
        if not found or "musttail " in line:
            raise self.module.refused("the lab cannot execute a call of this kind", "B.1", line)
        end = closing(line, found.end() - 1)
        given, rest = split(line[found.end() : end]), line[end + 1 :]
        rest = re.sub(r"^ #\d+", "", rest)
        callee = found["callee"]
        name = callee[1:].strip('"')
        if callee.startswith("@") and _DROPPED.match(name):
            return
        if re.match(r" \[", rest):
            raise self.module.refused("the lab cannot execute a call of this kind", "B.1", line)
        if "..." in found["head"] and (name in self.module.functions or not callee.startswith("@")):
            raise self.module.refused("a function with a variable number of arguments cannot be executed", "B.1", line)
        if "..." in found["head"]:
            self.made.append(line)  # nothing that it may call takes any number of arguments: the link refuses it
            return
        convention, returned = self.module.returns(found["head"])
        wanted = signature(convention, returned, given)
        start = line[: found.end()].replace("call ", "call ", 1)
        if callee.startswith("%"):
            made = self._through_pointer(callee, wanted, line)
            start = start[: -len(callee) - 1] + made + "("
        else:
            given = self._direct(name, wanted, given, line)
        given = [self._passed(argument, line) for argument in given]
        if callee == "@ks_atomic" or callee == "@ks_touch":
            self._note_checked(name, result, given)
        own = f" #{APART}" if name in ENTRIES or name in NEXT else ""
        self.made.append(f"{start}{', '.join(given)}){own}{rest}")

    def _through_pointer(self, callee: str, wanted: str, line: str) -> str:
        name, table, where = f"%ks.{len(self.made)}", self.module.table_of(wanted), re.search(r", !dbg !\d+", line)
        self.made.append(f"  {name} = call ptr @ks.callee(ptr {callee}, ptr {table}){where[0] if where else ''}")
        return name

    def _direct(self, name: str, wanted: str, given: list[str], line: str) -> list[str]:
        """The arguments of a call by name, pointers to be written through a check."""
        if name in self.module.functions:
            if self.module.functions[name] != wanted:
                raise self.module.refused(f"{name} is called with other types than it is defined with", "B.1", line)
            return given
        if name in NEXT:
            if not self.name.startswith("ks_launch_"):
                raise self.module.refused(f"the name {name} belongs to the lab; choose another", "A.1", line)
            return given
        if name.startswith("__ubsan_handle_") and given and not self._is_record(given[0].split(" ")[-1]):
            raise self.module.refused("a check of the lab's own may not be called", "A.1", line)
        if name in ENTRIES:
            if name.startswith("ks.") and name not in PROBES:
                raise self.module.refused(f"the name {name} belongs to the lab; choose another", "A.1", line)
            if wanted != ENTRIES[name]:
                raise self.module.refused(f"the name {name} belongs to the lab; choose another", "A.1", line)
            return given
        kinds = [leading(argument)[0] for argument in given]
        if name in MATHS or name in POINTED:
            pointers = POINTED.get(name, {})
            if len(given) > 3 or any((kind == "ptr") != (n in pointers) for n, kind in enumerate(kinds)):
                raise self.module.refused(f"{name} is called with other types than it has", "B.1", line)
            return [
                self._written(argument, pointers[n], line) if n in pointers else argument
                for n, argument in enumerate(given)
            ]
        if name.startswith("llvm."):
            if not _INTRINSICS.match(name):
                raise self.module.refused(f"the lab cannot execute the operation {name}", "B.1", line)
            return given
        if belongs_to_the_lab(name):
            raise self.module.refused(
                f"undefined symbol: {name} is used but not defined in this file, and the lab does not provide it",
                "B.2",
                line,
            )
        return given  # defined nowhere: the link refuses it by its name

    def _is_record(self, value: str) -> bool:
        """True for a place in the source that a check of the compiler's names, and for a choice among such places.

        The optimiser makes one call of two that end two branches.
        """
        open_, seen = [value], set[str]()
        while open_:
            one = open_.pop()
            if one in seen or _RECORD.match(one):
                continue
            seen.add(one)
            if one not in self._choices:
                return False
            open_ += self._choices[one]
        return True

    def _written(self, argument: str, size: int, line: str) -> str:
        pointer = argument.split(" ")[-1]
        return f"ptr {self.check(pointer, size, line, write=True, private=False)}"

    def _passed(self, argument: str, line: str) -> str:
        """An argument; one that is copied from memory at the call is read through a check."""
        copied = re.search(r"\bbyval\(", argument)
        if not copied:
            return argument
        kind = argument[copied.end() : closing(argument, copied.end() - 1)]
        pointer, size = argument.split(" ")[-1], self.module.types.size(kind)
        if self.is_own(pointer, size) or not size:
            return argument
        safe = self.check(pointer, size, line, write=False, private=False)
        return f"{argument[: -len(pointer)]}{safe}"

    def _note_checked(self, name: str, result: str | None, given: list[str]) -> None:
        size = re.search(r" (\d+)$", given[1])
        if result and size:
            write = name == "ks_atomic" or given[2].endswith(" 1")
            self.checked[result] = (int(size[1]), write)

    def _assembly(self, result: str | None, line: str) -> None:
        """The three reads of the headers: numbers of a work-item, arguments of a launch, an atomic's first look."""
        found = _ASSEMBLY.match(line)
        if found and found["rules"] == "=r,*m" + _CLOBBERED and found["text"] in _MOVES:
            kind, distance = self._at_ids(found["pointer"])
            if kind and 0 <= distance < 4096:
                if distance == 64 and found["text"] == "movq $1, $0" and result and kind == "ids":
                    self._ids[result] = "arguments"
                self.made.append(re.sub(r" #\d+(?=,|$)", "", line))
                return
        if found and found["rules"] == "=r,*m,~{memory}" + _CLOBBERED and found["text"] == "mov $1, $0":
            size = self.module.types.stored(found["kind"])
            if self.checked.get(found["pointer"], (0, False))[0] >= size and size in (1, 2, 4, 8):
                self.made.append(re.sub(r" #\d+(?=,|$)", "", line))
                return
        raise self.module.refused(
            "the lab cannot execute inline assembly here; use the builtin (__builtin_amdgcn_...) or plain C++ for it",
            "B.1",
            line,
        )

    def _at_ids(self, pointer: str) -> tuple[str, int]:
        """The root and the distance that a pointer to numbers has on every way that leads here; "" for any other."""
        found, open_ = set[tuple[str, int]](), [self.place(pointer)]
        for root, distance in open_:  # which grows meanwhile
            if root in self._ids:
                found.add((self._ids[root], distance))
            elif root not in self._choices or len(open_) > _MOST_WAYS:
                return "", 0
            else:
                ways = (self.place(one) for one in self._choices[root])
                open_ += [at for one, step in ways if (at := (one, step + distance)) not in open_]
        return found.pop() if len(found) == 1 else ("", 0)

    @property
    def _choices(self) -> dict[str, list[str]]:
        """The pointers that are one of several others, by the branch that led there."""
        if not hasattr(self, "_choices_found"):
            found = [match for line in self.lines if (match := _CHOICE.match(line))]
            self._choices_found = {
                m[1]: _INCOMING.findall(m["phi"]) if m["phi"] is not None else [m["yes"], m["no"]] for m in found
            }
        return self._choices_found

    @property
    def _ids(self) -> dict[str, str]:
        """Pointers to the numbers of the work-item and to the arguments of the launch."""
        if not hasattr(self, "_ids_found"):
            pattern = re.compile(
                rf"^  (%{NAME}) = (?:tail )?call .*@llvm\.threadlocal\.address\.p0\(ptr [^@]*@ks_ids\)"
            )
            self._ids_found = {m[1]: "ids" for line in self.lines if (m := pattern.match(line))}
        return self._ids_found


def seal(text: str, secret: str) -> str | Finding:
    """The sealed text of what the optimiser has left, or why it is not allowed."""
    try:
        module = SealedModule(text, secret)
        made: list[str] = []
        for head, body in module.heads():
            made.append(head)
            if head.startswith("define "):
                name = head[head.index("@") + 1 : head.index("(", head.index("@"))].strip('"')
                made += [*SealedFunction(module, name, with_first_looks(body)).sealed(), "}"]
        return _with_drained("\n".join([*made, module.trailer()]))
    except Refusal as found:
        return refusal(found.message, found.line, found.code)
    except UnknownText as found:
        return refusal(f"the lab cannot execute this construct: {str(found)[:60]}", None, "B.1")


def _with_drained(text: str) -> str:
    """The text in which a fence says that its barrier follows at once: nothing of the work-item lies between them."""
    return _DRAINED.sub(lambda found: f"{found[1]}{int(found[2]) | 16}{found[3]}", text)
