"""Kernels taken from a Python file by its syntax tree; the file itself is never run.

Taken are, at the top level: functions with `@triton.jit`, constants made of literals, and imports from Triton itself.
All else becomes empty lines, so every line keeps its number. Of the decorators `@triton.jit` alone remains; defaults
of parameters that are no constants are left out; annotations are not evaluated.

Runs in the caged child, and imports the standard library alone.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field

TRITON = "triton"
_CONVENTIONS = {"triton": "triton", "tl": "triton.language"}  # names that other packages hand on
# Triton's own modules for the host, which may need packages that are not here.
_HOSTS = re.compile(rf"{TRITON}\.(?!language\b|experimental\b|runtime\b|compiler\b).*")
_JIT_OPTIONS = frozenset({"noinline", "debug"})  # of the decorator, with literals; the rest steers launches
NO_DEFAULT = "..."  # for a default that is no constant: the plan has to give the value
FUTURE = "from __future__ import annotations"
MOST_NODES = 200_000


class PythonSourceError(Exception):
    """The file cannot be taken as it is; the text is one sentence."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class SourceExcerpt:
    """The text to run in place of the file, and what was left out."""

    text: str = ""
    kernels: dict[str, int] = field(default_factory=dict)  # functions with @triton.jit, and their lines
    omitted: dict[str, tuple[int, str]] = field(default_factory=dict)  # by name: line, and why
    notes: list[tuple[int, str]] = field(default_factory=list)


