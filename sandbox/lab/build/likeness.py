"""The likeness of a candidate's two syntax trees: the GPU compiler's and that of the lab's own compilation.

Both read the same tokens. If each name, call, branch, type, size and constant also means the same to both, no property
that only one of them has can choose other code: an overload, a concept, a trait, the size of a type, a constant that
one of them can fold. What differs by design is left out: attributes (`tree_rules.py` has the permitted ones), address
spaces, storage classes, and what the lab's headers stand in for. Most of that are functions under the names of the
builtins, whose calls are compared as any other; where the lab has a macro or another type, the words of the arguments
are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from records.evaluation import Finding
from sandbox.amdgcn.syntax_tree import Node, SyntaxTree, subtree
from sandbox.candidate.diagnostics import refusal
from sandbox.lab.build.assembly import STATEMENT

Row = tuple[int, str, str, int]  # depth, kind, meaning, line
_SPACE = re.compile(r"__attribute__\(\((?:address_space\(\d+\)|__?(?:shared|device|constant)_?_?)\)\) ?")
_STORAGE = re.compile(
    r" (?:inline|static|tls_dynamic|tls_static|tls|imported|referenced|used|constinit|implicit-inline"
    r"|non_odr_use_constant|undeserialized_decl\w*)(?= |$)"
)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_BUILTIN = re.compile(  # a call of one, where the arguments are known and where they depend on a template
    r" Function 0x[0-9a-f]+ '(__builtin_amdgcn_\w+|__builtin_trap|__hip_atomic_\w+|__(?:\w+_)?atomic_thread_fence"
    r"|__sync_\w+)'"
    r"|^ '<overloaded function type>' lvalue \(ADL\) = '(__builtin_amdgcn_\w+)'"
)
_OTHERWISE = re.compile(  # macros in the lab, functions of types it cannot pass on, builtins that convert no argument
    r"__builtin_(?:trap|amdgcn_(?:fence|endpgm|s_mem(?:real)?time|rcph|rsqh|sqrth|fmed3h|(?:mov|update)_dpp"
    r"|global_load_lds|raw_ptr_buffer_load_lds|\w+_atomic_fadd_\w+))|__hip_atomic_\w+|__(?:\w+_)?atomic_thread_fence|__sync_\w+"
)
_ATOMIC = re.compile(r"__(?:(?:hip|scoped|c11)_)?atomic_|__sync_")
_GNU_VECTOR = re.compile(r"__attribute__\(\(__vector_size__\((\d+) \* sizeof\(([^()']+)\)\)\)\) \2")
_SUGAR = re.compile(r"'[^']*':'([^']*)'")  # a type as it is written, and the type that it is
_STAND_IN = re.compile(r"'([^']*\bks_[^']*)':'([^']*)'")  # a stand-in's result, and the type that it is
_IDLE = re.compile(r" <(?:AddressSpaceConversion|NoOp|BitCast)>(?: part_of_explicit_cast)?$")  # casts of pointers
_POINTER = re.compile(  # clang has two orders for this
    r"((?:[*&]+|const|volatile)(?: (?:[*&]+|const|volatile))*) (__attribute__\(\(ext_vector_type\(\d+\)\)\))"
)
_CALLEE = re.compile(r"<(?:BuiltinFnToFnPtr|FunctionToPointerDecay)>$")
_COLUMN = re.compile(r"(?<= at candidate\.hip:)(\d+):\d+")  # of a lambda; macros before it have other lengths
_FILLER = re.compile(r"(?<=CXXConstructExpr )(\S+ )<(?:col|line):[\d:]+(?:, (?:col|line):[\d:]+)?>")  # macros, again
_LITERAL = re.compile(r" ?defaulted_is_constexpr\b")  # the GPU's opaque types are no literal types
_LAB = "/include/ks_lab"
_LITERALS = ("Literal", "LiteralExpr")
_WHOLE = frozenset({"CallExpr", "ParenExpr", "CStyleCastExpr", "CXXFunctionalCastExpr", "StmtExpr", "DeclRefExpr"})
_SILENT = frozenset(  # in the arguments of a builtin: what only converts them for a stand-in
    {
        "CStyleCastExpr",
        "CXXFunctionalCastExpr",
        "CallExpr",
        "ConstantExpr",
        "ExprWithCleanups",
        "ImplicitCastExpr",
        "MaterializeTemporaryExpr",
        "ParenExpr",
    }
)


def differences(gpu: SyntaxTree, lab: SyntaxTree) -> tuple[Finding, ...]:
    """The first place that the two compilers read differently; empty where there is none."""
    layouts, known = dict(gpu.layouts), dict[str, str]()
    for name, layout in sorted(lab.layouts):
        if layouts.get(name, layout) != layout:
            return (refusal(_sentence(f"the layout of {name}"), _line_of(gpu, name), "B.1"),)
    for ours, theirs in _pairs(_rows(gpu, known), _rows(lab, known)):
        if ours is None or theirs is None or ours[:3] != theirs[:3]:
            return (
                refusal(_sentence(f"this ({_named(ours or theirs)})"), (ours or theirs or (0, "", "", 0))[3], "B.1"),
            )
    return ()


def _pairs(gpu: Iterator[Row], lab: Iterator[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """The rows of both trees side by side, without the values of constants that the bounds of a launch alone use.

    The lab has no bounds of launches, so a template's constant that only they name keeps no value in its tree.
    """
    ours, theirs = next(gpu, None), next(lab, None)
    while ours is not None or theirs is not None:
        if ours is not None and theirs is not None and _is_for_bounds(ours, theirs):
            depth, theirs = ours[0], next(lab, None)
            ours = next((row for row in gpu if row[0] <= depth), None)
            continue
        yield ours, theirs
        ours, theirs = next(gpu, None), next(lab, None)


def _is_for_bounds(ours: Row, theirs: Row) -> bool:
    if ours[:2] != theirs[:2] or ours[1] != "VarDecl" or " implicit_instantiation constexpr cinit" not in ours[2]:
        return False
    return ours[2].replace(" cinit", "", 1) == theirs[2]


def _sentence(what: str) -> str:
    return (
        f"{what} depends on the compiler: the same code must run in the lab and on the GPU; write it without asking "
        "for sizes, overloads or properties that only one of them has"
    )


def _named(row: Row | None) -> str:
    return " ".join(row[1:3])[:120].strip() if row else ""


def _line_of(tree: SyntaxTree, name: str) -> int | None:
    word = re.escape(name.split()[-1].split("::")[-1])
    return next(
        (n.line for n in tree.nodes if n.kind.endswith("RecordDecl") and re.search(rf"\b{word}\b", n.text)), None
    )


def _rows(tree: SyntaxTree, known: dict[str, str]) -> Iterator[Row]:
    """The tree's nodes in a form in which equal meaning is equal text. `known`: such forms, of either tree."""
    nodes, index = tree.nodes, 0
    names, types = _numbers(nodes), _stand_ins(nodes)
    passed = list[int]()  # depths of the casts around this node that change nothing in the lab
    while index < len(nodes):
        node = nodes[index]
        while passed and passed[-1] >= node.depth:
            passed.pop()
        depth = node.depth - len(passed)
        if _is_left_out(node):
            index = subtree(nodes, index)
        elif _is_assembly(nodes, index):
            yield depth, "asm", "", node.line
            index = subtree(nodes, index)
        elif _stands_for_macro(nodes, index, names):
            end = subtree(nodes, index)
            own = (n for n in nodes[index:end] if not n.file.startswith(_LAB) and not n.kind.endswith(_LITERALS))
            words = {_meaning(n, names, types, known) for n in own if n.kind not in _SILENT}
            words = {word for word in words if "__builtin_" not in word and not _ATOMIC.search(word)}
            yield depth, "builtin", "; ".join(sorted(words)), node.line
            index = end
        elif builtin := _builtin(nodes, index, names):
            yield depth, "builtin", builtin, node.line
            index = subtree(nodes, index + 1)
        elif node.kind == "ImplicitCastExpr" and _IDLE.search(node.text):
            passed.append(node.depth)
            index += 1
        else:
            place = _memory(nodes, index) if node.kind == "VarDecl" else ""
            meaning = _meaning(node, names, types, known)
            yield depth, node.kind, (_IDLE.sub("", meaning) if "<" in meaning else meaning) + place, node.line
            index += 1


