"""Rules on the meaning of a candidate, read off a compiler's syntax tree, where every spelling of a thing is one node.

Permitted by name is what honest kernels need: attributes, and clang's builtins whose answer does not depend on the
compiler. Everything else is refused, whatever macro, pragma or bracket wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from records.evaluation import Finding
from sandbox.amdgcn.syntax_tree import Node, SyntaxTree, subtree
from sandbox.candidate.diagnostics import refusal
from sandbox.lab.build.buffer_intrinsics import LABEL

_ATTRIBUTES = frozenset(
    {
        "AMDGPUFlatWorkGroupSize",
        "AMDGPUMaxNumWorkGroups",
        "AMDGPUNumSGPR",
        "AMDGPUNumVGPR",
        "AMDGPUWavesPerEU",
        "Aligned",
        "AllocSize",
        "AlwaysInline",
        "AssumeAligned",
        "Builtin",
        "CUDAConstant",
        "CUDADevice",
        "CUDAGlobal",
        "CUDAHost",
        "CUDALaunchBounds",
        "CUDAShared",
        "CXX11NoReturn",
        "CXXAssume",
        "Cold",
        "Const",
        "Convergent",
        "Deprecated",
        "FallThrough",
        "Final",
        "Flatten",
        "Format",
        "HIPFlatWorkGroupSize",
        "Hot",
        "Likely",
        "LoopHint",
        "MaxFieldAlignment",
        "MayAlias",
        "NoAlias",
        "NoDuplicate",
        "NoEscape",
        "NoInline",
        "NoMerge",
        "NoThrow",
        "NoUniqueAddress",
        "NonNull",
        "OpenCLUnrollHint",
        "OptimizeNone",
        "Override",
        "Packed",
        "Pure",
        "Restrict",
        "ReturnsNonNull",
        "StrictFP",
        "TrivialABI",
        "TypeNonNull",
        "TypeVisibility",
        "Unlikely",
        "Unused",
        "Used",
        "Visibility",
        "WarnUnused",
        "WarnUnusedResult",
    }
)
_BUILTIN = re.compile(r" '<builtin fn type>' Function 0x[0-9a-f]+ '(\w+)'")
_PERMITTED = re.compile(  # arithmetic, bits, memory and hints: the same answer from every compiler
    r"""__builtin_(?:amdgcn_\w+|assume(?:_aligned)?|unreachable|trap|expect(?:_with_probability)?|prefetch|bit_cast|addressof|launder
    |nontemporal_(?:load|store)|elementwise_\w+|reduce_\w+|mem(?:cpy|move|set|cmp)(?:_inline)?|bitreverse\w+|bswap\w+
    |rotate(?:left|right)\w+|(?:clz|ctz|ffs|popcount|parity|clrsb)(?:l|ll|g|s)?|(?:add|sub|mul)c(?:b|s|l|ll)?
    |[us]?(?:add|sub|mul)l{0,2}_overflow|shufflevector|convertvector|vectorelements|fpclassify|flt_rounds|isfpclass
    |is(?:nan|inf|inf_sign|finite|normal|subnormal|zero|signaling|greater|greaterequal|less|lessequal|lessgreater|unordered)
    |signbit[fl]?|(?:huge_val|inf|nans?)(?:f|f16|l)?|l?l?abs|alloca\w*|invoke|forward|move(?:_if_noexcept)?|as_const
    |(?:a?(?:cos|sin|tan)h?|atan2|cbrt|ceil|copysign|erfc?|exp2?|exp10|expm1|fabs|fdim|floor|fma|fmax|fmin|fmaximum\w*|fminimum\w*
    |fmod|frexp|hypot|ilogb|ldexp|lgamma|l?l?rint|l?l?round|roundeven|log|log10|log1p|log2|logb|modf|nearbyint|nextafter|nexttoward
    |pow|powi|remainder|remquo|rint|scalbl?n|sincos|sinpi|cospi|sqrt|tgamma|trunc|canonicalize)(?:f|f16|l)?)
    |__(?:atomic|hip_atomic|scoped_atomic|c11_atomic|sync|opencl_atomic)_\w+|(?!__)[a-z]\w*""",
    re.X,
)
_IMPLICIT = re.compile(r"(?:Inherited|Implicit)(?: |$)")  # inherited: the first declaration is ours, or was judged
_FUNCTIONS = frozenset(
    {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl", "CXXConversionDecl"}
)
_ON_DEVICE = frozenset({"CUDADeviceAttr", "CUDAGlobalAttr"})
_BODIES = frozenset({"CompoundStmt", "CXXTryStmt"})
_UNEVALUATED = frozenset({"ConceptDecl", "RequiresExpr", "CXXNoexceptExpr", "UnaryExprOrTypeTraitExpr"})
_ASKING = {
    "SourceLocExpr": "the place in the source",
    "FileScopeAsmDecl": "assembly outside of functions",
    "PragmaDetectMismatchDecl": "a linker's option",
    "CXXTypeidExpr": "typeid",
    "SYCLUniqueStableNameExpr": "a mangled name",
    "VAArgExpr": "a variable argument list",
}
_MEASURING = frozenset({"FieldDecl", "UnaryExprOrTypeTraitExpr", "TypeTraitExpr", "CXXNewExpr"})
_SPACE = re.compile(
    r"\b__attribute__\(\(address_space\((?!1\)|4\))\d+\)\)"
)  # pointers to these have 32 bits on the GPU
_STRIDE = re.compile(  # arrays of such pointers, and pointers to them
    r"address_space\((?!1\)|4\))\d+\)[^*,<>]*\*(?: ?(?:const|volatile|__restrict))* ?[*\[]"
)
_COMPILERS = re.compile(r"^[^']*?(?<!\w)(__(?:builtin|hip_atomic|scoped_atomic|c11_atomic|atomic|sync)_\w+)(?!\w)")
_ALIAS = re.compile(r"^(?:\w+ )*?(\w+) '(.*)'$")
_QUOTED = re.compile(r"'([^']*)'")
_LABEL = re.compile(r'"([^"]*)"')


def tree_refusals(tree: SyntaxTree) -> tuple[Finding, ...]:
    """Attributes and builtins that are not permitted, host functions, and questions for sizes that only the GPU has."""
    nodes = tree.nodes
    found = [*_attributes(nodes), *_host_functions(nodes), *_questions(nodes), *_narrow_pointers(nodes)]
    found += _compilers_names(nodes)
    return tuple(sorted(dict.fromkeys(found), key=lambda finding: finding.line or 0))[:20]


def attribute_refusals(tree: SyntaxTree) -> tuple[Finding, ...]:
    """Attributes that only this compiler knows."""
    return tuple(dict.fromkeys(_attributes(tree.nodes)))[:20]


def _attributes(nodes: tuple[Node, ...]) -> Iterator[Finding]:
    for node in nodes:
        name = node.kind.removesuffix("Attr")
        if name == node.kind or name in _ATTRIBUTES or _IMPLICIT.match(node.text):
            continue
        if name == "AsmLabel" and (label := _LABEL.match(node.text)) and LABEL.fullmatch(label[1]):
            continue
        spelled = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        switch = ": every memory access is checked" if "anitize" in name or "instrument" in name.lower() else ""
        yield refusal(f"the attribute {spelled} may not be used in a candidate{switch}", node.line)


def _host_functions(nodes: tuple[Node, ...]) -> Iterator[Finding]:
    for index, node in enumerate(nodes):
        if node.kind not in _FUNCTIONS or re.search(r"(?:^| )implicit |(?: default\w*| delete\w*)$", node.text):
            continue
        parts = [n.kind for n in nodes[index + 1 : subtree(nodes, index)] if n.depth == node.depth + 1]
        if _BODIES.intersection(parts) and not _ON_DEVICE.intersection(parts):
            message = "a function without __device__ is host code, which a candidate may not have; mark or remove it"
            yield refusal(message, node.line)


def _compilers_names(nodes: tuple[Node, ...]) -> Iterator[Finding]:
    """Declarations under the name of a builtin: the lab's stand-in is a function, and would be one of its overloads."""
    for node in nodes:
        if node.kind.endswith("Decl") and (found := _COMPILERS.match(node.text)):
            yield refusal(f"the name {found[1]} belongs to the compiler; choose another", node.line)


