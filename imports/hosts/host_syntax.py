"""The statements and expressions of C++ that host halves are made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Literal:
    """A number, or a text."""

    value: int | float | str


@dataclass(frozen=True)
class Name:
    """A name with its namespaces and, of templates, its arguments as texts."""

    text: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unary:
    """An operator before its operand; `++` and `--` behind it, too."""

    sign: str
    operand: Node


@dataclass(frozen=True)
class Binary:
    """Two operands; assignments, too."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Choice:
    """`a ? b : c`."""

    test: Node
    yes: Node
    no: Node


@dataclass(frozen=True)
class Call:
    """A call of a function, a constructor or a member."""

    callee: Node
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class LaunchNode:
    """`kernel<<<grid, block, shared, stream>>>(arguments)`."""

    kernel: Name
    sizes: tuple[Node, ...]
    arguments: tuple[Node, ...]
    line: int


@dataclass(frozen=True)
class Element:
    """`a[i]`."""

    base: Node
    index: Node


@dataclass(frozen=True)
class MemberAccess:
    """`a.b` and `a->b`; with a template's arguments where it has some."""

    base: Node
    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cast:
    """`(float*)x`, `static_cast<float*>(x)`."""

    type: str
    operand: Node


@dataclass(frozen=True)
class SizeOf:
    """`sizeof(T)` or `sizeof x`."""

    type: str
    operand: Node | None


@dataclass(frozen=True)
class Braces:
    """`{a, b}`, with the type before it where there is one."""

    type: str
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Unknown:
    """An expression that is not read: a lambda, a string operation; `words` is its text."""

    words: str = ""


Node = (
    Literal
    | Name
    | Unary
    | Binary
    | Choice
    | Call
    | LaunchNode
    | Element
    | MemberAccess
    | Cast
    | SizeOf
    | Braces
    | Unknown
)


@dataclass(frozen=True)
class DeclaredVariable:
    """One declared variable; `extent` of an array."""

    type: str
    name: str
    value: Node | None
    line: int
    extent: tuple[Node | None, ...] = ()
    is_called: bool = False  # T name(arguments): value is Braces


@dataclass(frozen=True)
class Evaluated:
    """An expression as a statement."""

    value: Node
    line: int


@dataclass(frozen=True)
class If:
    """A branch."""

    test: Node
    yes: tuple[Statement, ...]
    no: tuple[Statement, ...]
    line: int


@dataclass(frozen=True)
class Repetition:
    """`for`, `while` and `do`; `is_after`: the test stands behind the body."""

    start: tuple[Statement, ...]
    test: Node | None
    step: Node | None
    body: tuple[Statement, ...]
    line: int
    is_after: bool = False


@dataclass(frozen=True)
class RangeLoop:
    """`for (T x : range)`."""

    variable: str
    type: str
    iterable: Node
    body: tuple[Statement, ...]
    line: int


@dataclass(frozen=True)
class Switch:
    """`switch`: the statements behind each label; None is the default's."""

    value: Node
    arms: tuple[tuple[Node | None, tuple[Statement, ...]], ...]
    line: int


@dataclass(frozen=True)
class Block:
    """Statements in braces."""

    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Leave:
    """`return`, `break`, `continue`, `throw`, `goto`."""

    word: str
    value: Node | None
    line: int


@dataclass(frozen=True)
class NotRead:
    """A statement that could not be read; `words` is its text."""

    words: str
    line: int


Statement = DeclaredVariable | Evaluated | If | Repetition | RangeLoop | Switch | Block | Leave | NotRead