def _numbers(nodes: tuple[Node, ...]) -> dict[str, str]:
    """The number of each declaration, which another compilation gives it, too."""
    declared, index = dict[str, str](), 0
    has_assembly = any(n.kind == "StringLiteral" and n.text.endswith(f'"{STATEMENT}"') for n in nodes)
    while index < len(nodes):
        is_statement = nodes[index].kind == "GCCAsmStmt" or (has_assembly and nodes[index].kind == "ParenExpr")
        if is_statement and _is_assembly(nodes, index):
            index = subtree(nodes, index)  # the lab's own variables, and what a template's parameters stand for
            continue
        node = nodes[index]
        if _is_left_out(node):
            index = subtree(nodes, index)
            continue
        if node.address and node.kind.endswith("Decl"):
            declared.setdefault(node.address, f"#{len(declared)}")  # a template's parameter stands in each value again
        index += 1
    return declared


def _is_left_out(node: Node) -> bool:
    if node.text.startswith("implicit ") and node.kind.endswith("Decl"):  # a member that no text declares
        return True
    return _is_no_meaning(node.kind)


@lru_cache(maxsize=512)
def _is_no_meaning(kind: str) -> bool:
    return kind.endswith(("Attr", "Type")) or kind == "PragmaCommentDecl"


def _stand_ins(nodes: tuple[Node, ...]) -> dict[str, str]:
    """Types of the lab's headers that stand for others; long names first, as one may hold another."""
    found = {m[1]: m[2] for node in nodes if "ks_" in node.text for m in _STAND_IN.finditer(node.text)}
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _meaning(node: Node, names: Mapping[str, str], types: Mapping[str, str], known: dict[str, str]) -> str:
    text = node.text if node.kind != "DefaultConstructor" else _LITERAL.sub("", node.text)
    if "0x" in text:
        text = _ADDRESS.sub(lambda found: names.get(found[0], "#"), text)
    if "ks_" in text:
        plain = _SUGAR.sub(r"'\1'", text)
        for name, meant in types.items():
            plain = plain.replace(name, meant)
        return _spelled(plain)  # another in the other tree
    if (meaning := known.get(text)) is None:
        meaning = known[text] = _spelled(_SUGAR.sub(r"'\1'", text))
    return meaning


