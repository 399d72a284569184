"""Python that was written for a GPU, executed on the processor. In the import's own process only."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import linecache
import re
import sys
import types
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from imports.refusal import ImportRefused

BYTE_ORDER = "\ufeff"  # that editors put in front of a text, and that Python leaves out
GPU = re.compile(r"(cuda|hip)(:\d+)?")
IDLE = re.compile(r"torch\.cuda\.(synchronize|empty_cache|manual_seed\w*|set_device|reset_\w+)")


class OnProcessor(ast.NodeTransformer):
    """Names of GPU devices become the processor; moves to a GPU, and waits for it, do nothing."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """`"cuda:0"` as `"cpu"`."""
        is_device = isinstance(node.value, str) and GPU.fullmatch(node.value)
        return ast.copy_location(ast.Constant("cpu"), node) if is_device else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`x.cuda()` as `x`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            if IDLE.fullmatch(ast.unparse(node.func)):
                return ast.copy_location(ast.Constant(None), node)
            if node.func.attr == "cuda":
                return node.func.value
        return node


def parsed(path: str, text: str) -> ast.Module:
    """Parse a file to its tree; ImportRefused for what is no Python."""
    try:
        return ast.parse(text.removeprefix(BYTE_ORDER))
    except SyntaxError as error:
        raise ImportRefused(f"{path} is not Python: {error.msg} (line {error.lineno})") from None
    except ValueError as error:
        raise ImportRefused(f"{path} is not Python: {error}") from None


def executed(path: str, text: str, tree: ast.Module | None = None, name: str = "imported") -> dict[str, Any]:
    """Execute the text, or what was made of its tree, and return the names that it defines; `name` is the module's."""
    tree = ast.fix_missing_locations(OnProcessor().visit(tree or parsed(path, text)))
    module = sys.modules[name] = types.ModuleType(name)  # dataclasses look their own module up there
    space = module.__dict__
    space["__file__"] = path
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    exec(compile(tree, path, "exec"), space)
    return space


class Neighbours(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The other files of a folder, which its code may import by their names."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """`texts` are modules by name."""
        self._texts = texts
        for name in texts:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module, where it is one of them."""
        return importlib.util.spec_from_loader(fullname, self) if fullname in self._texts else None

    def exec_module(self, module: types.ModuleType) -> None:
        """Its names."""
        name = module.__name__
        namespace = executed(f"{name}.py", self._texts[name], name=name)
        module.__dict__.update({n: v for n, v in namespace.items() if not n.startswith("__")})
        sys.modules[name] = module
