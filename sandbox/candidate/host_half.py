"""The host half of a HIP file: found in the text by rule, so that a file can be judged as it is written.

A file that launches its kernels itself holds functions for the processor: `main`, launchers, a reference. None of them
ever runs here, and none is compiled: they become empty lines, before any compiler, judge or digest sees the text. So
every part of the judge reads the same device half, and what is left out can neither help nor harm a candidate.

A function is the host's where nothing marks it for the device and it launches a kernel, calls the runtime's interface
or is `main`. Where a file has one, so are its other unmarked functions, unless device code names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from sandbox.candidate.branch_heads import with_unreachable_heads
from sandbox.candidate.branches import balanced_rows
from sandbox.candidate.declarations import Declaration, declarations_of
from sandbox.candidate.header_names import device_functions
from sandbox.candidate.host_members import Marks, host_members
from sandbox.candidate.instantiations import instantiations
from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan
from sandbox.candidate.unreached import unreached

_HINT = re.compile(r"<<<|\b(?:main\s*\(|(?:hip|cuda)[A-Z]|(?:torch|at|c10)::|__host__\b|template\s+[^<\s])")
_RUNTIME = re.compile(
    r"(?:hip|cuda|hipblas|rocblas|cublas|hiprand|rocrand|hipfft|rocfft|hipsparse|rocsparse|omp_)[A-Z_]\w*"
    r"|hip(?:blas|rand|fft|sparse|solver)[A-Z]\w*|cu(?:blas|fft|sparse|solver|dnn)[A-Z]\w*|GL(?:u?int|enum|float)|rocblas_\w+|rocrand_\w+|gettimeofday|clock_gettime|TORCH_\w+|AT_\w+|PYBIND11_\w+|C10_(?:CUDA|HIP|EXPORT|API)\w*"
)
_HANDLE = re.compile(r"(?:hip|roc|cu)(?:blas|sparse|solver|fft|rand|dnn)\w*_t|cudnn\w*_t")
_FRAMEWORK = frozenset({"torch", "at", "c10"})
_HOSTS = frozenset({"nlohmann", "fmt", "tvm", "spdlog"})  # namespaces of libraries that no device code uses
_NUMBER = re.compile(
    r"Half|BFloat16|Float8_\w+|complex|\w*OpMathType|opmath_type|acc_type|util|detail|\w*TensorAccessor\w*|\w*PtrTraits|Philox\w*"
)  # of device code, and tensors by value
_VECTORS = re.compile(r"hip(?:Thread|Block|Grid)(?:Idx|Dim)_[xyz]|hip(?:Float|Double)?Complex|hip_(?:bfloat16|fp8)\w*")
_LIBRARY = frozenset(
    {
        *("vector", "string", "map", "set", "unordered_map", "unique_ptr", "shared_ptr", "cout", "cerr", "endl"),
        *("fstream", "ifstream", "ofstream", "stringstream", "FILE", "chrono", "thread", "mutex"),
        *("mt19937", "default_random_engine", "random_device", "pybind11", "thrust"),
    }
)
_CONTAINERS = _LIBRARY | {  # names that mean nothing else behind `std::`
    *("list", "deque", "queue", "stack", "priority_queue", "multimap", "unordered_set", "multiset", "function"),
    *("ostream", "istream", "ostringstream", "istringstream", "exception", "runtime_error", "basic_string"),
}
_CLOCKS = ["using", "namespace", "std", "::", "chrono", ";"]
_MARKS = frozenset(
    {
        *("__global__", "__device__", "__shared__", "__constant__", "__managed__"),
        *("C10_DEVICE", "C10_HOST_DEVICE", "HIPCUB_DEVICE", "HIPCUB_HOST_DEVICE", "ROCPRIM_DEVICE"),
    }
)


_HOST_MARKS = frozenset({"__host__", "C10_HOST"})


def without_host_half(text: str) -> str:
    """Put empty lines in place of host code; the text itself where it has none, or is not understood."""
    if not _HINT.search(text):
        return text
    text = _with_one_head(text)
    tokens = scan(text)
    code, defined = list[Token](), list[Sequence[Token]]()
    all_rows = balanced_rows(rows(tokens))
    for row in all_rows.read:
        if is_directive(row):
            defined += [row] if len(row) > 2 and row[1].text == "define" else []
        else:
            code += row
    marks, macros = _marks(defined), {row[2].text for row in defined if len(row) > 3 and row[3].text == "("}
    declarations = declarations_of(code, macros)
    if declarations is None:
        return text
    library = _LIBRARY - {name for d in declarations for name in (d.type_name, "" if d.is_function else d.name)}

    def is_hosts(tokens: Sequence[Token]) -> bool:
        is_own = [t.text for t in tokens] == _CLOCKS or tokens[0].text == "enum"  # its words are names of its own
        return not is_own and (_asks_runtime(tokens) or _uses(library, tokens))

    all_marks = Marks(marks, _named(defined, _HOST_MARKS))
    host = _host(declarations, all_marks, _interface(defined), is_hosts)
    has_host_half = bool(host)
    host += instantiations(declarations, host, {row[2].text: row[3:] for row in defined})
    if has_host_half:
        host_ids = {id(d) for d in host}
        unread = [t for row in all_rows.unread if not is_directive(row) for t in row if t.kind == "name"]
        host += unreached(text, [d for d in declarations if id(d) not in host_ids], defined, marks, unread)
    left_out = {id(d) for d in host}
    spans = [(d.tokens[0].start, d.tokens[-1].end, "") for d in host]
    for declared in declarations:
        if id(declared) not in left_out and not declared.is_function and "{" in (t.text for t in declared.tokens):
            spans += host_members(declared.tokens, all_marks, has_host_half, is_hosts)
    pieces, position = list[str](), 0
    for start, end, instead in sorted(spans):
        pieces += [text[position:start], instead, _blank(text[start:end])]
        position = end
    return "".join([*pieces, text[position:]])


def _with_one_head(text: str) -> str:
    if "__host__" not in text or "#el" not in text.replace("# el", "#el"):
        return text
    defined = [row for row in rows(scan(text)) if is_directive(row) and len(row) > 2 and row[1].text == "define"]
    return with_unreachable_heads(text, _named(defined, _HOST_MARKS), _marks(defined))


def _blank(text: str) -> str:
    """Lines without words; conditions, macros and headers stay, which belong to what follows as well."""
    if "#" not in text:
        return "\n" * text.count("\n")
    directive_lines = set[int]()
    for row in rows(scan(text)):
        if is_directive(row) and [t.text for t in row[1:2]] != ["pragma"]:
            first = text.count("\n", 0, row[0].start)
            last = next(token for token in reversed(row) if token.kind != "end")
            directive_lines.update(range(first, text.count("\n", 0, last.end) + 1))
    return "\n".join(line if number in directive_lines else "" for number, line in enumerate(text.split("\n")))


def _marks(defined: Sequence[Sequence[Token]]) -> frozenset[str]:
    """Collect the keywords of device code, and this file's macros that stand for them."""
    return _named(defined, _MARKS)


