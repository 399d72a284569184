"""The caged program that compiles one kernel of a Python file by Triton.

It is started in a folder of its own with `candidate.py` and `request.json`, and leaves `reply.json` and a listing. It
runs what `triton_source` takes of that file, never the file.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

from sandbox.candidate.language import SOURCE_NAMES
from sandbox.guests.triton_source import PythonSourceError, SourceExcerpt, taken_from

SOURCE = SOURCE_NAMES["triton"]
REQUEST, REPLY, LISTING = "request.json", "reply.json", "candidate.s"
TAKEN = "taken"  # a folder that is there, for the text that is run under the same name
NO_VALUE, ONE = "none", "one"  # types of arguments that become constants: None, and 1
_HINTS = {"D": ["tt.divisibility", 16], "S": ["tt.pointer_range", 32]}
_RAISED = (  # what reading a kernel can raise; anything else ends this program
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
_WRAPPED = re.compile(r"\A\w+Error\((['\"])(.*?)\1\)\Z", re.S)  # an error that Triton prints as Python would
_NULLS = 2  # pointers to scratch memory that the compiler adds behind the arguments


def main() -> int:
    """Compile as the request says; what is wrong with the source stands in the reply."""
    request = json.loads(Path(REQUEST).read_text(encoding="utf-8"))
    try:
        reply = _compiled(request, taken_from(Path(SOURCE).read_text(encoding="utf-8")))
    except PythonSourceError as error:
        reply = {"error": str(error), "line": error.line}
    Path(REPLY).write_text(json.dumps(reply), encoding="utf-8")
    return 0


def _compiled(request: dict[str, Any], excerpt: SourceExcerpt) -> dict[str, Any]:
    name = request["kernel"]
    if name not in excerpt.kernels:
        raise PythonSourceError(*_missing(name, excerpt))
    functions = _functions(excerpt)
    kernel = functions[name]
    types, constants, hints, positions = _signature(kernel, request)
    from triton.errors import TritonError

    try:
        listing, shared, scratch = _built(kernel, types, constants, hints, request)
    except (TritonError, *_RAISED) as error:
        raise PythonSourceError(*_explained(error, functions, excerpt)) from None
    if scratch:
        raise PythonSourceError(
            f"{name} needs {scratch} bytes of scratch memory from its launcher, which no plan gives"
        )
    Path(LISTING).write_text(listing, encoding="utf-8")
    return {
        "lds_bytes": shared,
        "kept": positions,
        "nulls": _NULLS,
        "notes": excerpt.notes,
        "line": excerpt.kernels[name],
    }


def _missing(name: str, excerpt: SourceExcerpt) -> tuple[str, int | None]:
    """Say why a file has no such kernel, and at which line."""
    if name in excerpt.omitted:
        line, why = excerpt.omitted[name]
        return f"the plan launches {name!r}, and {why}; a kernel is a function with @triton.jit at the top level", line
    kernels = ", ".join(sorted(excerpt.kernels)) or "none"
    return f"the plan launches {name!r}, but the file has no such function with @triton.jit; it has: {kernels}", None


def _functions(excerpt: SourceExcerpt) -> dict[str, Any]:
    """Import the kernels as Triton's functions, which read their own text from a file."""
    path = Path(TAKEN) / SOURCE
    path.write_text(excerpt.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("candidate", path.absolute())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    try:
        spec.loader.exec_module(module)
    except _RAISED as error:  # an import, a constant or a default of the file's
        raise PythonSourceError(
            f"{type(error).__name__}: {_first_line(str(error))}", _line_of_traceback(error)
        ) from None
    return {name: getattr(module, name) for name in excerpt.kernels}


def _signature(
    kernel: Any, request: dict[str, Any]
) -> tuple[dict[str, str], dict[tuple[int, ...], Any], dict[tuple[int, ...], Any], list[int]]:
    """Give types by parameter, constants and hints by its number, and the arguments that the code takes."""
    name, constant_values = request["kernel"], dict(request["constants"])
    names = [parameter.name for parameter in kernel.params]
    for constant in constant_values:
        if constant not in names:
            raise PythonSourceError(f"{name} has no parameter {constant!r} for a constant; it has {', '.join(names)}")
    parameters = [p for p in kernel.params if p.name not in constant_values and not p.is_constexpr]
    if len(parameters) != len(request["arguments"]):
        many = len(request["arguments"])
        raise PythonSourceError(
            f"the plan passes {many} argument{'' if many == 1 else 's'} to {name}, but it takes {len(parameters)} "
            f"beside its constants: {', '.join(p.name for p in parameters) or 'none'}"
        )
    arguments = {p.name: (i, a) for i, (p, a) in enumerate(zip(parameters, request["arguments"], strict=True))}
    types, positions = dict[str, str](), list[int]()
    constants, hints = dict[tuple[int, ...], Any](), dict[tuple[int, ...], Any]()
    for number, parameter in enumerate(kernel.params):
        types[parameter.name] = "constexpr"
        if parameter.name in arguments:
            index, (kind, marks) = arguments[parameter.name]
            if kind in (NO_VALUE, ONE):
                constants[(number,)] = None if kind == NO_VALUE else 1
                continue
            types[parameter.name] = _type(parameter, kind)
            positions.append(index)
            if marks:
                hints[(number,)] = [hint for mark, hint in _HINTS.items() if mark in marks]
        elif parameter.name in constant_values:
            constants[(number,)] = _value(constant_values[parameter.name])
        elif parameter.name in request["options"]:  # such as num_stages, which a launch of Triton's gives to both
            constants[(number,)] = request["options"][parameter.name]
        elif parameter.has_default and parameter.default is not ...:
            constants[(number,)] = parameter.default
        else:
            raise PythonSourceError(_without_value(name, parameter.name))
    return types, constants, hints, positions


def _without_value(kernel: str, parameter: str) -> str:
    how = f"add constants = {{{parameter} = ...}} to its launch"
    return f"{kernel} needs a value for its meta-parameter {parameter}: {how}"


def _type(parameter: Any, kind: str) -> str:
    """Choose an argument's type; a parameter's own annotation decides, as at Triton's launch."""
    if kind.startswith("*"):
        return f"*k{kind[1:]}" if parameter.is_const else kind
    return str(parameter.annotation_type or kind)


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        import triton.language as tl

        return getattr(tl, value["type"])
    return value


def _built(
    kernel: Any, types: dict[str, str], constants: dict[Any, Any], hints: dict[Any, Any], request: dict[str, Any]
) -> tuple[str, int, int]:
    """Run Triton's own stages, without its cache; return the listing, its LDS bytes and the scratch bytes it wants."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend

    source = ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=hints)
    target = GPUTarget("hip", request["arch"], 64)
    backend = make_backend(target)
    options = backend.parse_options({**request["options"], "enable_fp_fusion": True})
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    code = source.make_ir(
        target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )
    facts: dict[str, Any] = {"target": target, **options.__dict__}
    for name in ("ttir", "ttgir", "llir", "amdgcn"):
        code = stages[name](code, facts)
    scratch = facts.get("global_scratch_size", 0) + facts.get("profile_scratch_size", 0)
    return str(code), int(facts["shared"]), int(scratch)


def _explained(error: BaseException, functions: dict[str, Any], excerpt: SourceExcerpt) -> tuple[str, int | None]:
    """Explain what Triton's compiler raises by a sentence and a line of the file, from the innermost place in it."""
    message, line = "", None
    cause: BaseException | None = error
    while cause is not None:
        if line_in_file := _line_in_file(cause, functions):
            line = line_in_file
        text = str(getattr(cause, "error_message", None) or ("" if hasattr(cause, "node") else cause))
        message = _first_line(_WRAPPED.sub(r"\2", text)) or message
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    for name, (omitted_line, why) in excerpt.omitted.items():
        if f"{name} is not defined" in message or f"'{name}' is not defined" in message:
            message = f"{name} is not defined: line {omitted_line} is not read, as {why}"
    return f"Triton's compiler refuses the kernel: {message or type(error).__name__}", line


def _line_in_file(error: BaseException, functions: dict[str, Any]) -> int | None:
    """Find the file's line of a compilation error: its node's, counted from the function that it stands in."""
    line, text = getattr(getattr(error, "node", None), "lineno", None), getattr(error, "src", None)
    for function in functions.values():
        if text and function.src == text and line is not None:
            return int(function.def_file_line_number + line - 1)
    return None


def _line_of_traceback(error: BaseException) -> int | None:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(f"/{TAKEN}/{SOURCE}"):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return " ".join(lines[:3])[:400]


if __name__ == "__main__":
    sys.exit(main())
