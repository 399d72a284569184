"""Read what clang says of each kernel in its gfx942 assembly: metadata, instruction mix, source lines.

The metadata is the YAML block between `.amdgpu_metadata` and `.end_amdgpu_metadata`, the same text that ends up in the
code object and that the driver believes. The reader knows the subset that LLVM's printer writes: two-space nesting,
`- ` items, plain or quoted scalars.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sandbox.amdgcn.listing_rows import ListingRow, walk
from sandbox.candidate.kernel import KernelArgument, KernelMetadata, most_workgroups, source_name_of

_METADATA = re.compile(r"^\t\.amdgpu_metadata\n(.*?)^\t\.end_amdgpu_metadata", re.S | re.M)
_SUM = re.compile(r"^(\t\.file\t.*) md5 0x[0-9a-f]+$", re.M)
_HIDDEN = "hidden_"
_BUFFER_KINDS = ("global_buffer", "dynamic_shared_pointer")


@dataclass(frozen=True)
class ListedKernel(KernelMetadata):
    """A gfx942 kernel, with what its listing adds to the metadata."""

    lines: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # `instructions` by line of the candidate


def kernels_in(listing: str, source_name: str) -> tuple[ListedKernel, ...]:
    """Read every kernel of a listing; `source_name` is the file name whose lines are counted."""
    table = metadata_in(listing)
    if not table:
        return ()
    mixes = _mixes(walk(listing, source_name))
    return tuple(_kernel(entry, mixes) for entry in table.get("amdhsa.kernels", []))


def metadata_in(listing: str) -> dict[str, Any]:
    """Read the metadata of a listing by `read_metadata`; empty where it has none."""
    blocks = _METADATA.findall(listing)
    return read_metadata(blocks[-1]) if blocks else {}


def plain_listing(listing: str) -> str:
    """Strip the source file's checksum, which no code and no line depends on."""
    return _SUM.sub(r"\1", listing)


def read_metadata(text: str) -> dict[str, Any]:
    """Read the YAML subset of a metadata block as dicts, lists, integers and strings."""
    lines = [line for line in text.split("\n") if line.strip() and line.strip() not in ("---", "...")]
    value, _ = _node(lines, 0, 0)
    return value if isinstance(value, dict) else {}


def _node(lines: list[str], start: int, indent: int) -> tuple[Any, int]:
    if start < len(lines) and lines[start][indent:].startswith("- "):
        return _items(lines, start, indent)
    table: dict[str, Any] = {}
    while start < len(lines) and _indent(lines[start]) == indent and not lines[start][indent:].startswith("- "):
        key, _, scalar = lines[start].strip().partition(":")
        start += 1
        if scalar.strip():
            table[key] = _scalar(scalar.strip())
        elif start < len(lines) and (_indent(lines[start]) > indent or lines[start][indent:].startswith("- ")):
            table[key], start = _node(lines, start, _indent(lines[start]))
        else:
            table[key] = None
    return table, start


def _items(lines: list[str], start: int, indent: int) -> tuple[list[Any], int]:
    items = []
    while start < len(lines) and _indent(lines[start]) == indent and lines[start][indent:].startswith("- "):
        if ":" in lines[start] and not lines[start].strip().startswith("- '"):
            lines[start] = " " * (indent + 2) + lines[start][indent + 2 :]
            value, start = _node(lines, start, indent + 2)
        else:
            value, start = _scalar(lines[start].strip()[2:].strip()), start + 1
        items.append(value)
    return items, start


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _scalar(text: str) -> int | str | list[Any] | dict[str, Any]:
    if text in ("[]", "{}"):
        return [] if text == "[]" else {}
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _kernel(entry: Mapping[str, Any], mixes: Mapping[str, _Mix]) -> ListedKernel:
    symbol = str(entry[".name"])
    arguments = tuple(
        KernelArgument(a[".value_kind"] in _BUFFER_KINDS, a[".offset"], a[".size"])
        for a in entry.get(".args") or ()
        if not str(a[".value_kind"]).startswith(_HIDDEN)
    )
    mix = mixes.get(symbol, _Mix())
    return ListedKernel(
        source_name_of(symbol),
        symbol,
        arguments,
        entry[".vgpr_count"],
        entry.get(".agpr_count", 0),
        entry[".sgpr_count"],
        entry[".group_segment_fixed_size"],
        entry[".private_segment_fixed_size"],
        entry[".max_flat_workgroup_size"],
        entry.get(".vgpr_spill_count", 0),
        entry.get(".sgpr_spill_count", 0),
        dict(mix.total),
        max_grid=most_workgroups(entry),
        lines={str(line): dict(counts) for line, counts in sorted(mix.lines.items())},
    )


@dataclass
class _Mix:
    total: Counter[str] = field(default_factory=Counter)
    lines: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def _mixes(rows: Iterable[ListingRow]) -> dict[str, _Mix]:
    mixes: dict[str, _Mix] = defaultdict(_Mix)
    for function, line, label, mnemonic, _ in rows:
        if label:
            continue
        mix = mixes[function]
        group = instruction_class(mnemonic)
        mix.total[group] += 1
        if line:
            mix.lines[line][group] += 1
    return mixes


@lru_cache(4096)  # a listing has thousands of few
def instruction_class(mnemonic: str) -> str:
    """Name the issue class of an instruction: mfma, valu, trans, vmem, lds, smem, salu, branch, barrier, waitcnt."""
    if mnemonic.startswith(("v_mfma", "v_smfmac")):
        return "mfma"
    if mnemonic.startswith("v_"):
        stem = mnemonic.split("_")[1]
        return "trans" if stem in ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos") else "valu"
    if mnemonic.startswith("ds_"):
        return "lds"
    if mnemonic.startswith("scratch_"):
        return "scratch"
    if mnemonic.startswith(("global_", "buffer_", "flat_")):
        return "vmem"
    if mnemonic.startswith(("s_load", "s_buffer", "s_store", "s_dcache", "s_memtime", "s_memrealtime")):
        return "smem"
    if mnemonic.startswith(("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_endpgm")):
        return "branch"
    if mnemonic.startswith(("s_waitcnt", "s_nop", "s_sleep")):
        return "waitcnt" if mnemonic.startswith("s_waitcnt") else "nop"
    return "barrier" if mnemonic.startswith("s_barrier") else "salu"