def _named(defined: Sequence[Sequence[Token]], keywords: Collection[str]) -> frozenset[str]:
    users = dict[str, list[str]]()
    for row in defined:
        for token in row[3:]:
            users.setdefault(token.text, []).append(row[2].text)
    marks, fresh = set(keywords), list(keywords)
    while fresh:
        more = set(users.get(fresh.pop(), ())) - marks
        marks |= more
        fresh += more
    return frozenset(marks)


def _interface(defined: Sequence[Sequence[Token]]) -> frozenset[str]:
    """Collect this file's macros that stand for calls and values of the runtime's interface."""
    asking = {row[2].text for row in defined if len(row) > 3 and _asks_runtime(row[3:])}
    return _named(defined, asking)


def _host(
    declarations: Sequence[Declaration],
    marks: Marks,
    interface: frozenset[str],
    is_hosts: Callable[[Sequence[Token]], bool],
) -> list[Declaration]:
    unmarked = [d for d in declarations if not _is_marked(d, marks.device)]
    host = {
        id(d): d
        for d in unmarked
        if (d.is_prototype and _asks_runtime(d.tokens))
        or (
            d.is_function
            and (
                d.name == "main"
                or not marks.host.isdisjoint(t.text for t in d.tokens[: d.head])
                or _asks_runtime(d.tokens)
                or _names_containers(d.tokens)
                or not interface.isdisjoint(t.text for t in d.tokens)
            )
        )
    }
    host |= {id(d): d for d in unmarked if not d.is_function and _takes_from_framework(d.tokens)}
    if not host:
        return [d for d in unmarked if not d.is_function and _renames_library(d.tokens)]
    device = {d.name for d in declarations if d.is_function and _is_marked(d, marks.device)} | device_functions()
    open_ = dict[str, list[Declaration]]()  # by its name, what is the host's unless device code names it
    for declared in unmarked:
        if id(declared) in host:
            continue
        if _is_hosts_form(declared) and (declared.name in device or _is_operator(declared)):
            host[id(declared)] = declared  # the host's form of what device code has under the same name
        elif not declared.is_function and is_hosts(declared.tokens):
            host[id(declared)] = declared
        elif declared.is_function or declared.is_prototype or declared.is_class_with_functions:
            open_.setdefault(declared.type_name or declared.name, []).append(declared)
        elif declared.variable_name:
            open_.setdefault(declared.variable_name, []).append(declared)
    undecided = {id(d) for namesakes in open_.values() for d in namesakes}
    fresh = [d for d in declarations if id(d) not in host and id(d) not in undecided]
    while fresh:
        tokens = _device_tokens(fresh.pop(), marks, is_hosts)
        for token, after in zip(tokens, [*(t.text for t in tokens[1:]), ""], strict=True):
            namesakes = open_.pop(token.text, [])
            if after not in ("(", "<") and (host_forms := [d for d in namesakes if _is_hosts_form(d)]):
                open_[token.text] = host_forms  # a variable's name
            fresh += [d for d in namesakes if not _is_hosts_form(d)]
    host |= {id(d): d for namesakes in open_.values() for d in namesakes if not d.is_constant}
    return [*host.values(), *_dependents(unmarked, host)]


