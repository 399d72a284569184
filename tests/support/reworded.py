"""An import hook that replaces every message of the product by other text, so that nothing can be decided by its words.

    install()           # before the product is imported
    import sandbox...   # every message made from now on is `reworded`

The hook rewrites the product's syntax tree where a message enters a record or an exception: the argument goes through
`reworded`, which answers with a text that depends on the message but shares no word with it. Empty stays empty. What
other programs print is left alone until it becomes one of our messages.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).parents[2]
PRODUCT = NAMES
MARK = "qzx"
Place = tuple[int | None, str]  # of a message among a call's arguments: its position and its name
RECORDS: Mapping[str, Place] = {
    "Finding": (1, "message"),
    "refusal": (0, "message"),
    "Diagnosis": (1, "message"),
    "Match": (2, "message"),
    "Remark": (2, "text"),
    "CaseResult": (None, "message"),
    "Attempt": (None, "reason"),
    "Result": (None, "refusal"),
    "StationReply": (2, "text"),
    "refuse": (1, "why"),
    "finish": (2, "reason"),
    "replace": (None, "message"),
}
_BUILT_IN = ("Exception", "ValueError", "RuntimeError", "TypeError", "LookupError", "OSError")


def reworded(text: Any) -> Any:
    """The other text; what is no text stays as it is."""
    if not isinstance(text, str) or not text:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{MARK} {digest.translate(str.maketrans('0123456789abcdef', 'ghjkmnpqrstvwxyz'))}"


def install() -> None:
    """Reword every module of the product that is imported from now on; none may be imported yet."""
    loaded = [name for name in sys.modules if name.split(".")[0] in PRODUCT]
    assert not loaded, loaded
    builtins.__reworded__ = reworded  # type: ignore[attr-defined]
    sys.meta_path.insert(0, _Finder(places()))


def places() -> dict[str, Place]:
    """Every call that takes a message: the records above and all exceptions of the product."""
    classes = {
        node.name: node
        for top in PRODUCT
        for path in sorted((ROOT / top).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    positions: dict[str, Place] = {name: (0, "message") for name in _BUILT_IN}
    while True:
        fresh = {
            name: _first_message(node, positions)
            for name, node in classes.items()
            if name not in positions and any(_name(base) in positions for base in node.bases)
        }
        if not fresh:
            return {**{name: position for name, position in positions.items() if name != "OSError"}, **RECORDS}
        positions.update(fresh)


def _first_message(node: ast.ClassDef, positions: Mapping[str, Place]) -> Place:
    """The place of `message` in the class's own constructor, else in the one it inherits."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            names = [argument.arg for argument in item.args.args[1:]]
            return (names.index("message"), "message") if "message" in names else (None, "message")
    return next(positions[_name(base)] for base in node.bases if _name(base) in positions)


class _Finder(MetaPathFinder):
    def __init__(self, positions: Mapping[str, Place]) -> None:
        self._places = positions

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.split(".")[0] not in PRODUCT:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path, self._places)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, positions: Mapping[str, Place]) -> None:
        super().__init__(fullname, path)
        self._places = positions

    def get_code(self, fullname: str) -> CodeType:  # never from a stored .pyc
        path = self.get_filename(fullname)
        tree = _Reworder(self._places).visit(ast.parse(self.get_data(path)))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _Reworder(ast.NodeTransformer):
    def __init__(self, positions: Mapping[str, Place]) -> None:
        self._places = positions
        self._in_exception = False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        before, self._in_exception = self._in_exception, node.name in self._places and node.name not in RECORDS
        self.generic_visit(node)
        self._in_exception = before
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = _name(node.func)
        if self._in_exception and ast.unparse(node.func) == "super().__init__":
            position, keyword = 0, "message"
        elif name in self._places:
            position, keyword = self._places[name]  # type: ignore[assignment]
        else:
            return node
        if position is not None and position < len(node.args) and not isinstance(node.args[position], ast.Starred):
            node.args[position] = _through(node.args[position])
        for argument in node.keywords:
            if argument.arg == keyword:
                argument.value = _through(argument.value)
        return node


def _through(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("__reworded__", ast.Load()), [value], [])


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
