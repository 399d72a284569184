"""Faults of a draft that show without a compiler: form, names, argument counts, brackets, common slips."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agents.source import KernelFile, KernelText, SourceError, closing, look, words
from records.quantity import counted

_BARRIER = re.compile(r"__syncthreads\s*\(|__builtin_amdgcn_s_barrier\s*\(")
_NARROW = re.compile(r"\b(?:unsigned|int|uint32_t)(?:\s+int)?\s+\w+\s*=\s*__ballot")


@dataclass(frozen=True)
class Remark:
    """One fault. Two remarks with equal `kind` and `about` are the same fault, wherever it stands."""

    kind: Literal["form", "brackets", "kernel", "arguments", "barrier", "ballot", "host_code"]
    about: str  # the name or the words concerned
    text: str  # for the writer


def check(source: str, arch: str) -> tuple[Remark, ...]:
    """Remarks that a writer can act on; empty when nothing is certain to be wrong."""
    try:
        file = look(source)
    except SourceError as error:
        return (Remark("form", "", f"{error}; begin with /*+++, the plan in TOML, +++*/"),)
    if brackets := _brackets(file):  # nothing else can be found in code that does not nest
        return tuple(brackets)
    remarks = _plan(file)
    for kernel in file.kernels:
        remarks += _divergent_barriers(file, kernel)
    if arch.startswith("gfx9"):
        remarks += [
            Remark(
                "ballot",
                "",
                f"line {_line(file, m.start())}: __ballot gives 64 bits on this GPU; keep it in unsigned long long",
            )
            for m in _NARROW.finditer(file.code)
        ]
    remarks += [
        Remark(
            "host_code",
            m.group().strip(),
            f"line {_line(file, m.start())}: no host code runs; remove {m.group().strip()}",
        )
        for m in re.finditer(r"<<<|\bint\s+main\s*\(|\bhip(?:Malloc|Memcpy|LaunchKernel)\w*", file.code)
    ]
    return tuple(remarks)


def _plan(file: KernelFile) -> list[Remark]:
    remarks, kernels = list[Remark](), {k.name: k for k in file.kernels}
    for number, launch in enumerate(file.plan["launch"], 1):
        instance, args = str(launch.get("kernel", "")), launch.get("args", [])
        name = re.split("[<(]", instance, maxsplit=1)[0].rpartition("::")[2]  # of `ops::scan<float, BLOCK>`
        if name not in kernels:
            text = f"launch {number} names the kernel {instance!r}; the file has {', '.join(kernels) or 'none'}"
            remarks.append(Remark("kernel", name, text))
        elif len(args) != len(kernels[name].parameters):
            expected = len(kernels[name].parameters)
            text = f"launch {number} passes {counted(len(args), 'argument')}, but {name} takes {expected}"
            remarks.append(Remark("arguments", name, text))
    return remarks


def _brackets(file: KernelFile) -> list[Remark]:
    code = file.code[file.plan_span[1] :]
    return [
        Remark("brackets", a, f"the code has {code.count(a)} {a!r} but {code.count(b)} {b!r}")
        for a, b in ("()", "[]", "{}")
        if code.count(a) != code.count(b) and "#if" not in code
    ]


def _divergent_barriers(file: KernelFile, kernel: KernelText) -> list[Remark]:
    """Barriers inside `if (... threadIdx ...)`: work-items that take the other way never arrive."""
    remarks = []
    for match in words(file.code, "if", *kernel.body):
        opening = re.compile(r"\s*\(").match(file.code, match.end())
        close = closing(file.code, opening.end() - 1) if opening else -1
        if close < 0 or "threadIdx" not in file.code[match.end() : close]:
            continue
        block = re.compile(r"\s*\{").match(file.code, close + 1)
        end = closing(file.code, block.end() - 1) if block else file.code.find(";", close) + 1
        if end > 0 and _BARRIER.search(file.code, close, end):
            text = (
                f"line {_line(file, match.start())}: a barrier stands inside a branch that depends on "
                "threadIdx; move it out, so that every work-item reaches it"
            )
            remarks.append(Remark("barrier", "", text))
    return remarks


def _line(file: KernelFile, offset: int) -> int:
    return file.source.count("\n", 0, offset) + 1
