"""Several listings as one, so that all launches of a plan run from one program.

Symbols that two listings define get another name in the later one, local labels and numbers of files always do. Debug
data goes: nothing but the lines of instructions is read of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sandbox.amdgcn.compiler import Compilation
from sandbox.amdgcn.listing import ListedKernel

_STRIDE = 1000  # numbers of functions, and of files, of one listing
_WORD = re.compile(r"[.$A-Za-z_][.$\w]*")
_BLOCK = re.compile(r"\.LBB(\d+)_(\d+)")
_NUMBERED = re.compile(r"^(\t\.(?:file|loc)\t)(\d+)", re.M)
_DEFINED = re.compile(
    r"^\t\.(?:type|globl|protected|weak|comm|lcomm|amdgpu_lds)[ \t]+([.$\w]+)|^\t?\.set[ \t]+([.$\w]+)|^([.$\w]+):",
    re.M,
)
_METADATA = re.compile(r"^\t\.amdgpu_metadata\n.*?^\t\.end_amdgpu_metadata\n", re.S | re.M)
_KERNELS = re.compile(r"^amdhsa\.kernels:[ ]*\n(.*?)(?=^\S)", re.S | re.M)
_SECTION = re.compile(r"^\t\.(?:section\t([^\s,]+)|text|data|bss|rodata)")
_ENDING = "amdhsa.version:\n  - 1\n  - 2\n...\n\t.end_amdgpu_metadata\n"


def merged(compilations: Sequence[Compilation]) -> tuple[Compilation, tuple[Mapping[str, str], ...]]:
    """Merge compilations into one; return for each the names that its kernels have there, by their own."""
    if len(compilations) == 1:
        return compilations[0], ({kernel.name: kernel.name for kernel in compilations[0].kernels},)
    used_names, parts, entries = set[str](), list[str](), list[str]()
    kernels, resources, names = list[ListedKernel](), [], list[Mapping[str, str]]()
    for number, compilation in enumerate(compilations):
        code = _without_debug(_METADATA.sub("", compilation.listing))
        defined = {name for groups in _DEFINED.findall(code) for name in groups if name and not name.startswith(".L")}
        renamed = {name: f"{name}.p{number}" for name in defined & used_names}
        used_names |= defined
        parts.append(_renamed(code, number, renamed))
        table = _METADATA.search(compilation.listing)
        rows = _KERNELS.search(table[0]) if table else None
        entries.append(_renamed(rows[1], number, renamed) if rows else "")
        kernel_names = {k.name: f"{k.name}.p{number}" if k.symbol in renamed else k.name for k in compilation.kernels}
        kernels += [
            replace(k, name=kernel_names[k.name], symbol=renamed.get(k.symbol, k.symbol)) for k in compilation.kernels
        ]
        resources += [replace(r, kernel=kernel_names.get(r.kernel, r.kernel)) for r in compilation.resources]
        names.append(kernel_names)
    metadata = f"\t.amdgpu_metadata\n---\namdhsa.kernels:\n{''.join(entries)}{_ENDING}"
    joined = replace(
        compilations[0],
        kernels=tuple(kernels),
        resources=tuple(resources),
        code_object="",
        listing="".join(parts) + metadata,
        diagnostics="".join(compilation.diagnostics for compilation in compilations),
        cpu_s=sum(compilation.cpu_s for compilation in compilations),
    )
    return joined, tuple(names)


def _renamed(text: str, number: int, names: Mapping[str, str]) -> str:
    def word(match: re.Match[str]) -> str:
        name = match[0]
        if block := _BLOCK.fullmatch(name):
            return f".LBB{int(block[1]) + _STRIDE * number}_{block[2]}"
        if name.startswith(".L"):
            return f"{name}.p{number}"
        base = name.removesuffix(".kd")
        return names[base] + name[len(base) :] if base in names else name

    numbered = _NUMBERED.sub(lambda m: f"{m[1]}{int(m[2]) + _STRIDE * number}", text)
    return _WORD.sub(word, numbered)


def _without_debug(text: str) -> str:
    lines, in_debug = list[str](), False
    for line in text.split("\n"):
        if section := _SECTION.match(line):
            in_debug = (section[1] or "").strip('"').startswith(".debug")
        if not in_debug:
            lines.append(line)
    return "\n".join(lines) + "\n"
