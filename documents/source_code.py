"""Source code to Markdown: one section a function or class, with the comments before it, each as code in fences."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from documents.markup import fence

PYTHON = (".py", ".pyi")
_NAME = re.compile(r"([A-Za-z_~][\w:~]*|operator\s*\S+)\s*\(")
_TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(?:__\w+__\s*(?:\([^)]*\)\s*)?)?([A-Za-z_]\w*)")
_SKIP = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|R"(\w{0,16})\(.*?(?:\)\1"|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
_SPACE = re.compile(r"\s*")
_NOT_NAMES = frozenset(
    """
    if for while switch return sizeof alignas alignof decltype defined __attribute__ __launch_bounds__ requires
    noexcept static_assert __declspec amdgpu_waves_per_eu
    """.split()  # noqa: SIM905
)


def from_code(path: Path, text: str) -> str:
    """Markdown of a source file: its name as the title, a heading for each function; what is between comes as it is."""
    suffix = path.suffix.lower()
    parts = _python(text) if suffix in PYTHON else _c_like(text)
    language = "python" if suffix in PYTHON else suffix[1:]
    out = [f"# {path.name}"]
    for name, code in parts:
        if code.strip():
            out += [f"## {name}"] * bool(name) + [fence(code.strip("\n"), language)]
    return "\n\n".join(out)


def _python(text: str) -> list[tuple[str, str]]:
    """Functions and classes at the top, methods of long classes apart; a file that does not parse is one piece."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [("", text)]
    lines = text.split("\n")
    pieces: list[tuple[str, str]] = []
    last = 0
    for name, first, end in _definitions(tree.body, ""):
        while first > last and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        if first > last:
            pieces.append(("", "\n".join(lines[last:first])))
        pieces.append((name, "\n".join(lines[first:end])))
        last = max(last, end)
    return [*pieces, ("", "\n".join(lines[last:]))]


def _definitions(body: list[ast.stmt], owner: str) -> list[tuple[str, int, int]]:
    definitions = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
            end = node.end_lineno or node.lineno
            inner = _definitions(node.body, f"{node.name}.") if isinstance(node, ast.ClassDef) and not owner else []
            if inner and end - first > 60:
                definitions.append((node.name, first, inner[0][1]))
                definitions += inner
            else:
                definitions.append((owner + node.name, first, end))
    return definitions


def _c_like(text: str) -> list[tuple[str, str]]:
    """Blocks in braces at the top or in namespaces, each with what stands before it since the last one."""
    plain = _SKIP.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)  # same length, without comments and strings
    plain = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), plain, flags=re.MULTILINE)
    pieces: list[tuple[str, str]] = []
    begin, depth, opened, name = 0, 0, 0, ""
    for match in re.finditer(r"[{};]", plain):
        offset = match.start()
        if match[0] == "{":
            if depth == 0:
                head = plain[begin:offset]
                if re.search(r"\b(namespace\b[^;(]*|extern\s*)$", head.rstrip()):
                    begin = offset + 1
                    continue
                opened, name = offset, _name_in(head)
            depth += 1
        elif match[0] == "}":
            # Where `#if` and `#else` both open a brace, the one at a line's beginning closes all.
            depth = 0 if plain[offset - 1 : offset] in ("", "\n") else max(0, depth - 1)
            if depth == 0 and opened:
                pieces.append((name, text[begin : offset + 1]))
                begin, opened = offset + 1, 0
            elif depth == 0:
                begin = max(begin, offset + 1)
        elif depth == 0 and _SPACE.fullmatch(plain, begin, offset):
            begin = offset + 1
    return [*pieces, ("", text[begin:])] if pieces else [("", text)]


def _name_in(head: str) -> str:
    """Find the name of what a block defines: the first called name that is no keyword, else the type's."""
    last = head.rpartition(";")[2]
    kind = _TYPE.search(last)
    for match in _NAME.finditer(last):
        if match[1] not in _NOT_NAMES and not (kind and kind.start() < match.start() and "(" not in last):
            return match[1]
    return kind[1] if kind else ""
