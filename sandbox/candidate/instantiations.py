"""Explicit instantiations of a file, and uses of macros that are some: a plan names the one that it launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandbox.candidate.declarations import Declaration
from sandbox.candidate.pp_tokens import Token


def instantiations(
    declarations: Sequence[Declaration], host: Sequence[Declaration], macros: Mapping[str, Sequence[Token]]
) -> list[Declaration]:
    """Explicit instantiations, and uses of macros that are some or whose text names a function that has gone.

    A plan names the instantiation that it launches; the others would only be compiled.
    """
    left_out = {id(d) for d in host}
    remaining_functions = {d.name for d in declarations if d.is_function and id(d) not in left_out}
    host_functions = {d.name for d in host if d.is_function} - remaining_functions

    def is_macro(tokens: Sequence[Token]) -> bool:
        tokens = _behind_extern(tokens)
        body = macros.get(tokens[0].text, ()) if [t.text for t in tokens[1:2]] == ["("] else ()
        expansion = _with_macros(body, tokens, macros)
        return not host_functions.isdisjoint(t.text for t in body) or is_only_instantiations(expansion, macros)

    remaining = (d for d in declarations if id(d) not in left_out and not d.is_function)
    return [d for d in remaining if _is_instantiation(d.tokens) or is_macro(d.tokens)]


def is_only_instantiations(tokens: Sequence[Token], macros: Mapping[str, Sequence[Token]], depth: int = 4) -> bool:
    """Tell whether a macro's text holds explicit instantiations, or uses of macros that do, and nothing else."""
    pieces, piece = list[Sequence[Token]](), list[Token]()
    for token in tokens:
        if token.text == ";":
            pieces.append(piece)
            piece = []
        elif token.kind != "end":
            piece.append(token)
    pieces = [_behind_extern(p) for p in [*pieces, piece] if p]
    return bool(pieces) and all(
        p
        and (
            (_is_instantiation(p) and "{" not in (t.text for t in p))
            or (depth > 0 and is_only_instantiations(_behind_parameters(macros.get(p[0].text, ())), macros, depth - 1))
        )
        for p in pieces
    )


def _behind_parameters(body: Sequence[Token]) -> Sequence[Token]:
    """Return the text of a macro with parameters."""
    texts = [t.text for t in body]
    return body[texts.index(")") + 1 :] if texts[:1] == ["("] and ")" in texts else ()


def _with_macros(body: Sequence[Token], use: Sequence[Token], macros: Mapping[str, Sequence[Token]]) -> Sequence[Token]:
    """Return the text of a macro with parameters, those that are given another macro replaced by its name."""
    arguments, text = [t for t in use[2:-1] if t.text != ","], _behind_parameters(body)
    names = [t.text for t in body[1 : len(body) - len(text) - 1] if t.text != ","]
    if len(arguments) != len(names):
        return text
    chosen = {name: token for name, token in zip(names, arguments, strict=True) if token.text in macros}
    return [chosen.get(t.text, t) for t in text]


def _is_instantiation(tokens: Sequence[Token]) -> bool:
    words = [t.text for t in _behind_extern(tokens)[:2]]
    return words[:1] == ["template"] and words[1:2] != ["<"]


def _behind_extern(tokens: Sequence[Token]) -> Sequence[Token]:
    return tokens[1:] if [t.text for t in tokens[:1]] == ["extern"] else tokens
