"""A kernel for the gradients of another kernel's inputs, and the registration of both with PyTorch's autograd."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exports.torch_operator import TorchOperator, python_extent
from records.errors import UsageError
from tasks.task import TensorSpec

REAL = ("f64", "f32", "f16", "bf16")
CHECKED = {"f64": "eps=1e-6, atol=1e-5, rtol=1e-3", "f32": "eps=1e-2, atol=1e-4, rtol=1e-2"}  # steps and tolerances
_ONLY = ("grad_output", "grad_out", "grad", "dout", "dy")  # names for the gradient of a single output
_WITHOUT = '''
def _backward(context_, *gradients_):
    """Refuses: PyTorch would return no gradients otherwise, and say nothing."""
    raise NotImplementedError("{name} has no backward kernel: call it under torch.no_grad()")


torch.library.register_autograd("{space}::{name}", _backward)
'''
_WITH = '''
def _setup(ctx, inputs, output):
    """Keeps what the backward kernel reads."""
    context_, inputs_, output_ = ctx, inputs, output
    {taken} = inputs_
    {returned} = output_
    context_.save_for_backward({saved})
{kept}

def _refuse_(needed):
    for is_needed, is_given, name in zip(needed, {given}, {names}):
        if is_needed and not is_given:
            raise NotImplementedError(f"the backward kernel gives no gradient of {{name}}")


def _backward(context_, {gradients}):
    """The gradients of the inputs, None for what has none."""
    _refuse_(context_.needs_input_grad)
    {reads}{made} = torch.ops.{space}.{backward}({arguments})
    return {results}


torch.library.register_autograd("{forward_space}::{name}", _backward, setup_context=_setup)
'''
_CHECK = '''

def check_gradients(*inputs: torch.Tensor) -> bool:
    """True where both kernels agree with differences of the first one's outputs, by torch.autograd.gradcheck.

    Give small inputs, and requires_grad on those whose gradients are meant.
    """
    return torch.autograd.gradcheck({name}, inputs, {steps}, nondet_tol=1e-4, fast_mode=True)
'''


def without_gradient(space: str, name: str) -> str:
    """Lines of Python by which a backward pass through the operator ends with a sentence."""
    return _WITHOUT.format(space=space, name=name)


@dataclass(frozen=True)
class Gradient:
    """Two operators: one, and the gradients of its inputs.

    The second one takes inputs and outputs of the first under their names, and for the output `y` its gradient as `dy`,
    `grad_y` or `y_grad`, or `grad_output` where there is one output. It returns `dx`, `grad_x` or `x_grad` for the
    input `x`, or else one output for each real input, in their order, as a traced function does.
    """

    forward: TorchOperator
    backward: TorchOperator

    def __post_init__(self) -> None:
        """UsageError where the two do not belong together."""
        forward, backward = self.forward, self.backward
        if forward.target != backward.target:
            raise UsageError(f"one kernel is for the {forward.target.title}, the other for the {backward.target.title}")
        if forward.name == backward.name:
            raise UsageError(f"both kernels are of a task with the name {forward.name}: rename one in its task.toml")
        self._arguments()
        self._results()
        differing = [s.name for s in forward.launcher.task.scalars if self._is_other(s.name)]
        if differing:
            raise UsageError(f"the scalar {differing[0]} has another value in each of the two tasks")

    def text(self, space: str, forward_space: str) -> str:
        """Lines of Python behind both operators' definitions."""
        forward, arguments = self.forward, self.forward.names()
        outputs = [t.name for t in forward.signature.outputs]
        results = self._results()
        read = self._read()
        gradients = [t.name for t in self.backward.signature.outputs]
        return _WITH.format(
            taken=_unpacked(arguments),
            returned=outputs[0] if len(outputs) == 1 else ", ".join(outputs),
            saved=", ".join(read),
            reads=f"{_unpacked(read)} = context_.saved_tensors\n    " if read else "",
            kept="".join(f"    context_.{name} = {value}\n" for name, value in self._numbers()),
            gradients=", ".join(f"{name}_" for name in outputs),
            given=_tuple("True" if name in results or not self._is_real(name) else "False" for name in arguments),
            names=_tuple(f'"{name}"' for name in arguments),
            made=gradients[0] if len(gradients) == 1 else ", ".join(gradients),
            space=space,
            forward_space=forward_space,
            name=forward.name,
            backward=self.backward.name,
            arguments=", ".join(self._arguments()),
            results=", ".join(results.get(name, "None") for name in arguments),
        )

    def check(self) -> str:
        """Lines of Python with a check of the gradients; none where the outputs' type is too coarse for differences."""
        steps = CHECKED.get(self.forward.signature.outputs[0].dtype)
        return "" if steps is None else _CHECK.format(name=self.forward.name, steps=steps)

    def _is_real(self, name: str) -> bool:
        return any(t.name == name and t.dtype in REAL for t in self.forward.signature.all_inputs)

    def _is_other(self, name: str) -> bool:
        mine, theirs = (
            {s.name: s.value for s in operator.launcher.task.scalars} for operator in (self.forward, self.backward)
        )
        return name in theirs and theirs[name] != mine[name]

    def _read(self) -> list[str]:
        """Tensors of the first operator that the second one reads."""
        tensors = {t.name for t in (*self.forward.signature.all_inputs, *self.forward.signature.outputs)}
        return [t.name for t in self.backward.signature.all_inputs if t.name in tensors]

    def _numbers(self) -> Iterator[tuple[str, str]]:
        """Dims and scalars that the second operator is handed, and what they are in the first one's call."""
        forward = self.forward
        dims = {**forward.signature.input_dims, **forward.signature.initial_dims}
        tensors = {t.name for t in self.backward.signature.all_inputs}
        for name in (argument for argument in self.backward.names() if argument not in tensors):
            if name in forward.names():
                yield name, name
            elif name in dims:
                yield name, python_extent(dims[name])
            else:
                raise UsageError(f"{self.backward.name} asks for {name}, which {forward.name} does not know")

    def _arguments(self) -> list[str]:
        """List the second operator's arguments, in its order."""
        numbers = {name: f"context_.{name}" for name, _ in self._numbers()}
        tensors = {t.name: self._tensor(t) for t in self.backward.signature.all_inputs}
        return [{**tensors, **numbers}[name] for name in self.backward.names()]

    def _tensor(self, needed: TensorSpec) -> str:
        forward = self.forward.signature
        for tensor in (*forward.all_inputs, *forward.outputs):
            if tensor.name == needed.name:
                self._compare(tensor, needed)
                return needed.name
        for output in forward.outputs:
            if needed.name in (*_gradients_of(output.name), *(_ONLY if len(forward.outputs) == 1 else ())):
                self._compare(output, needed)
                turned = needed.layout == "column_major"
                return f"{output.name}_.t().contiguous().t()" if turned else f"{output.name}_.contiguous()"
        outputs = " or ".join(f"d{t.name}" for t in forward.outputs)
        raise UsageError(
            f"{self.backward.name} reads {needed.name}, which is no tensor of {self.forward.name}: a gradient is named "
            f"{outputs}"
        )

    def _results(self) -> dict[str, str]:
        """For each input of the first operator the output of the second one that is its gradient."""
        outputs = {t.name: t for t in self.backward.signature.outputs}
        inputs = [t for t in self.forward.signature.all_inputs if t.dtype in REAL]
        by_name = {t: next((n for n in _gradients_of(t.name) if n in outputs), "") for t in inputs}
        gradients = {t: name for t, name in by_name.items() if name}
        if not gradients and len(inputs) == len(outputs):
            gradients = dict(zip(inputs, outputs, strict=True))
        if left := sorted(set(outputs) - set(gradients.values())):
            names = ", ".join(f"d{t.name}" for t in inputs)
            raise UsageError(f"{self.backward.name} returns {left[0]}, which is no gradient: they are named {names}")
        for tensor, name in gradients.items():
            self._compare(tensor, outputs[name])
        return {tensor.name: name for tensor, name in gradients.items()}

    def _compare(self, mine: TensorSpec, theirs: TensorSpec) -> None:
        if (mine.dtype, len(mine.shape), mine.optional) != (theirs.dtype, len(theirs.shape), theirs.optional):
            raise UsageError(
                f"{mine.name} of {self.forward.name} has the type {mine.dtype} and {len(mine.shape)} axes, "
                f"{theirs.name} of {self.backward.name} has {theirs.dtype} and {len(theirs.shape)}"
            )


def _gradients_of(name: str) -> tuple[str, ...]:
    return f"d{name}", f"d_{name}", f"grad_{name}", f"{name}_grad"


def _unpacked(names: list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _tuple(texts: Iterator[str]) -> str:
    items = list(texts)
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
