"""A HIP or CUDA file with its host half: kernels, host functions, constants, types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from imports.hosts.directives import read_lines
from imports.hosts.host_syntax import DeclaredVariable, Statement
from imports.hosts.statements import StatementReader
from imports.hosts.types import Type, type_of
from imports.hosts.word_reader import Macro
from imports.hosts.words import Word, closing, words_of
from sandbox.candidate.declarations import Declaration, declarations_of
from sandbox.candidate.pp_tokens import Token

DEVICE = frozenset({"__device__", "__global__", "__constant__", "__shared__", "__managed__"})


@dataclass(frozen=True)
class HostParameter:
    """A parameter of a function: its type by its words."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Function:
    """A function: the parameters of its template, its own, and the words of its body."""

    name: str
    template: tuple[tuple[str, str], ...]  # type and name of each
    defaults: Mapping[str, str]  # of the template's parameters
    parameters: tuple[HostParameter, ...]
    body: tuple[Word, ...]
    line: int
    scope: str = ""  # its namespaces


@dataclass(frozen=True)
class HostFile:
    """All of a file that its host half may name."""

    kernels: Mapping[str, Function]
    functions: Mapping[str, Function]  # of the host, with a body
    constants: Mapping[str, DeclaredVariable]  # outside of functions
    macros: Mapping[str, Macro]
    types: Mapping[str, Type]
    records: frozenset[str]  # structs and classes
    device_names: frozenset[str]  # that device code uses
    layouts: Mapping[str, tuple[HostParameter, ...]] = field(default_factory=dict)  # fields of plain structs
    both: Mapping[str, Function] = field(default_factory=dict)  # device functions without side effects that hosts call

    def statements(self, function: Function) -> tuple[Statement, ...]:
        """Return the body of a function."""
        return StatementReader(function.body, self.macros, frozenset(self.types) | self.records).block()


def read_host_file(text: str) -> HostFile:
    """Read the parts of a file; one that is not understood is empty."""
    tokens, macros = read_lines(text)
    declarations = declarations_of(tokens, {n for n, m in macros.items() if m.parameters is not None}) or []
    kernels, functions, both = dict[str, Function](), dict[str, Function](), dict[str, Function]()
    constants, types, records, used = dict[str, DeclaredVariable](), dict[str, Type](), set[str](), set[str]()
    for name, macro in macros.items():
        plain = tuple(w.text for w in macro.body)
        if macro.parameters is None and plain and (meant := type_of(plain, types)).dtype:
            types[name] = meant
    scopes, layouts = _scopes(tokens), dict[str, tuple[HostParameter, ...]]()
    for declared in declarations:
        texts = [t.text for t in declared.tokens]
        head = texts[: declared.head]
        is_device = not DEVICE.isdisjoint(head if declared.is_function else texts)
        if is_device or _is_template_class(declared):
            used.update(t.text for t in declared.tokens if t.kind == "name")
        if declared.is_function:
            made = _function(declared)
            if "__global__" in head:
                kernels.setdefault(made.name, replace(made, scope=scopes.get(declared.tokens[0].start, "")))
            elif not is_device or "__host__" in head:
                functions.setdefault(made.name, made)
                if "constexpr" in head:
                    both[made.name] = made
        elif declared.type_name and texts[0] in ("typedef", "using"):
            found = _alias(texts, declared.type_name, types)
            types |= found
            records |= set() if found else {declared.type_name}
        elif declared.type_name:
            records.add(declared.type_name)
            layouts |= _layout(declared, types)
            for member in _static_members(declared):
                functions.setdefault(member.name, member)
        elif not is_device and not declared.is_prototype:
            constants |= _constants(declared, macros, frozenset(types) | records)
    return HostFile(
        kernels, functions, constants, macros, types, frozenset(records), _closed(used, macros), layouts, both
    )


def _scopes(tokens: Sequence[Token]) -> dict[int, str]:
    """Map the place of each token that stands in namespaces to their names."""
    open_, found = list[str](), dict[int, str]()
    for at, token in enumerate(tokens):
        if token.text == "{" and token.kind == "mark":
            before = [t.text for t in tokens[max(0, at - 2) : at]]
            open_.append(before[1] if before[:1] == ["namespace"] else "")
        elif token.text == "}" and token.kind == "mark" and open_:
            open_.pop()
        elif any(open_):
            found[token.start] = "::".join(name for name in open_ if name)
    return found


def _layout(declared: Declaration, types: Mapping[str, Type]) -> dict[str, tuple[HostParameter, ...]]:
    """Read the fields of a struct that has nothing but numbers and pointers."""
    words = words_of(declared.tokens)
    texts = [w.text for w in words]
    if texts[:1] not in (["struct"], ["typedef"]) or "{" not in texts or not {"(", "[", "=", ":"}.isdisjoint(texts):
        return {}
    start, found = texts.index("{") + 1, list[HostParameter]()
    for part in " ".join(texts[start : closing(words, start - 1)]).split(";"):
        first, *others = part.split(",")
        kind = first.split()[:-1]
        found += [HostParameter(row.split()[-1], tuple(kind)) for row in (first, *others) if row.split()]
        if others and "*" in part:
            return {}
    plain = all(type_of(f.words, types).dtype or type_of(f.words, types).stars for f in found)
    return {declared.type_name: tuple(found)} if found and plain else {}


