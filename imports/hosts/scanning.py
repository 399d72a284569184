"""Launches, calls, names and assignments that statements hold."""

from __future__ import annotations

from collections.abc import Sequence

from imports.hosts.host_syntax import Binary, Call, LaunchNode, Leave, Name, NotRead, Statement, Unary

ENDS = frozenset({"exit", "abort", "_exit", "quick_exit"})


def element_of(kind: str) -> str | None:
    """Return the type of a vector's elements."""
    words = kind.split()
    plain = [w for w in words if w not in ("std", "::", "const", "static")]
    if plain[:2] in (["vector", "<"], ["unique_ptr", "<"], ["array", "<"]):
        inner = " ".join(plain[2:-1]).split(",")[0].replace("[ ]", "").strip()
        return inner or None
    return None


def _walk(body: object) -> list[object]:
    nodes, fresh = list[object](), [body]
    while fresh:
        node = fresh.pop()
        if isinstance(node, (tuple, list)):
            fresh += list(node)
        elif hasattr(node, "__dataclass_fields__"):
            nodes.append(node)
            fresh += [getattr(node, name) for name in node.__dataclass_fields__]
    return nodes


def launches(body: Sequence[Statement]) -> bool:
    """Tell whether a statement launches a kernel itself."""
    return any(
        isinstance(n, LaunchNode)
        or (isinstance(n, Call) and isinstance(n.callee, Name) and "LaunchKernel" in n.callee.text)
        or (isinstance(n, NotRead) and "<<<" in n.words)
        for n in _walk(body)
    )


def called_names(body: Sequence[Statement]) -> set[str]:
    """Collect the names of functions that the statements call."""
    return {n.callee.text for n in _walk(body) if isinstance(n, Call) and isinstance(n.callee, Name)}


def named_in(body: Sequence[Statement]) -> set[str]:
    """All names in the statements."""
    return {n.text for n in _walk(body) if isinstance(n, Name)}


def assigned(body: Sequence[Statement]) -> set[str]:
    """Collect the names that the statements assign."""
    names = set[str]()
    for node in _walk(body):
        if isinstance(node, Binary) and node.sign.endswith("=") and node.sign not in ("==", "!=", "<=", ">="):
            names |= {node.left.text} if isinstance(node.left, Name) else set()
        elif isinstance(node, Unary) and node.sign.startswith(("++", "--")) and isinstance(node.operand, Name):
            names.add(node.operand.text)
    return names


def allocates(body: Sequence[Statement]) -> bool:
    """Tell whether the statements call for memory, copies or fills."""
    return any("Malloc" in name or "Memcpy" in name or "Memset" in name for name in called_names(body))


def ends(statement: Statement) -> bool:
    """Tell whether a statement ends its function or the program."""
    return any(
        (isinstance(n, Leave) and n.word in ("return", "throw"))
        or (isinstance(n, Call) and isinstance(n.callee, Name) and n.callee.text in ENDS)
        for n in _walk([statement])
    )