def _device_tokens(declared: Declaration, marks: Marks, is_hosts: Callable[[Sequence[Token]], bool]) -> Sequence[Token]:
    """List the tokens of a declaration without the host's members of a class and the friends that it only names."""
    if declared.is_function or "{" not in (t.text for t in declared.tokens):
        return declared.tokens
    spans = list(host_members(declared.tokens, marks, True, is_hosts))
    device_tokens, is_friend = list[Token](), False
    for token in declared.tokens:
        is_friend = (is_friend or token.text == "friend") and token.text not in (";", "{")
        if not is_friend and not any(start <= token.start < end for start, end, _ in spans):
            device_tokens.append(token)
    return device_tokens


def _is_hosts_form(declared: Declaration) -> bool:
    """Tell whether a function has no mark. Where device code calls one it stays, to be refused by its name."""
    return declared.is_function and not declared.is_constant


def _is_operator(declared: Declaration) -> bool:
    return "operator" in (t.text for t in declared.tokens[: declared.head])


def _renames_library(tokens: Sequence[Token]) -> bool:
    """Tell whether this is another name of a host library's type."""
    words = [token.text for token in tokens]
    return words[0] in ("using", "typedef") and any(map(_HANDLE.fullmatch, words))


def _takes_from_framework(tokens: Sequence[Token]) -> bool:
    """Tell whether this is such as `using at::Tensor;`: the framework's names but for its numbers are the host's."""
    words = [token.text for token in tokens]
    is_one = words[0] == "using" and words[2:3] == ["::"] and words[1] in _FRAMEWORK
    return is_one and not any(map(_NUMBER.fullmatch, words[3:4]))


def _dependents(unmarked: Sequence[Declaration], host: Mapping[int, Declaration]) -> list[Declaration]:
    """Types and variables made of the host's types, which have gone."""
    host_names = {d.type_name for d in host.values()} - {""}
    dependents = list[Declaration]()
    for declared in unmarked:
        if id(declared) in host or declared.is_function or not host_names & {t.text for t in declared.tokens}:
            continue
        if declared.type_name not in host_names:
            dependents.append(declared)
            host_names |= {declared.type_name, _constant_name(declared.tokens)} - {""}
    return dependents


def _constant_name(tokens: Sequence[Token]) -> str:
    """Return the name of a constant that its declaration gives a value; "" for all else."""
    words = [t.text for t in tokens]
    end = words.index("=") if "=" in words else 0
    is_constant = "constexpr" in words[:end] or "const" in words[:end]
    return words[end - 1] if is_constant and words[end - 1].isidentifier() else ""


def _is_marked(declared: Declaration, marks: frozenset[str]) -> bool:
    part = declared.tokens[: declared.head] if declared.is_function else declared.tokens
    words = [t.text for t in part]
    if not marks.isdisjoint(words):
        return True
    return "__attribute__" in words and not {"global", "device", "shared", "constant"}.isdisjoint(words)


def _asks_runtime(tokens: Sequence[Token]) -> bool:
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.kind == "name" and _RUNTIME.fullmatch(token.text) and not _VECTORS.fullmatch(token.text):
            return True
        if token.text == "<<" and after and after.text == "<" and after.start == token.end:
            return True  # a launch
    names = (t.text for t in tokens[2:])
    return any(
        second.text == "::" and (first.text in _HOSTS or (first.text in _FRAMEWORK and not _NUMBER.fullmatch(third)))
        for first, second, third in zip(tokens, tokens[1:], names, strict=False)
    )


def _names_containers(tokens: Sequence[Token]) -> bool:
    """Tell whether this names what no device code can have, such as `std::string`; the word alone may be anything."""
    words = [token.text for token in tokens]
    return any(
        words[index : index + 2] == ["std", "::"] and word in _CONTAINERS for index, word in enumerate(words[2:])
    )


def _uses(library: Collection[str], tokens: Sequence[Token]) -> bool:
    """Tell whether this names the host's library; `library` is without the names of the file's own types."""
    return any(t.kind == "name" and t.text in library for t in tokens)
