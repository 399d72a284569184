"""The kernels of a candidate: where the one that a plan names stands, and the symbol that the lab's program has for it.

A GPU finds a kernel by its symbol, C++ by its name. The lab may execute only the function whose symbol the code object
has, or a namespace, an overload or a macro could give the GPU another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from records.evaluation import Finding
from sandbox.amdgcn.syntax_tree import Node, SyntaxTree, subtree
from sandbox.candidate.diagnostics import refusal
from sandbox.candidate.instances import address, is_plain
from sandbox.candidate.plan import Launch
from sandbox.candidate.pp_tokens import is_directive, rows, scan

_NAME = "ks_name_of_kernel_"  # begins a line behind the source, whose number is the launch's
_EXPANDED = re.compile(rf"^{_NAME}(\d+) (.*)$", re.M)
_WORD = re.compile(r"[A-Za-z_]\w*")
_DECLARED = re.compile(r"(?:^|.* )([^\s']+) '([^']*)'")
_CALL = re.compile(r"\(ptr noundef @(\"[^\"]*\"|[-\w$.]+)\)")
_SUFFIX = re.compile(r"\.(?:static|anon|intern)\..*$")  # clang's, for a kernel that no other file may name


def kernel_names(tree: SyntaxTree, called: Mapping[str, Launch]) -> dict[str, str] | tuple[Finding, ...]:
    """The C++ expression for the address of each launched kernel; a finding for a name that several kernels have.

    `called` has the launch of each name of the plan, whose kernel's name holds no macro of the file any more.
    """
    found, types = dict[str, set[str]](), dict[str, list[tuple[bool, str]]]()
    for path, kind, is_kernel in _functions(tree.nodes):
        if (is_kernel, kind) not in types.setdefault(path, []):
            types[path].append((is_kernel, kind))
        if is_kernel:
            found.setdefault(path.rpartition("::")[2], set()).add(path)
    names = dict[str, str]()
    for launch in called.values():
        if not is_plain(launch.kernel):
            continue
        paths = sorted(found.get(launch.kernel, ()))
        kernels = [kind for is_kernel, kind in types[paths[0]] if is_kernel] if paths else []
        if len(paths) > 1 or len(kernels) > 1:
            said = (
                f"the plan launches {launch.kernel!r}, but the file has several kernels of that name; name one "
                "of them by its namespace or by the types of its parameters, as in name(float*, int)"
            )
            return (refusal(said, launch.line),)
        names[launch.kernel] = f"&{paths[0]}" if paths else f"&{launch.kernel}"
        if paths and len(types[paths[0]]) > 1:  # device functions share its name
            names[launch.kernel] = f"static_cast<{kernels[0].replace('(', '(*)(', 1)}>(&{paths[0]})"
    return {**names, **compilers_names(called)}


def compilers_names(called: Mapping[str, Launch]) -> dict[str, str]:
    """The addresses of kernels with qualified names and of instantiations: the compiler finds one function of each."""
    return {name: address(launch.kernel) for name, launch in called.items() if not is_plain(launch.kernel)}


def with_names(source: str, launches: Iterable[Launch]) -> str:
    """The source with the names that hold a macro of the file in lines behind it; empty where there are none."""
    defined = {
        row[2].text for row in rows(scan(source)) if is_directive(row) and len(row) > 2 and row[1].text == "define"
    }
    lines = [
        f"{_NAME}{number} {launch.kernel}\n"
        for number, launch in enumerate(launches)
        if not is_plain(launch.kernel) and not defined.isdisjoint(_WORD.findall(launch.kernel))
    ]
    return "\n".join([source, "", *lines]) if lines else ""


def expanded(launches: Sequence[Launch], preprocessed: str) -> tuple[Launch, ...]:
    """The launches with the names that a preprocessor left of these lines."""
    found = {int(line[1]): line[2].strip() for line in _EXPANDED.finditer(preprocessed)}
    return tuple(replace(each, kernel=found.get(number, each.kernel)) for number, each in enumerate(launches))


def called_symbols(module: str, launches: Iterable[Launch]) -> dict[str, str]:
    """The symbol of the function that the bridge to each launched kernel calls, from LLVM's text."""
    symbols = dict[str, str]()
    for number, launch in enumerate(launches):
        at = module.find(f"@ks_launch_{number}()")
        called = _CALL.search(module, at, module.find("\n}", at)) if at >= 0 else None
        if called:
            symbols[launch.kernel] = called[1].strip('"')
    return symbols


def unlike_symbols(lab: Mapping[str, str], gpu: Mapping[str, str], launches: Iterable[Launch]) -> tuple[Finding, ...]:
    """A finding for each kernel that the lab would not execute as the GPU does; both maps by the plan's names."""
    return tuple(
        refusal(
            f"the plan's {launch.kernel} is {gpu.get(launch.kernel, 'no kernel')!r} in the GPU's code and another "
            "function in C++; give the kernel a name of its own",
            launch.line,
        )
        for launch in dict.fromkeys(launches)
        if lab.get(launch.kernel, "") != _SUFFIX.sub("", gpu.get(launch.kernel, "-"))
    )


def _functions(nodes: tuple[Node, ...]) -> Iterator[tuple[str, str, bool]]:
    """Path, type and whether it is a kernel, of every function outside of classes."""
    scopes = list[tuple[int, str]]()
    for index, node in enumerate(nodes):
        while scopes and scopes[-1][0] >= node.depth:
            scopes.pop()
        if node.kind in ("NamespaceDecl", "LinkageSpecDecl"):
            name = node.text.split(" ")[0] if node.kind == "NamespaceDecl" else ""
            scopes.append((node.depth, name))
        elif node.kind == "FunctionDecl" and len(scopes) == node.depth - 1 and (found := _DECLARED.match(node.text)):
            parts = nodes[index + 1 : subtree(nodes, index)]
            is_kernel = any(n.kind == "CUDAGlobalAttr" and n.depth == node.depth + 1 for n in parts)
            path = "".join(f"::{name}" for _, name in scopes if name) + f"::{found[1]}"
            yield path, found[2], is_kernel
