"""Macros that stand for an address space, in the types of a syntax tree.

Clang prints `LDS float *` where a text says `#define LDS __attribute__((address_space(3)))`. The lab's tree is that of
the preprocessed text, where the attribute stands itself; so it is put into the GPU's. Clang prints the name only where
it stood for an attribute, so a definition without a text (of another branch) says nothing. A name that otherwise is
defined twice or given up again stays, and then the two trees differ.
"""

from __future__ import annotations

import re

from sandbox.amdgcn.syntax_tree import SyntaxTree
from sandbox.candidate.pp_tokens import is_directive, rows, scan

_SPACE = re.compile(r"__attribute(?:__)? \( \( (?:__)?address_space(?:__)? \( (\d) \) \) \)")
_CAST = re.compile(r"\b(?:reinterpret|static|const|addrspace)_cast<[^<>]*>")
_QUALIFIED = r"(?: (?:const|volatile)\b)*"


def with_spaces(tree: SyntaxTree, source: str) -> SyntaxTree:
    """The tree with attributes in place of such macros."""
    spaces = _spaces(source) if "address_space" in source else {}
    if not spaces:
        return tree
    word = re.compile(rf"(?<![\w:])({'|'.join(spaces)}) (\w[\w:]*(?: (?!const\b|volatile\b)\w+)*)({_QUALIFIED})")

    def attribute(found: re.Match[str]) -> str:
        return " ".join(
            [spaces[found[1]], *found[3].split(), found[2]]
        )  # clang has the qualifiers behind a macro's type

    def spelled(text: str) -> str:
        parts = text.split("'")
        quoted = (word.sub(attribute, part) if number % 2 else part for number, part in enumerate(parts))
        return _CAST.sub(lambda cast: word.sub(attribute, cast[0]), "'".join(quoted))

    nodes = tuple(n._replace(text=spelled(n.text)) if word.search(n.text) else n for n in tree.nodes)
    return SyntaxTree(nodes, tree.layouts)


def _spaces(source: str) -> dict[str, str]:
    """The attribute for which each macro stands that has one text."""
    found, doubtful = dict[str, str](), set[str]()
    for row in rows(scan(source)):
        words = [token.text for token in row if token.kind != "end"]
        if not is_directive(row) or words[1:2] not in (["define"], ["undef"]) or len(words) < 3:
            continue
        name = words[2]
        if words[1] == "define" and len(words) == 3:
            continue
        if name in found or words[1] == "undef":
            doubtful.add(name)
        if attribute := _SPACE.fullmatch(" ".join(words[3:])):
            found[name] = f"__attribute__((address_space({attribute[1]})))"
        else:
            doubtful.add(name)
    return {name: attribute for name, attribute in found.items() if name not in doubtful}