def _spelled(text: str) -> str:
    if "__attribute__" in text:
        text = _GNU_VECTOR.sub(r"\2 __attribute__((ext_vector_type(\1)))", _SPACE.sub("", text))
        text = _POINTER.sub(r"\2 \1", text)
    text = _FILLER.sub(r"\1", text) if "<" in text else text
    return _COLUMN.sub(r"\1", _STORAGE.sub("", f" {text}")).strip()


def _memory(nodes: tuple[Node, ...], index: int) -> str:
    """LDS or not, of a variable."""
    node, end = nodes[index], subtree(nodes, index)
    is_shared = any(n.kind == "CUDASharedAttr" and n.depth == node.depth + 1 for n in nodes[index:end])
    return " in LDS" if is_shared or re.search(r"' (?:\w+ )*tls", node.text) else ""


def _is_assembly(nodes: tuple[Node, ...], index: int) -> bool:
    """True for an asm statement, and for what `assembly.translate` writes in its place."""
    if nodes[index].kind != "ParenExpr":
        return nodes[index].kind == "GCCAsmStmt"
    text = f'"{STATEMENT}"'
    return any(n.kind == "StringLiteral" and n.text.endswith(text) for n in nodes[index : subtree(nodes, index)])


def _stands_for_macro(nodes: tuple[Node, ...], index: int, names: Mapping[str, str]) -> bool:
    """True for a call, with the casts around it, for which the lab has a macro, and for what that macro writes."""
    while nodes[index].kind == "ImplicitCastExpr":  # clang places one at its operand, or at the macro's own text
        index += 1  # a cast has an operand
    if nodes[index].file.startswith(_LAB):
        return nodes[index].kind in _WHOLE
    if nodes[index].kind == "AtomicExpr":
        return _ATOMIC.search(nodes[index].text) is not None
    return nodes[index].kind == "CallExpr" and _OTHERWISE.fullmatch(_builtin(nodes, index, names)) is not None


def _builtin(nodes: tuple[Node, ...], index: int, names: Mapping[str, str]) -> str:
    """The builtin that is called here, or the lab's function for it; empty where none is.

    A function that the candidate itself declares is none, whatever it is called.
    """
    if nodes[index].kind != "CallExpr" or index + 2 >= len(nodes):
        return ""
    is_cast = _CALLEE.search(nodes[index + 1].text) is not None  # none around a call whose arguments depend
    callee = " " + nodes[index + 1 + is_cast].text
    found = _BUILTIN.search(callee)
    return (found[1] or found[2]) if found and names.keys().isdisjoint(_ADDRESS.findall(callee)) else ""
