"""Calls of a host half: HIP's and CUDA's interface, the standard library's, and the file's own functions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from imports.hosts.amounts import Amount, divided, number
from imports.hosts.host_arithmetic import NOTHING, of_function
from imports.hosts.host_syntax import Braces, Call, Cast, Element, LaunchNode, MemberAccess, Name, Node, Unary
from imports.hosts.launching import arguments_of, instance_of
from imports.hosts.memory import HostUnclear
from imports.hosts.turning import HostLoops
from imports.hosts.types import Type
from imports.hosts.values import Address, Extents, Frame, HostArray, HostStep, Nothing, Pointer, Title, Value

RUNTIME = re.compile(r"(?:hip|cuda)([A-Z]\w*)")
ALLOCATES = frozenset({"Malloc", "MallocManaged", "MallocAsync", "ExtMallocWithFlags"})
UNSUPPORTED = {
    "MemcpyToSymbol": "fills a variable of the device from the host",
    "MemcpyToSymbolAsync": "fills a variable of the device from the host",
    "MallocPitch": "allocates memory with a pitch that only the device knows",
    "Malloc3D": "allocates memory with a pitch that only the device knows",
    "MallocArray": "uses textures",
    "CreateTextureObject": "uses textures",
    "BindTexture": "uses textures",
    "ModuleLoad": "loads its kernels from another file",
    "ModuleLaunchKernel": "launches kernels from another file",
    "GraphLaunch": "launches a graph",
    "SetDeviceFlags": "",
}
LIBRARY = re.compile(
    r"(?:hip|roc|cu)(?:blas|fft|rand|sparse|solver|dnn)\w*|thrust::\w+|(?:hipcub|rocprim|cub)::Device\w*.*|rccl\w*"
)
IDLE = re.compile(r"\w*(?:Create|Destroy|Check|Init|Set[A-Z]|Get[A-Z])\w*")  # of a library: computes nothing


class HostRuntime(HostLoops):
    """Everything that a host half calls."""

    def call(self, node: Call, frame: Frame) -> Value:
        """Evaluate a call, and what it does to buffers."""
        callee = node.callee
        if isinstance(callee, MemberAccess):
            return self._member(callee, node.arguments, frame)
        if not isinstance(callee, Name):
            return NOTHING
        name = callee.text
        if LIBRARY.fullmatch(name) and not IDLE.fullmatch(name) and name not in self.file.functions:
            raise HostUnclear(f"it calls {name}, a library's kernel, which no plan can launch")
        if name in ("hipLaunchKernelGGL", "hipLaunchKernelGGLInternal"):
            kernel = self._kernel_name(node.arguments[0], frame)
            self.launch(LaunchNode(kernel, node.arguments[1:5], node.arguments[5:], 0), frame)
            return NOTHING
        if (match := RUNTIME.fullmatch(name)) and name not in self.file.functions:
            return self._of_runtime(match[1], node.arguments, callee, frame)
        if name in self.file.kernels:
            return NOTHING
        values = [self.value(argument, frame) for argument in node.arguments]
        if (function := self.file.functions.get(name.split("::")[-1])) is not None:
            return self.inside(function, node.arguments, values, frame, callee.arguments)
        kind = self.kind(name, frame)
        if kind.dtype or kind.base == "dim3":
            return self.constructed(kind, values)
        return self._of_library(name, callee, node.arguments, values, frame)

    def _of_library(self, name: str, callee: Name, nodes: Sequence[Node], values: list[Value], frame: Frame) -> Value:
        plain = name.split("::")[-1]
        if plain in ("malloc", "calloc", "aligned_alloc", "new[]"):
            return self._host_memory(plain, callee, values, frame)
        if plain == "swap" and len(nodes) == 2:
            self.assign(nodes[0], values[1], frame)
            self.assign(nodes[1], values[0], frame)
            return NOTHING
        if plain in ("make_unique",) and values:
            kind = self.kind(callee.arguments[0].replace("[ ]", ""), frame) if callee.arguments else Type("")
            return HostArray("", kind, values[0] if isinstance(values[0], Amount) else None)
        value = of_function(name, values)
        if value is not None:
            return value
        self._hands_on(values)
        return NOTHING

    def _hands_on(self, values: Sequence[Value]) -> None:
        """Code that is not read gets these values."""
        for value in values:
            if isinstance(value, Pointer):
                self.memory.touched(value)
            elif isinstance(value, Address) and isinstance(value.frame.variables.get(value.name), Amount):
                kind = value.frame.kinds.get(value.name, Type("int"))
                value.frame.variables[value.name] = self._named(value.name, kind, NOTHING)

    def _host_memory(self, name: str, callee: Name, values: list[Value], frame: Frame) -> Value:
        if name == "new[]":
            count = values[0] if isinstance(values[0], Amount) else None
            return HostArray("", self.kind(callee.arguments[0], frame), count)
        amounts = [g for g in values if isinstance(g, Amount)]
        if not amounts:
            return HostArray("", Type(""), None)
        total = self.combined("*", amounts[0], amounts[1]) if name == "calloc" and len(amounts) > 1 else amounts[-1]
        return HostArray("", Type("char"), total if isinstance(total, Amount) else None)

    def _member(self, callee: MemberAccess, arguments: tuple[Node, ...], frame: Frame) -> Value:
        owner = self.value(callee.base, frame)
        values = [self.value(argument, frame) for argument in arguments]
        if isinstance(owner, HostArray):
            if callee.name in ("size", "length"):
                return NOTHING if owner.count is None else owner.count
            if callee.name in ("data", "get", "begin"):
                return owner
            if callee.name == "resize" and values and isinstance(values[0], Amount):
                owner.count = values[0]
            return NOTHING
        self._hands_on(values)
        return NOTHING

    def _of_runtime(self, name: str, arguments: tuple[Node, ...], callee: Name, frame: Frame) -> Value:
        if UNSUPPORTED.get(name):
            raise HostUnclear(f"it {UNSUPPORTED[name]} ({callee.text}), which no plan can say")
        if name in ALLOCATES:
            self._allocate(name, arguments, callee, frame)
        elif name in ("HostMalloc", "MallocHost", "HostAlloc") and arguments:
            count = self.value(arguments[1], frame)
            target = self._target(arguments[0], frame)
            if target is not None:
                kind = target.frame.kinds.get(target.name, Type("char", 1))
                size = number(max(1, Type(kind.base).bytes))
                length = divided(count, size) if isinstance(count, Amount) else None
                target.frame.variables[target.name] = HostArray(target.name, Type(kind.base), length)
        elif name in ("Memcpy", "MemcpyAsync", "MemcpyDtoH", "MemcpyHtoD", "MemcpyDtoD"):
            self._copy(arguments, frame)
        elif name in ("Memset", "MemsetAsync", "MemsetD32", "MemsetD8", "MemsetD32Async"):
            self._fill(name, arguments, frame)
        elif name in ("LaunchKernel", "LaunchCooperativeKernel", "LaunchKernelExC", "LaunchKernelEx"):
            self._by_array(arguments, frame)
        elif name in ("OccupancyMaxPotentialBlockSize", "GetDeviceProperties", "DeviceGetAttribute"):
            for argument in arguments:
                self._unknown_target(argument, frame)
        else:  # such as a wrapper of the file's own that is named like the interface
            for argument in arguments:
                self.value(argument, frame)
        return NOTHING

    def _unknown_target(self, node: Node, frame: Frame) -> None:
        target = self._target(node, frame)
        if target is not None and target.frame.kinds.get(target.name, Type("")).is_whole:
            target.frame.variables[target.name] = self._named(target.name, Type("int"), NOTHING)

    def _target(self, node: Node, frame: Frame) -> Address | None:
        """Find the variable whose address an argument is."""
        while isinstance(node, Cast):
            node = node.operand
        if isinstance(node, Unary) and node.sign == "&" and isinstance(node.operand, Name):
            holder, name = frame.holder(node.operand.text)
            return Address(name, holder)
        address = self.value(node, frame)
        return address if isinstance(address, Address) else None

    def _allocate(self, name: str, arguments: tuple[Node, ...], callee: Name, frame: Frame) -> None:
        target = self._target(arguments[0], frame) if arguments else None
        if target is None or len(arguments) < 2:
            raise HostUnclear(f"{callee.text} gives memory to something that is no plain variable")
        kind = target.frame.kinds.get(target.name, Type("char", 1))
        count = self.value(arguments[1], frame)
        element = Type(kind.base)
        if not element.dtype:
            raise HostUnclear(
                f"the buffer {target.name} holds {kind.base or 'something'}, which is no type of a tensor"
            )
        length = divided(count, number(element.bytes // element.lanes)) if isinstance(count, Amount) else None
        buffer = self.memory.buffer(target.name, kind, length, 0)
        buffer.is_shared = name == "MallocManaged"
        target.frame.variables[target.name] = Pointer(buffer, None, Type(kind.base, 1))

    def _copy(self, arguments: tuple[Node, ...], frame: Frame) -> None:
        if len(arguments) < 3:
            return
        to, from_ = self.value(arguments[0], frame), self.value(arguments[1], frame)
        if isinstance(to, Pointer) and isinstance(from_, Pointer) and to.buffer and from_.buffer:
            if to.offset or from_.offset:
                raise HostUnclear(
                    f"it copies parts of {from_.buffer.name} into {to.buffer.name}, which no plan can say"
                )
            self.memory.add(HostStep("copy", 0, buffers=(to.buffer, from_.buffer)))
            to.buffer.is_written = True
        elif isinstance(to, Pointer) and to.buffer:
            if to.buffer.is_written and any(to.buffer in s.buffers or _passes(s, to) for s in self.memory.steps):
                to.buffer.is_written = to.buffer.is_written
            to.buffer.is_given = True
            to.buffer.host = to.buffer.host or (from_.name if isinstance(from_, HostArray) else "")
        elif isinstance(from_, Pointer) and from_.buffer:
            from_.buffer.is_taken = True
            self._forget_target(arguments[0], frame)

    def _forget_target(self, node: Node, frame: Frame) -> None:
        target = self._target(node, frame) if isinstance(node, (Unary, Cast)) else None
        if target is not None and isinstance(target.frame.variables.get(target.name), (Amount, Nothing)):
            target.frame.variables[target.name] = NOTHING

    def _fill(self, name: str, arguments: tuple[Node, ...], frame: Frame) -> None:
        target, value = self.value(arguments[0], frame), self.value(arguments[1], frame)
        if not isinstance(target, Pointer) or target.buffer is None:
            return
        pattern = value.constant if isinstance(value, Amount) else None
        is_integer = target.buffer.dtype[:1] in ("i", "u")
        if (
            pattern == 0
            or (is_integer and pattern in (-1, 255))
            or (is_integer and pattern is not None and "D32" in name)
        ):
            filled = 0 if pattern == 0 else -1 if pattern in (-1, 255) and "D32" not in name else pattern
            assert filled is not None
            self.memory.add(HostStep("fill", 0, buffers=(target.buffer,), number=filled))
            target.buffer.is_written = True
            return
        raise HostUnclear(f"it fills {target.buffer.name} with bytes that make no plain number")

    def _by_array(self, arguments: tuple[Node, ...], frame: Frame) -> None:
        """`hipLaunchKernel(kernel, grid, block, void** args, shared, stream)`."""
        kernel = self._kernel_name(arguments[0], frame)
        inner = arguments[3]
        while isinstance(inner, Cast):
            inner = inner.operand
        items = self.value(inner, frame)
        if isinstance(inner, Braces):
            nodes = inner.items
        elif isinstance(items, HostArray) and items.items and all(isinstance(i, Address) for i in items.items):
            argument_frame = Frame()
            for index, item in enumerate(items.items):
                assert isinstance(item, Address)
                argument_frame.variables[f"a{index}"] = item.frame.variables.get(item.name, NOTHING)
            self._launched(
                kernel, (*arguments[1:3], *arguments[4:]), tuple(argument_frame.variables.values()), 0, frame
            )
            return
        else:
            raise HostUnclear(f"the arguments of {kernel.text} are given in a way that is not read")
        plain = tuple(n.operand if isinstance(n, Unary) and n.sign == "&" else n for n in nodes)
        self.launch(LaunchNode(kernel, (*arguments[1:3], *arguments[4:]), plain, 0), frame)

    def _kernel_name(self, node: Node, frame: Frame) -> Name:
        while isinstance(node, (Cast, Call, Unary)):
            node = node.operand if not isinstance(node, Call) else node.arguments[0]
        if isinstance(node, Element) or not isinstance(node, Name):
            raise HostUnclear("which kernel it launches is not known")
        value = self.variable(node, frame)
        return Name(value.text, value.arguments) if isinstance(value, Title) and value.text != node.text else node

    def launch(self, node: LaunchNode, frame: Frame) -> None:
        """Record a launch, with the kernel's own types for its arguments."""
        kernel = self._kernel_name(node.kernel, frame)
        values = tuple(self.value(argument, frame) for argument in node.arguments)
        self._launched(kernel, node.sizes, values, node.line, frame)

    def _launched(
        self, kernel: Name, sizes: tuple[Node, ...], values: tuple[Value, ...], line: int, frame: Frame
    ) -> None:
        function = self.file.kernels.get(kernel.text.split("::")[-1])
        if function is None:
            raise HostUnclear(f"it launches {kernel.text}, which is no kernel of the file")
        grid, block = (self._extents(size, frame) for size in sizes[:2])
        for role, extents in (("grid", grid), ("block", block)):
            if extents is None:
                raise HostUnclear(f"the {role} of {kernel.text} depends on values that only a run of it would give")
        assert grid is not None and block is not None
        lds = self.value(sizes[2], frame) if len(sizes) > 2 else number(0)
        if not isinstance(lds, Amount):
            raise HostUnclear(f"the dynamic shared memory of {kernel.text} is not known")
        title, types = instance_of(self, function, kernel, values, frame)
        arguments, structs = arguments_of(self, function, types, values)
        self.memory.add(HostStep("launch", line, title, grid, block, lds, arguments, structs=structs))

    def _extents(self, node: Node, frame: Frame) -> tuple[Amount, ...] | None:
        value = self.value(node, frame)
        if isinstance(value, Amount):
            return (value,)
        if not isinstance(value, Extents):
            return None
        extents = [value.x, value.y, value.z]
        while len(extents) > 1 and extents[-1].constant == 1:
            extents.pop()
        return tuple(extents)


def _passes(step: HostStep, pointer: Pointer) -> bool:
    return any(isinstance(v, Pointer) and v.buffer is pointer.buffer for v, _ in step.arguments)
