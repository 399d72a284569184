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
    shared_functions: Mapping[str, Function] = field(default_factory=dict)  # pure, of the device, that hosts call

    def statements(self, function: Function) -> tuple[Statement, ...]:
        """Return the body of a function."""
        return StatementReader(function.body, self.macros, frozenset(self.types) | self.records).block()


def read_host_file(text: str) -> HostFile:
    """Read the parts of a file; one that is not understood is empty."""
    tokens, macros = read_lines(text)
    declarations = declarations_of(tokens, {n for n, m in macros.items() if m.parameters is not None}) or []
    kernels, functions, shared_functions = dict[str, Function](), dict[str, Function](), dict[str, Function]()
    constants, types, records, used = dict[str, DeclaredVariable](), dict[str, Type](), set[str](), set[str]()
    for name, macro in macros.items():
        plain = tuple(w.text for w in macro.body)
        if macro.parameters is None and plain and (kind := type_of(plain, types)).dtype:
            types[name] = kind
    scopes, layouts = _scopes(tokens), dict[str, tuple[HostParameter, ...]]()
    for declared in declarations:
        texts = [t.text for t in declared.tokens]
        head = texts[: declared.head]
        is_device = not DEVICE.isdisjoint(head if declared.is_function else texts)
        if is_device or _is_template_class(declared):
            used.update(t.text for t in declared.tokens if t.kind == "name")
        if declared.is_function:
            function = _function(declared)
            if "__global__" in head:
                kernels.setdefault(function.name, replace(function, scope=scopes.get(declared.tokens[0].start, "")))
            elif not is_device or "__host__" in head:
                functions.setdefault(function.name, function)
                if "constexpr" in head:
                    shared_functions[function.name] = function
        elif declared.type_name and texts[0] in ("typedef", "using"):
            aliases = _alias(texts, declared.type_name, types)
            types |= aliases
            records |= set() if aliases else {declared.type_name}
        elif declared.type_name:
            records.add(declared.type_name)
            layouts |= _layout(declared, types)
            for member in _static_members(declared):
                functions.setdefault(member.name, member)
        elif not is_device and not declared.is_prototype:
            constants |= _constants(declared, macros, frozenset(types) | records)
    return HostFile(
        kernels,
        functions,
        constants,
        macros,
        types,
        frozenset(records),
        _closed(used, macros),
        layouts,
        shared_functions,
    )


def _scopes(tokens: Sequence[Token]) -> dict[int, str]:
    """Map the place of each token that stands in namespaces to their names."""
    open_, scopes = list[str](), dict[int, str]()
    for index, token in enumerate(tokens):
        if token.text == "{" and token.kind == "mark":
            before = [t.text for t in tokens[max(0, index - 2) : index]]
            open_.append(before[1] if before[:1] == ["namespace"] else "")
        elif token.text == "}" and token.kind == "mark" and open_:
            open_.pop()
        elif any(open_):
            scopes[token.start] = "::".join(name for name in open_ if name)
    return scopes


def _layout(declared: Declaration, types: Mapping[str, Type]) -> dict[str, tuple[HostParameter, ...]]:
    """Read the fields of a struct that has nothing but numbers and pointers."""
    words = words_of(declared.tokens)
    texts = [w.text for w in words]
    if texts[:1] not in (["struct"], ["typedef"]) or "{" not in texts or not {"(", "[", "=", ":"}.isdisjoint(texts):
        return {}
    start, fields = texts.index("{") + 1, list[HostParameter]()
    for part in " ".join(texts[start : closing(words, start - 1)]).split(";"):
        first, *more_names = part.split(",")
        kind = first.split()[:-1]
        fields += [HostParameter(row.split()[-1], tuple(kind)) for row in (first, *more_names) if row.split()]
        if more_names and "*" in part:
            return {}
    plain = all(type_of(f.words, types).dtype or type_of(f.words, types).stars for f in fields)
    return {declared.type_name: tuple(fields)} if fields and plain else {}


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
    kind = type_of(words, types)
    return {name: kind} if kind.dtype else {}


def _constants(
    declared: Declaration, macros: Mapping[str, Macro], types: frozenset[str]
) -> dict[str, DeclaredVariable]:
    words = words_of(declared.tokens)
    statements = StatementReader(words, macros, types).block()
    return {s.name: s for s in statements if isinstance(s, DeclaredVariable)}


def _function(declared: Declaration) -> Function:
    words = words_of(declared.tokens[: declared.head])
    template, defaults, start = _template(words)
    opening = next(
        (i for i in range(start, len(words)) if words[i].text == "(" and _opens_parameters(words, i)), len(words) - 1
    )
    end = closing(words, opening)
    body = tuple(words_of(declared.tokens[declared.head + 1 : -1]))
    name = words[opening - 1].text if opening else ""
    return Function(name, template, defaults, _parameters(words[opening + 1 : end]), body, words[0].line)


def _opens_parameters(words: Sequence[Word], index: int) -> bool:
    """Tell whether a parenthesis is behind a function's name, and not that of `__launch_bounds__` or an attribute."""
    return (
        index > 0
        and words[index - 1].kind == "name"
        and words[index - 1].text
        not in (
            *("__launch_bounds__", "__attribute__", "amdgpu_flat_work_group_size", "decltype", "alignas", "noexcept"),
            *("amdgpu_waves_per_eu", "__cluster_dims__"),
        )
    )


def _template(words: Sequence[Word]) -> tuple[tuple[tuple[str, str], ...], dict[str, str], int]:
    if not words or words[0].text != "template":
        return (), {}, 0
    depth, part, parts, index = 0, list[str](), list[list[str]](), 1
    for index in range(1, len(words)):
        text = words[index].text
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
    parameters, defaults = list[tuple[str, str]](), dict[str, str]()
    for declaration in parts:
        head = declaration[: declaration.index("=")] if "=" in declaration else declaration
        name = head[-1] if len(head) > 1 else ""
        parameters.append((" ".join(head[:-1]), name))
        if "=" in declaration:
            defaults[name] = " ".join(declaration[declaration.index("=") + 1 :])
    return tuple(parameters), defaults, index + 1


def _parameters(words: Sequence[Word]) -> tuple[HostParameter, ...]:
    parameters, part, depth = list[HostParameter](), list[str](), 0
    for word in [*words, Word(",", "mark", 0)]:
        text = word.text
        depth += (text in "([{<" and len(text) == 1) - (text in ")]}>" and len(text) == 1) - 2 * (text == ">>")
        if text == "," and depth == 0:
            if part and part != ["void"]:
                parameters.append(_parameter(part))
            part = []
        else:
            part.append(text)
    return tuple(parameters)


def _parameter(part: list[str]) -> HostParameter:
    plain = part[: part.index("=")] if "=" in part else part
    stars = 0
    while plain and plain[-1] == "]":  # T x[] is T* x
        opened = len(plain) - 1 - plain[::-1].index("[")
        plain, stars = plain[:opened], stars + 1
    names = [i for i, t in enumerate(plain) if t.isidentifier()]
    name_index = names[-1] if names else -1
    return HostParameter(
        plain[name_index] if name_index > 0 else "", tuple([*plain[: max(name_index, 0)], *["*"] * stars])
    )
