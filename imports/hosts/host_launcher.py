"""A `main` for a function that launches kernels and that nothing in its file calls: its buffers are of any extent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imports.hosts.host_text import CLOSE, MARKS
from imports.hosts.types import dtype_of, split_at_commas
from sandbox.candidate.pp_tokens import Token, scan

LAUNCHES = frozenset({"hipLaunchKernelGGL", "hipLaunchKernel", "hipLaunchCooperativeKernel"})
ROOM, UNSAID = 1 << 36, 64  # bytes of each buffer, none of them touched; a size that nobody has said


@dataclass(frozen=True)
class HostLauncher:
    """A function of the host whose body launches a kernel."""

    name: str
    template: tuple[str, ...]
    parameters: tuple[str, ...]
    called: frozenset[str]  # names in its body

    @property
    def sizes(self) -> list[str]:
        """Name its whole numbers."""
        rows = [_declared(p) for p in self.parameters]
        return [name for kind, name in rows if "*" not in kind and dtype_of(kind)[:1] in ("i", "u")]


def launchers(text: str) -> dict[str, HostLauncher]:
    """Find the functions that launch kernels, or call one that does and that nothing else calls; by name."""
    functions = {f.name: f for f in _functions(text) if f.name != "main"}
    direct = {n for n, f in functions.items() if "<<<" in f.called or not LAUNCHES.isdisjoint(f.called)}
    reached, before = set(direct), set[str]()
    while reached != before:
        before = set(reached)
        reached |= {n for n, f in functions.items() if not before.isdisjoint(f.called)}
    return {n: f for n, f in functions.items() if n in reached}


def tops(functions: Mapping[str, HostLauncher]) -> list[str]:
    """List those that no other calls."""
    called = {n for f in functions.values() for n in f.called if n != f.name}
    return [n for n in functions if n not in called] or list(functions)


def _functions(text: str) -> list[HostLauncher]:
    tokens = [t for t in scan(text) if t.kind != "end"]
    functions, index = list[HostLauncher](), 0
    while index < len(tokens):
        if tokens[index].text != "{":
            index += 1
            continue
        end = _matching(tokens, index)
        function = _function(text, tokens, index, end)
        if function is not None:
            functions.append(function)
        is_scope = function is None and _opens_scope(tokens, index)
        index = index + 1 if is_scope else end + 1
    return functions


def _opens_scope(tokens: Sequence[Token], opening: int) -> bool:
    words = [t.text for t in tokens[max(0, opening - 4) : opening]]
    return "namespace" in words or words[-1:] == ['"C"']


def _matching(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for position in range(opening, len(tokens)):
        depth += (tokens[position].text == "{") - (tokens[position].text == "}")
        if depth == 0:
            return position
    return len(tokens) - 1


def _function(text: str, tokens: Sequence[Token], opening: int, end: int) -> HostLauncher | None:
    """Read the function whose body opens here; None for a scope, a type, and device code."""
    start = opening
    while start > 0 and tokens[start - 1].text not in (";", "}", "{"):
        start -= 1
    head = [t for t in tokens[start:opening] if t.text not in ("const", "noexcept", "override")]
    words = [t.text for t in head]
    if not head or words[-1] != ")" or MARKS & set(words) or "#" in words:
        return None
    depth, position = 0, len(head) - 1
    while position >= 0:
        depth += (words[position] in CLOSE) - (words[position] in "([{")
        if depth == 0:
            break
        position -= 1
    if position < 1 or head[position - 1].kind != "name":
        return None
    parameters = split_at_commas(text[head[position].end : head[-1].start])
    template = tuple[str, ...]()
    if words[0] == "template":
        inner = " ".join(words[: position - 1])
        template = tuple(split_at_commas(re.sub(r"^template\s*<(.*?)>(?=[^>]*$).*", r"\1", inner)))
    called = {t.text for t in tokens[opening:end]}
    code = "".join(t.text for t in tokens[opening:end])
    called |= {"<<<"} if "<<<" in code else set()
    plain = tuple(p for p in parameters if p.strip() != "void")
    return HostLauncher(words[position - 1], template, plain, frozenset(called))


def _declared(parameter: str) -> tuple[str, str]:
    words = re.sub(r"=.*|\[.*|\b(?:const|volatile|__restrict__|__restrict|restrict)\b|&", " ", parameter, flags=re.S)
    name = re.findall(r"\w+", words)[-1:] or [""]
    return " ".join(words.rpartition(name[0])[0].split()), name[0]


def driver(launcher: HostLauncher, sizes: Mapping[str, int], index: int) -> str:
    """Write a `main` that calls it; its whole numbers are numbers from `index` on."""
    arguments = list[str]()
    for parameter in launcher.parameters:
        kind, name = _declared(parameter)
        dtype = dtype_of(kind)
        if "*" in kind:
            arguments.append(f'({kind})ks_given({ROOM}ul, "{name}")')
        elif dtype[:1] in ("i", "u"):
            arguments.append(f"({kind})ks_size({index}, {sizes.get(name, UNSAID)}L)")
            index += 1
        else:
            arguments.append(f"({kind})1" if dtype else f"{kind}{{}}")
    template_values = [_template_argument(t, sizes) for t in launcher.template]
    name = launcher.name + (f"<{', '.join(template_values)}>" if template_values else "")
    return f"int main() {{\n    {name}({', '.join(arguments)});\n    return 0;\n}}\n"


def _template_argument(words: str, sizes: Mapping[str, int]) -> str:
    kind, name = words.split("=")[0].split()[:-1], words.split("=")[0].split()[-1]
    if "typename" in kind or "class" in kind:
        return "float"
    return str(sizes.get(name, UNSAID))
