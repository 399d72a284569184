"""Values of host expressions."""

from __future__ import annotations

import operator

from imports.hosts.amounts import Amount, joined, named, number, plus, times
from imports.hosts.expression_reader import ExpressionReader
from imports.hosts.host_arithmetic import COMPARED, NOTHING, ONE, converted, of_reals, of_wholes
from imports.hosts.host_file import HostFile
from imports.hosts.host_syntax import (
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    Element,
    LaunchNode,
    Literal,
    MemberAccess,
    Name,
    Node,
    SizeOf,
    Unary,
)
from imports.hosts.memory import HostMemory, HostUnclear
from imports.hosts.types import Type, type_of
from imports.hosts.values import Address, Extents, Frame, HostArray, Pointer, Real, Record, Title, Value, address_of

MOST_WORK = 200_000


class HostExpressions:
    """Evaluates expressions; calls and launches are for those that know statements."""

    def __init__(self, file: HostFile, memory: HostMemory) -> None:
        self.file, self.memory = file, memory
        self.globals = Frame(types=dict(file.types))
        self._opened = set[str]()

    def call(self, node: Call, frame: Frame) -> Value:
        """Evaluate a call."""
        raise NotImplementedError

    def launch(self, node: LaunchNode, frame: Frame) -> None:
        """Launch a kernel."""
        raise NotImplementedError

    def value(self, node: Node, frame: Frame) -> Value:
        """Evaluate an expression; `NOTHING` for one that is not known."""
        self.memory.work += 1
        if self.memory.work > MOST_WORK:
            raise HostUnclear("its host half computes too long before it launches")
        try:
            return self._value(node, frame)
        except (ArithmeticError, ValueError, TypeError):
            return NOTHING

    def _value(self, node: Node, frame: Frame) -> Value:
        match node:
            case Literal(value=int() as whole):
                return number(whole)
            case Literal(value=float() as real):
                return Real(repr(real), real)
            case Name():
                return self.variable(node, frame)
            case Unary():
                return self._unary(node, frame)
            case Binary(sign=sign) if sign.endswith("=") and sign not in COMPARED:
                return self._assigned(node, frame)
            case Binary():
                return self._binary(node, frame)
            case Choice(test=test, yes=yes, no=no):
                return self._chosen(test, yes, no, frame)
            case Cast(type=kind, operand=operand):
                return self.cast(self.kind(kind, frame), self.value(operand, frame))
            case SizeOf():
                return self._size_of(node, frame)
            case Element():
                return self._element(node, frame)
            case MemberAccess():
                return self._part(node, frame)
            case Braces(type=kind, items=items):
                return self.constructed(self.kind(kind, frame), [self.value(item, frame) for item in items])
            case Call():
                return self.call(node, frame)
            case LaunchNode():
                self.launch(node, frame)
        return NOTHING

    def kind(self, words: str, frame: Frame) -> Type:
        """Return the type that words name here."""
        return type_of(words.split(), {**self.file.types, **frame.types})

    def variable(self, node: Name, frame: Frame) -> Value:
        """Return the value of a name."""
        holder, name = frame.holder(node.text)
        if name in holder.variables:
            return holder.variables[name]
        if name in self.globals.variables:
            return self.globals.variables[name]
        if name in ("true", "false"):
            return number(int(name == "true"))
        if name in ("nullptr", "NULL"):
            return Pointer(None, None, Type("void", 1))
        if name not in self._opened and (value := self._constant(name)) is not None:
            self.globals.variables[name] = value
            return value
        return Title(node.text, node.arguments)

    def _constant(self, name: str) -> Value | None:
        """Return the value of a macro or of a constant outside of functions."""
        self._opened.add(name)
        is_fixed = name in self.file.device_names  # device code has it as a constant
        if (declared := self.file.constants.get(name)) is not None:
            self.declare(declared, self.globals)
            value = self.globals.variables.get(name, NOTHING)
            return number(value.value) if is_fixed and isinstance(value, Amount) and value.value is not None else value
        macro = self.file.macros.get(name)
        if macro is None or macro.parameters is not None or not macro.body:
            return None
        try:
            reader = ExpressionReader(macro.body, self.file.macros, frozenset(self.file.types))
            node = reader.expression()
        except (ValueError, IndexError):
            return None
        value = self.value(node, self.globals) if reader.position == len(macro.body) else NOTHING
        if isinstance(value, Amount) and value.constant is not None:
            return number(value.constant) if is_fixed else self.memory.size(name, value.constant)
        return value

    def declare(self, declared: object, frame: Frame) -> None:
        """Give a variable its value."""
        raise NotImplementedError

    def _unary(self, node: Unary, frame: Frame) -> Value:
        if node.sign == "&":
            return self._address(node.operand, frame)
        value = self.value(node.operand, frame)
        if node.sign.startswith(("++", "--")) and isinstance(node.operand, Name):
            moved = self._moved(value, ONE, 1 if node.sign[0] == "+" else -1)
            self.assign(node.operand, moved, frame)
            return value if node.sign.endswith("behind") else moved
        match node.sign, value:
            case "-", Amount():
                return plus(number(0), value, -1)
            case "-", Real(text=text, value=real):
                return Real(f"-({text})", None if real is None else -real)
            case "+", _:
                return value
            case "!", Amount(value=int() as known) if value.constant is not None:
                return number(int(not known))
            case "!", Amount():
                return joined(value, "==", number(0), operator.eq)
            case "*", Address(name=name, frame=holder):
                return holder.variables.get(name, NOTHING)
        return NOTHING

    def _address(self, node: Node, frame: Frame) -> Value:
        if isinstance(node, Name):
            value = self.variable(node, frame)
            if isinstance(value, Title):
                return value
            return value if isinstance(value, HostArray) else address_of(node.text, frame)
        if isinstance(node, Element):
            base = self.value(node.base, frame)
            return self._moved(base, self.value(node.index, frame), 1) if isinstance(base, Pointer) else base
        return NOTHING

    def assign(self, target: Node, value: Value, frame: Frame) -> None:
        """Give a name another value; other targets are the host's own data."""
        if isinstance(target, Unary) and target.sign == "*":
            address = self.value(target.operand, frame)
            if isinstance(address, Address):
                address.frame.variables[address.name] = value
        elif isinstance(target, Name):
            holder, name = frame.holder(target.text)
            owner = holder if name in holder.variables or name not in self.globals.variables else self.globals
            kind = owner.kinds.get(name)
            owner.variables[name] = self.cast(kind, value) if kind is not None else value
        elif isinstance(target, Element):
            base = self.value(target.base, frame)
            if isinstance(base, Pointer):
                self.memory.touched(base)
        elif isinstance(target, MemberAccess):
            base = self.value(target.base, frame)
            if isinstance(base, Record):
                self.assign(target.base, base.with_field(target.name, value), frame)
            if isinstance(base, Extents) and isinstance(value, Amount) and target.name in "xyz":
                parts = {"x": base.x, "y": base.y, "z": base.z, target.name: value}
                self.assign(target.base, Extents(**parts), frame)

    def _assigned(self, node: Binary, frame: Frame) -> Value:
        value = self.value(node.right, frame)
        if node.sign != "=":
            value = self.combined(node.sign[:-1], self.value(node.left, frame), value)
        self.assign(node.left, value, frame)
        return value

    def _binary(self, node: Binary, frame: Frame) -> Value:
        left = self.value(node.left, frame)
        if node.sign in ("&&", "||") and isinstance(left, Amount) and left.constant is not None:
            if bool(left.constant) == (node.sign == "||"):
                return number(int(bool(left.constant)))
            return self.value(node.right, frame)
        return self.combined(node.sign, left, self.value(node.right, frame))

    def combined(self, sign: str, left: Value, right: Value) -> Value:
        """Two values with an operator between them."""
        if isinstance(left, Pointer) and isinstance(right, Amount) and sign in "+-":
            return self._moved(left, right, 1 if sign == "+" else -1)
        if isinstance(left, Amount) and isinstance(right, Amount):
            return of_wholes(sign, left, right)
        if isinstance(left, (Amount, Real)) and isinstance(right, (Amount, Real)) and sign in "+-*/":
            return of_reals(sign, left, right)
        return NOTHING

    def _moved(self, value: Value, by: Value, sign: int) -> Value:
        if not isinstance(by, Amount):
            return NOTHING
        if isinstance(value, Amount):
            return plus(value, by, sign)
        if isinstance(value, Pointer) and value.buffer is not None:
            offset = plus(value.offset or number(0), times(by, number(value.type.lanes)), sign)
            return Pointer(value.buffer, offset, value.type)
        return NOTHING

    def _chosen(self, test: Node, yes: Node, no: Node, frame: Frame) -> Value:
        value = self.value(test, frame)
        if isinstance(value, Amount) and value.constant is not None:
            return self.value(yes if value.constant else no, frame)
        if_true, if_false = self.value(yes, frame), self.value(no, frame)
        if isinstance(value, Amount) and isinstance(if_true, Amount) and isinstance(if_false, Amount):
            chosen = None if value.value is None else (if_true if value.value else if_false).value
            return named(f"({if_true.bracketed} if {value.text} else {if_false.bracketed})", chosen)
        return NOTHING

    def cast(self, kind: Type | None, value: Value) -> Value:
        """Cast the value to another type; as it is where none is named."""
        return value if kind is None else converted(kind, value)

    def constructed(self, kind: Type, items: list[Value]) -> Value:
        """Make the value of a constructor's call."""
        if kind.base == "dim3":
            amounts = [item if isinstance(item, Amount) else None for item in items]
            if items and isinstance(items[0], Extents):
                return items[0]
            if None in amounts:
                return NOTHING
            x, y, z = [*[a for a in amounts if a is not None], ONE, ONE, ONE][:3]
            return Extents(x, y, z)
        layout = () if kind.stars else self.file.layouts.get(kind.base, ())
        if layout and not (len(items) == 1 and isinstance(items[0], Record)):
            field_values = [*items, *[NOTHING] * len(layout)] if len(items) <= len(layout) else [NOTHING] * len(layout)
            return Record(kind.base, tuple((f.name, v) for f, v in zip(layout, field_values, strict=False)))
        if len(items) == 1:
            return self.cast(kind if kind.base else None, items[0])
        return NOTHING

    def _size_of(self, node: SizeOf, frame: Frame) -> Value:
        if node.operand is None or (isinstance(node.operand, Name) and self.kind(node.operand.text, frame).bytes):
            words = node.type or (node.operand.text if isinstance(node.operand, Name) else "")
            size = self.kind(words, frame).bytes
            return number(size) if size else NOTHING
        if isinstance(node.operand, Name):
            holder, name = frame.holder(node.operand.text)
            value, kind = holder.variables.get(name), holder.kinds.get(name)
            if isinstance(value, HostArray) and value.count is not None and not (kind and kind.stars):
                return times(value.count, number(value.type.bytes))
            return number(kind.bytes) if kind is not None and kind.bytes else NOTHING
        inner = node.operand.base if isinstance(node.operand, Element) else node.operand
        inner = inner.operand if isinstance(inner, Unary) and inner.sign == "*" else inner
        value = self.value(inner, frame)
        if isinstance(value, HostArray):
            return number(value.type.bytes)
        if isinstance(value, Pointer):
            return number(Type(value.type.base).bytes)
        return NOTHING

    def _element(self, node: Element, frame: Frame) -> Value:
        base, index = self.value(node.base, frame), self.value(node.index, frame)
        if isinstance(base, HostArray) and base.items and isinstance(index, Amount) and index.constant is None:
            self.memory.decisions.append(f"the element {index.text} of {base.name}")
            return base.items[index.value] if index.value is not None and index.value < len(base.items) else NOTHING
        if isinstance(base, HostArray) and isinstance(index, Amount) and index.constant is not None:
            return base.items[index.constant] if index.constant < len(base.items) else NOTHING
        return NOTHING

    def _part(self, node: MemberAccess, frame: Frame) -> Value:
        base = self.value(node.base, frame)
        if isinstance(base, Record):
            return base.field(node.name)
        if isinstance(base, Extents) and node.name in ("x", "y", "z"):
            return {"x": base.x, "y": base.y, "z": base.z}[node.name]
        return NOTHING
