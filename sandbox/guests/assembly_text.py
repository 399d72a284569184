"""The text of hand-written assembly before and after the assembler: comments out, lines kept, one form for readers.

LLVM's assembler can print what it has read, each instruction in its full form and with the line it stands on. That
print is a listing like a compiler's, so that whoever reads listings reads these. Debug information of an edited
compiler's listing is left out: the lines of a hand-written file are its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sandbox.candidate.language import SOURCE_NAMES

SOURCE, LISTING = SOURCE_NAMES["assembly"], "printed.s"
_PART = re.compile(  # each alternative takes what it matches whole
    r'"(?:[^"\\\n]|\\.)*+"|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|//[^\n]*+|;[^\n]*+|^[ \t]*+#[^\n]*+', re.M
)
_METADATA = re.compile(r"^[ \t]*+\.amdgpu_metadata\b.*?^[ \t]*+\.end_amdgpu_metadata\b", re.S | re.M)
_DEBUG = re.compile(r"^[ \t]*+\.(?:loc|file|cfi_\w++|ident|addrsig\w*+)\b")
_SECTION = re.compile(r"^[ \t]*+\.(?:section[ \t]++(\S++)|(text|data|rodata|bss)\b)")
_LABEL = re.compile(r"^([.$\w]++):")
_WORD = re.compile(r"[.$\w]+")
_LOC = re.compile(r"^\t\.loc\t0 ", re.M)
_FUNCTION = re.compile(r"^\t\.type\t(\S+),@function$", re.M)


def cleaned(source: str) -> str:
    """Strip comments and debug information; all else stays on its line."""
    pieces, end = list[str](), 0
    for metadata in _METADATA.finditer(source):
        pieces += [_without_comments(source[end : metadata.start()]), metadata[0]]
        end = metadata.end()
    pieces.append(_without_comments(source[end:]))
    lines, in_debug = list[str](), False
    for line in "".join(pieces).split("\n"):
        if section := _SECTION.match(line):
            in_debug = bool(section[1]) and section[1].strip("\"',").startswith((".debug", ".AMDGPU"))
        lines.append("" if in_debug or _DEBUG.match(line) else line)
    return "\n".join(lines)


def listing_of(printed: str, kernels: list[str]) -> str:
    """Turn the assembler's print into a compiler's listing: lines of this file, a compiler's labels, no debug data."""
    text = printed.partition('\t.section\t.debug_info,"",@progbits')[0]
    text = _LOC.sub("\t.loc\t1 ", text)
    functions = set(_FUNCTION.findall(text))
    names = _labels(text, {*functions, *kernels})
    out = [f'\t.file\t1 "." "{SOURCE}"']
    for line in text.split("\n"):
        if not line.strip() or line.startswith(("\t.no_dead_strip", ".set ", "\t.set ")):
            continue
        label = _LABEL.match(line)
        if label and label[1] in names and not names[label[1]]:
            continue  # nothing refers to it
        if label and label[1] in kernels and label[1] not in functions:
            out.append(f"\t.type\t{label[1]},@function")
        out.append(_WORD.sub(lambda word: names.get(word[0]) or word[0], line))
    return "\n".join(out) + "\n"


def _without_comments(text: str) -> str:
    def blank(part: re.Match[str]) -> str:
        return part[0] if part[0].startswith('"') else " " + "\n" * part[0].count("\n")

    return _PART.sub(blank, text)


def _labels(text: str, functions: set[str]) -> dict[str, str]:
    """Give each label in code that something refers to a new name, "" to the others; functions keep theirs."""
    used, labels, number = dict[str, int](), list[str](), 0
    for line, in_code in _with_sections(text):
        label = _LABEL.match(line)
        if label and in_code and label[1] not in functions:
            labels.append(label[1])
        for word in _WORD.findall(line):
            used[word] = used.get(word, 0) + 1
    names = dict[str, str]()
    for label_name in labels:
        names[label_name] = f".LBB0_{number}" if used[label_name] > 1 else ""
        number += used[label_name] > 1
    return names


def _with_sections(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it stands in code."""
    in_code = True
    for line in text.split("\n"):
        if section := _SECTION.match(line):
            in_code = section[2] == "text" or (section[1] or "").strip('"').startswith(".text")
        yield line, in_code
