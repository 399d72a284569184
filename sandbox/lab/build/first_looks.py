"""Plain reads that begin a loop of compare and swap: `old = *p; do ... while (atomicCAS(p, old, new) != old)`.

Others change the word meanwhile, by atomics, and no fault comes of it: the swap compares what was read with what is
there, and hands out the newer value where they differ. Such a read counts as an atomic one, which it is on the GPU, for
its word is aligned. It races with plain writes as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_NAME = r'%(?:"[^"]*"|[-\w$.]+)'
_KINDS = {"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}  # bytes
_KINDS |= {f"<{n} x {kind}>": n * size for kind, size in list(_KINDS.items()) for n in (2, 4, 8) if n * size <= 8}
_LOAD = re.compile(rf"^  ({_NAME}) = load (?:volatile )?({'|'.join(_KINDS)}), ptr ({_NAME}), align (\d+)")
_SAME = re.compile(rf"^  ({_NAME}) = (?:bitcast|freeze) (?:<[^>]*>|\S+) ({_NAME})(?: to (?:<[^>]*>|\S+))?(?:,|$)")
_PHI = re.compile(rf"^  ({_NAME}) = phi [^\[]*(\[.*)$")
_SOURCE = re.compile(rf"\[ ({_NAME}),")
_CHECKED = re.compile(rf"^  ({_NAME}) = (?:tail )?call ptr @ks_atomic\(ptr (?:\w+ )*({_NAME}), i64 (?:\w+ )*(\d+)\)")
_SWAP = re.compile(rf"^  {_NAME} = cmpxchg (?:weak )?(?:volatile )?ptr ({_NAME}), i(\d+) ({_NAME}), ")
_ADDRESS = re.compile(rf"^  ({_NAME}) = ptrtoint ptr ({_NAME}) to i64")
_WATCH = re.compile(rf"^  (?:tail )?call void @__asan_load\d+_noabort\(i64 ({_NAME})\)")
_MOST_NAMES = 64  # under which an expected value is looked for: a loop has a few


def with_first_looks(lines: Sequence[str]) -> list[str]:
    """The lines of a function, in which each such read is an atomic one."""
    looks = set(_first_looks(lines)) if any(" cmpxchg " in line for line in lines) else set()
    if not looks:
        return list(lines)
    addresses = {found[1]: found[2] for line in lines if (found := _ADDRESS.match(line))}
    text, dropped = [[line] for line in lines], set[int]()
    for number in looks:
        found = _LOAD.match(lines[number])
        assert found is not None
        text[number] = _atomic(lines[number], found, number)
        dropped |= _watch_before(lines, number, found[3], addresses)
    return [line for number, made in enumerate(text) if number not in dropped for line in made]


def _atomic(line: str, found: re.Match[str], number: int) -> list[str]:
    """The read as an atomic one: of vectors as the word that they make, for no target reads vectors atomically."""
    name, kind, pointer = found[1], found[2], found[3]
    line = line.replace(" = load ", " = load atomic ", 1).replace(f", ptr {pointer},", f", ptr {pointer} monotonic,", 1)
    if not kind.startswith("<"):
        return [line]
    word = f"i{8 * _KINDS[kind]}"
    return [
        line.replace(f"{name} = ", f"%ks_look{number} = ", 1).replace(f" {kind}, ", f" {word}, ", 1),
        f"  {name} = bitcast {word} %ks_look{number} to {kind}",
    ]


def _first_looks(lines: Sequence[str]) -> Iterator[int]:
    """Numbers of the lines that read what a swap of the same word expects to find."""
    loads, sources = dict[str, tuple[int, str, int]](), dict[str, list[str]]()
    checked, swaps = dict[str, str](), set[tuple[str, int, str]]()
    for number, line in enumerate(lines):
        if found := _LOAD.match(line):
            if int(found[4]) >= _KINDS[found[2]]:
                loads[found[1]] = (number, found[3], _KINDS[found[2]])
        elif found := _SAME.match(line):
            sources[found[1]] = [found[2]]
        elif found := _PHI.match(line):
            sources[found[1]] = _SOURCE.findall(found[2])
        elif found := _CHECKED.match(line):
            checked[found[1]] = found[2]
        elif found := _SWAP.match(line):
            swaps.add((found[1], int(found[2]) // 8, found[3]))
    for pointer, size, expected in swaps:
        for name in _names(expected, sources):
            number, place, width = loads.get(name, (0, "", 0))
            if width == size and place == checked.get(pointer, pointer):
                yield number


def _names(value: str, sources: Mapping[str, Sequence[str]]) -> list[str]:
    """The names whose values this one may have, unchanged."""
    found = [value]
    for name in found:
        found += [source for source in dict.fromkeys(sources.get(name, ())) if source not in found]
        if len(found) > _MOST_NAMES:
            break
    return found


def _watch_before(lines: Sequence[str], number: int, pointer: str, addresses: Mapping[str, str]) -> set[int]:
    """The check of the plain read before the line, which goes: the seal puts the one of an atomic there."""
    for at in range(number - 1, -1, -1):
        watch = _WATCH.match(lines[at])
        if watch or not lines[at].startswith("  "):
            return {at} if watch and addresses.get(watch[1]) == pointer else set()
    return set()