def _static_members(declared: Declaration) -> list[Function]:
    """List the functions of a class that need no object of it."""
    texts = [t.text for t in declared.tokens]
    inner = declared.tokens[texts.index("{") + 1 : -2] if "{" in texts else ()
    members = declarations_of([t for t in inner if t.text not in ("public", "private", "protected")], set()) or []
    return [_function(m) for m in members if m.is_function and "static" in [t.text for t in m.tokens[: m.head]]]


def _closed(used: set[str], macros: Mapping[str, Macro]) -> frozenset[str]:
    """Return the names with those that their macros use."""
    fresh = [n for n in used if n in macros]
    while fresh:
        more = {w.text for w in macros[fresh.pop()].body} - used
        used |= more
        fresh += [n for n in more if n in macros]
    return frozenset(used)


def _is_template_class(declared: Declaration) -> bool:
    return declared.is_class_with_functions


def _alias(texts: Sequence[str], name: str, types: Mapping[str, Type]) -> dict[str, Type]:
    plain = [t for t in texts if t != ";"]
    words = plain[plain.index("=") + 1 :] if "=" in plain else [t for t in plain[1:] if t != name]
    found = type_of(words, types)
    return {name: found} if found.dtype else {}


def _constants(
    declared: Declaration, macros: Mapping[str, Macro], types: frozenset[str]
) -> dict[str, DeclaredVariable]:
    words = words_of(declared.tokens)
    found = StatementReader(words, macros, types).block()
    return {s.name: s for s in found if isinstance(s, DeclaredVariable)}


def _function(declared: Declaration) -> Function:
    words = words_of(declared.tokens[: declared.head])
    template, defaults, start = _template(words)
    at = next(
        (i for i in range(start, len(words)) if words[i].text == "(" and _opens_parameters(words, i)), len(words) - 1
    )
    end = closing(words, at)
    body = tuple(words_of(declared.tokens[declared.head + 1 : -1]))
    name = words[at - 1].text if at else ""
    return Function(name, template, defaults, _parameters(words[at + 1 : end]), body, words[0].line)


def _opens_parameters(words: Sequence[Word], at: int) -> bool:
    """Tell whether a parenthesis is behind a function's name, and not that of `__launch_bounds__` or an attribute."""
    return (
        at > 0
        and words[at - 1].kind == "name"
        and words[at - 1].text
        not in (
            *("__launch_bounds__", "__attribute__", "amdgpu_flat_work_group_size", "decltype", "alignas", "noexcept"),
            *("amdgpu_waves_per_eu", "__cluster_dims__"),
        )
    )


def _template(words: Sequence[Word]) -> tuple[tuple[tuple[str, str], ...], dict[str, str], int]:
    if not words or words[0].text != "template":
        return (), {}, 0
    depth, part, parts, place = 0, list[str](), list[list[str]](), 1
    for place in range(1, len(words)):
        text = words[place].text
        if text == "<":
            depth += 1
            if depth == 1:
                continue
        elif text in (">", ">>"):
            depth -= len(text)
            if depth <= 0:
                break
        if text == "," and depth == 1:
            parts.append(part)
            part = []
        else:
            part.append(text)
    parts += [part] if part else []
    found, defaults = list[tuple[str, str]](), dict[str, str]()
    for each in parts:
        head = each[: each.index("=")] if "=" in each else each
        name = head[-1] if len(head) > 1 else ""
        found.append((" ".join(head[:-1]), name))
        if "=" in each:
            defaults[name] = " ".join(each[each.index("=") + 1 :])
    return tuple(found), defaults, place + 1


def _parameters(words: Sequence[Word]) -> tuple[HostParameter, ...]:
    found, part, depth = list[HostParameter](), list[str](), 0
    for word in [*words, Word(",", "mark", 0)]:
        text = word.text
        depth += (text in "([{<" and len(text) == 1) - (text in ")]}>" and len(text) == 1) - 2 * (text == ">>")
        if text == "," and depth == 0:
            if part and part != ["void"]:
                found.append(_parameter(part))
            part = []
        else:
            part.append(text)
    return tuple(found)


def _parameter(part: list[str]) -> HostParameter:
    plain = part[: part.index("=")] if "=" in part else part
    stars = 0
    while plain and plain[-1] == "]":  # T x[] is T* x
        opened = len(plain) - 1 - plain[::-1].index("[")
        plain, stars = plain[:opened], stars + 1
    names = [i for i, t in enumerate(plain) if t.isidentifier()]
    at = names[-1] if names else -1
    return HostParameter(plain[at] if at > 0 else "", tuple([*plain[: max(at, 0)], *["*"] * stars]))