def _questions(nodes: tuple[Node, ...]) -> Iterator[Finding]:
    asked = 0  # the end of the expression that asks without evaluating
    for index, node in enumerate(nodes):
        if node.kind in _UNEVALUATED:
            asked = max(asked, subtree(nodes, index))
        match = _BUILTIN.search(" " + node.text) if "<builtin fn type>" in node.text else None
        what = None
        if match and (index < asked or not _PERMITTED.fullmatch(match[1])):
            what = match[1]
        elif node.kind in _ASKING:
            what = _ASKING[node.kind]
        elif node.kind == "IfStmt" and re.search(r"\bconsteval\b", node.text):
            what = "if consteval"
        if what:
            message = f"{what} may not be used: its answer depends on the compiler, and the same code must run in the "
            yield refusal(f"{message}lab and on the GPU", node.line, "B.1")


def _narrow_pointers(nodes: tuple[Node, ...]) -> Iterator[Finding]:
    """Places where the size of a pointer matters that has 32 bits on the GPU and 64 in the lab."""
    names = set[str]()
    template, pattern = (0, 0), 0  # the depth and the end of a class template, the end of its own text
    if not any("address_space(" in node.text for node in nodes):
        return
    for index, node in enumerate(nodes):
        if node.kind == "ClassTemplateDecl":
            template = node.depth, subtree(nodes, index)
        elif node.kind == "ClassTemplatePartialSpecializationDecl" or (
            node.kind == "CXXRecordDecl" and node.depth == template[0] + 1 and index < template[1]
        ):  # without a size of its own: what is made of it has one, and stands behind
            pattern = max(pattern, subtree(nodes, index))
        types = _QUOTED.findall(node.text)
        narrow = any(_SPACE.search(t) or names.intersection(re.findall(r"\w+", t)) for t in types)
        if not narrow and node.kind == "UnaryExprOrTypeTraitExpr":
            inside = nodes[index + 1 : subtree(nodes, index)]
            narrow = any(_SPACE.search(n.text) or names.intersection(re.findall(r"\w+", n.text)) for n in inside)
        if not narrow:
            continue
        if node.kind in ("TypedefDecl", "TypeAliasDecl") and (alias := _ALIAS.match(node.text.partition(":'")[0])):
            names.add(alias[1])
        elif node.kind == "FieldDecl" and index < pattern:
            continue
        elif node.kind in _MEASURING or any(_STRIDE.search(t) for t in types):
            message = (
                "the size of a pointer to LDS or to private memory differs between the lab and the GPU; use a plain "
                "pointer here, and cast where a builtin wants the address space"
            )
            yield refusal(message, node.line, "B.1")