def taken_from(source: str) -> SourceExcerpt:
    """Take the kernels of a file and what they need; PythonSourceError where it is no Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise PythonSourceError(f"the file is no valid Python: {error.msg}", error.lineno) from None
    except (ValueError, RecursionError, MemoryError):
        raise PythonSourceError("the file is too deeply nested to be read", 1) from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise PythonSourceError("the file is too long; keep the kernels that the plan launches", 1)
    reader = _Statements(source)
    for node in tree.body:
        reader.take(node)
    return reader.result()


def _is_tritons(module: str) -> bool:
    """Tell whether kernels can use a module of Triton."""
    return module == TRITON or (module.startswith(f"{TRITON}.") and not _HOSTS.fullmatch(module))


class _Statements:
    """Statements of one file in order; later ones may name the constants and modules of earlier ones."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._out: defaultdict[int, list[str]] = defaultdict(list)  # statements by line
        self._verbatim: dict[int, str] = {}
        self._modules: dict[str, str] = {}  # names of Triton's modules and of what is in them, with their full names
        self._constants: set[str] = set()
        self._excerpt = SourceExcerpt()

    def take(self, node: ast.stmt) -> None:
        match node:
            case ast.Import():
                for alias in node.names:
                    self._module(node.lineno, alias.name, alias)
            case ast.ImportFrom():
                self._from(node)
            case ast.FunctionDef():
                self._function(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._constant(name, value, node)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._constant(name, value, node)
            case ast.Expr(value=ast.Constant()):
                pass  # the docstring
            case _:
                self._omit_all(node)

    def result(self) -> SourceExcerpt:
        out = [""] * (len(self._lines) + 1)
        for number, statements in self._out.items():
            out[number] = "; ".join(statements)
        for number, line in self._verbatim.items():
            out[number] = line
        first = next((i for i, line in enumerate(out[1:], 1) if line), 1)
        if not out[first].startswith(("@", "def ", " ")):
            out[first] = f"{FUTURE}; {out[first]}" if out[first] else FUTURE
        else:
            out[max(1, first - 1)] = FUTURE
        self._excerpt.text = "\n".join(out[1:])
        return self._excerpt

    def _module(self, line: int, module: str, alias: ast.alias) -> None:
        """Read `import MODULE as NAME`."""
        name = alias.asname or alias.name.partition(".")[0]
        if _is_tritons(module):
            self._modules[name] = module if alias.asname else TRITON
            self._out[line].append(f"import {module}" + (f" as {alias.asname}" if alias.asname else ""))
        else:
            self._excerpt.omitted[name] = (line, f"it is the module {module}")

    def _from(self, node: ast.ImportFrom) -> None:
        """Read `from MODULE import NAME`; the names `triton` and `tl` mean Triton's, whoever hands them on."""
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            name = alias.asname or alias.name
            if alias.name == "*" or module == "__future__":
                continue
            if _is_tritons(module):
                self._modules[name] = f"{module}.{alias.name}"
                self._out[node.lineno].append(f"from {module} import {alias.name} as {name}")
            elif convention := _CONVENTIONS.get(alias.name):
                self._modules[name] = convention
                self._out[node.lineno].append(f"import {convention} as {name}")
            else:
                self._excerpt.omitted[name] = (node.lineno, f"it comes from {module}")

    def _constant(self, name: str, value: ast.expr, node: ast.Assign | ast.AnnAssign) -> None:
        if not self._is_constant(value):
            self._omit(name, node.lineno, "it is no constant made of literals")
            return
        self._constants.add(name)
        self._excerpt.omitted.pop(name, None)
        self._out[node.lineno].append(ast.unparse(node))

    def _function(self, node: ast.FunctionDef) -> None:
        options = [self._jit_options(decorator) for decorator in node.decorator_list]
        jit = next((jit_options for jit_options in options if jit_options is not None), None)
        if jit is None:
            self._omit(node.name, node.lineno, "it is a function without @triton.jit")
            return
        arguments = node.args
        if arguments.vararg or arguments.kwarg:
            self._omit(node.name, node.lineno, "it takes any number of arguments")
            return
        for decorator, jit_options in zip(node.decorator_list, options, strict=True):
            if jit_options is None:
                decorator_text = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
                self._excerpt.notes.append(
                    (decorator.lineno, f"@{decorator_text} of {node.name} is left out; the plan decides")
                )
        name = self._name_of_jit(node.decorator_list, options)
        self._out[node.decorator_list[0].lineno] = [f"@{name}({jit})" if jit else f"@{name}"]
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            self._verbatim[number] = self._lines[number - 1]
        defaults = [default for default in (*arguments.defaults, *arguments.kw_defaults) if default is not None]
        for default in reversed(defaults):  # the last first: what stands before it keeps its column
            if not self._is_constant(default):
                self._blank(default)
        self._excerpt.kernels[node.name] = node.lineno
        self._excerpt.omitted.pop(node.name, None)

    def _blank(self, default: ast.expr) -> None:
        """Put NO_DEFAULT in the place of a parameter's default, on the same lines."""
        first, last = default.lineno, default.end_lineno or default.lineno
        begin = self._verbatim[first].encode()[: default.col_offset].decode()
        end = self._verbatim[last].encode()[default.end_col_offset :].decode()
        for number in range(first, last):
            self._verbatim[number] = ""
        self._verbatim[first] = begin + NO_DEFAULT
        self._verbatim[last] = begin + NO_DEFAULT + end if first == last else end

    def _jit_options(self, decorator: ast.expr) -> str | None:
        """Select the options to keep of `@triton.jit`; None for another decorator."""
        call = decorator if isinstance(decorator, ast.Call) else None
        if self._full_name(call.func if call else decorator) not in ("triton.jit", "triton.runtime.jit.jit"):
            return None
        words = call.keywords if call else []
        keywords = [w for w in words if w.arg in _JIT_OPTIONS and isinstance(w.value, ast.Constant)]
        return ", ".join(f"{w.arg}={ast.unparse(w.value)}" for w in keywords)

    def _name_of_jit(self, decorators: list[ast.expr], options: list[str | None]) -> str:
        first = next(d for d, jit_options in zip(decorators, options, strict=True) if jit_options is not None)
        return ast.unparse(first.func if isinstance(first, ast.Call) else first)

    def _full_name(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return self._modules.get(name, "")
            case ast.Attribute(value=value, attr=attr) if above := self._full_name(value):
                return f"{above}.{attr}"
        return ""

    def _is_constant(self, node: ast.expr) -> bool:
        """Tell whether a node is a literal, arithmetic on them, an earlier constant, or a name of Triton's modules."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self._constants or name in self._modules
            case ast.Attribute():
                return bool(self._full_name(node))
            case ast.UnaryOp(operand=operand):
                return self._is_constant(operand)
            case ast.BinOp(left=left, right=right):
                return self._is_constant(left) and self._is_constant(right)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(self._is_constant(part) for part in parts)
            case ast.Call(func=func, args=[only], keywords=[]):
                return self._full_name(func) == "triton.language.constexpr" and self._is_constant(only)
        return False

    def _omit_all(self, node: ast.stmt) -> None:
        """Remember the names that a statement would define."""
        for inner in ast.walk(node):
            reason = f"it stands inside another statement, which begins at line {node.lineno}"
            if isinstance(inner, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                self._omit(inner.name, inner.lineno, reason if inner is not node else "it is a class")
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self._omit(inner.id, inner.lineno, reason)

    def _omit(self, name: str, line: int, why: str) -> None:
        if name not in self._excerpt.kernels and name not in self._constants and name not in self._modules:
            self._excerpt.omitted.setdefault(name, (line, why))
