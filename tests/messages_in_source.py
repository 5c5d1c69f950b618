# SPDX-License-Identifier: GPL-3.0-or-later
"""Every message to the user that the source can say, found in its syntax trees: texts with … where a value stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOLE = "…"
MOST = 64  #: texts of one expression

#: Calls that tell the user something, beside the classes that are `Told`: which argument is the text.
TELLS = {"Trouble": 1, "Warn": 0, "Failed": 1, "CommandError": 1}
#: Functions whose texts are told elsewhere, by file.
PRODUCERS = {
    "gpu_core/backend/__init__.py": {"select"},
    "gpu_core/backend/graphics_card.py": {"_problem", "diagnose"},
    "gpu_core/bake/beginning.py": {"_resumed"},
    "gpu_core/bake/certificate.py": {"troubles"},
    "gpu_core/bake/frame_report.py": {"warnings"},
    "gpu_core/bake/preroll.py": {"_after"},
    "gpu_core/bake/process.py": {"_crash"},
    "gpu_core/check/folding.py": {"folding"},
    "gpu_core/files/cache.py": {"inspect", "sound", "_sound_frames"},
    "gpu_core/layers.py": {"in_layers"},
    "gpu_core/scene/air.py": {"faults"},
    "gpu_core/scene_space.py": {"_warn_of_bends", "_warn_of_jumps", "_warn_of_short_edges", "_warn_of_thick_cloth"},
    "gpu_core/sewing.py": {"open"},
    "gpu_core/simulator.py": {"_report_start"},
    "gpu_core/start.py": {"freed_of_bodies"},
    "gpu_core/untangle.py": {"_in_words"},
    "addon/cache/checking.py": {"troubles"},
    "addon/cache/place.py": {"shared_problem"},
    "addon/cache/playback.py": {"hidden", "other_mesh"},
    "addon/cache/status.py": {"_worth", "_of_stale", "_in_range"},
    "addon/device/installation.py": {"_trouble"},
    "addon/interface/preferences.py": {"verdict"},
    "addon/scene/dense.py": {"obstacle", "trouble"},
    "addon/scene/encounters.py": {"fault"},
    "addon/scene/fields.py": {"ignored", "_ignored"},
    "addon/scene/pin_properties.py": {"unfit", "without_vertex"},
    "addon/scene/sewn_to.py": {"trouble"},
}


@dataclass(frozen=True)
class Said:
    """A place that tells the user something."""

    file: str
    function: str
    line: int
    what: str  #: the class or function
    texts: tuple[str, ...]  #: nothing where the text comes from elsewhere


def told_classes(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Exceptions that derive from `Told`, and which argument is their text: the first, or after the object's name."""
    found: dict[str, int] = {}
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bases = {"Told": 0}
    while True:
        before = len(found)
        for node in classes:
            for base in node.bases:
                if isinstance(base, ast.Name) and base.id in bases and node.name not in found:
                    found[node.name] = bases[node.name] = _text_argument(node, bases[base.id])
        if len(found) == before:
            return found


def _text_argument(node: ast.ClassDef, inherited: int) -> int:
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            names = [argument.arg for argument in item.args.args[1:]]
            return names.index("problem" if "problem" in names else "text")
    return inherited


def sources() -> dict[str, ast.Module]:
    files = [*ROOT.glob("gpu_core/**/*.py"), *ROOT.glob("addon/**/*.py")]
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in sorted(files)}


def said() -> Iterator[Said]:
    trees = sources()
    tells = {**told_classes(trees), **TELLS}
    for file, tree in trees.items():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                yield from _in_function(file, function, tells)


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Its nodes, without those of functions within it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.FunctionDef)]


def _in_function(file: str, function: ast.FunctionDef, tells: dict[str, int]) -> Iterator[Said]:
    nodes = list(_own(function))
    names = _assigned(nodes)
    for node in nodes:
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            text = _told_by_call(node, called, tells)
            if text is not None:
                yield Said(file, function.name, node.lineno, called, tuple(texts(text, names)))
    if function.name in PRODUCERS.get(file, ()):
        for value in _given(nodes):
            found = [text for text in texts(value, names) if any(map(str.isalpha, text))]
            if found:
                yield Said(file, function.name, value.lineno, "text", tuple(found))


def _told_by_call(node: ast.Call, called: str, tells: dict[str, int]) -> ast.expr | None:
    if called in tells:
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            return ast.Constant(None)
        return _with_remedy(node.args[tells[called] :], called not in TELLS)
    if called == "report" and len(node.args) == 2 and isinstance(node.args[0], ast.Set):
        severities = [entry.value for entry in node.args[0].elts if isinstance(entry, ast.Constant)]
        return node.args[1] if {"ERROR", "WARNING"} & set(severities) else None
    if called == "message" and len(node.args) == 4 and isinstance(node.args[3], ast.Constant):
        return node.args[2] if node.args[3].value == "ERROR" else None
    return None


def _with_remedy(arguments: list[ast.expr], has_remedy: bool) -> ast.expr | None:
    """As the exceptions join them: “problem. remedy”."""
    if len(arguments) < 2 or not has_remedy:
        return arguments[0] if arguments else None
    shown = [ast.FormattedValue(argument, -1) for argument in arguments[:2]]
    return ast.copy_location(ast.JoinedStr([shown[0], ast.Constant(". "), shown[1]]), arguments[0])


def _given(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    """What a producer returns, yields, appends, or passes on as a word: the texts in it."""
    for node in nodes:
        value = _given_by(node)
        if isinstance(value, ast.ListComp):
            value = value.elt
        if isinstance(value, ast.Tuple):
            value = _text_of(value.elts)
        if value is not None:
            yield value


def _given_by(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Return() | ast.Yield() | ast.AugAssign():
            return node.value
        case ast.Call(func=ast.Attribute(attr="append"), args=[value]):
            return value
        case ast.keyword(arg="passed_over" | "warning"):
            return node.value
        case ast.Assign(targets=[ast.Name(id="wrong" | "warning")]):
            return node.value
        case _:
            return None


def _text_of(entries: list[ast.expr]) -> ast.expr | None:
    """Of a tuple: (problem, remedy), or the first that may be a text."""
    if isinstance(entries[-1], ast.Constant) and str(entries[-1].value).isupper():  # an icon
        entries = entries[:-1]
    can = [not isinstance(entry, ast.Constant) or isinstance(entry.value, str) for entry in entries]
    if len(entries) == 2 and isinstance(entries[0], ast.JoinedStr | ast.Constant) and all(can):
        return _with_remedy(entries, True)
    shown = (ast.Constant, ast.JoinedStr, ast.Name)
    return next((entry for entry, may in zip(entries, can, strict=True) if may and isinstance(entry, shown)), None)


def _assigned(nodes: list[ast.AST]) -> dict[str, list[ast.expr]]:
    names: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    names.setdefault(target.id, []).append(node.value)
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    for name, value in zip(target.elts, node.value.elts, strict=False):
                        if isinstance(name, ast.Name):
                            names.setdefault(name.id, []).append(value)
        elif isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
            names.setdefault(node.target.id, []).append(node.value)
    return names


def texts(value: ast.expr, names: dict[str, list[ast.expr]], depth: int = 4) -> list[str]:
    """What the expression can be as a text; nothing where that comes from elsewhere."""
    match value:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=[ast.FormattedValue(value=first), ast.Constant(value=". "), _]) if depth and not (
            texts(first, names, depth)
        ):
            return []  # the problem comes from elsewhere
        case ast.JoinedStr():
            parts = [_part(part, names, depth) for part in value.values]
            return ["".join(choice) for choice in product(*parts)][:MOST]
        case ast.IfExp():
            return [*texts(value.body, names, depth), *texts(value.orelse, names, depth)]
        case ast.BoolOp():
            return [text for entry in value.values for text in texts(entry, names, depth)]
        case ast.BinOp(op=ast.Add()):
            left, right = texts(value.left, names, depth), texts(value.right, names, depth)
            return [first + second for first, second in product(left or [HOLE], right or [HOLE])]
        case ast.Name() if depth:
            every = [text for entry in names.get(value.id, ()) for text in texts(entry, names, depth - 1)]
            return list(dict.fromkeys(text for text in every if text))
        case ast.Call(func=ast.Name(id="coded"), args=[inner, *_]):
            return texts(inner, names, depth)
        case _:
            return []


def _part(part: ast.expr, names: dict[str, list[ast.expr]], depth: int) -> list[str]:
    if isinstance(part, ast.Constant):
        return [str(part.value)]
    assert isinstance(part, ast.FormattedValue)
    if not isinstance(part.value, ast.Call | ast.Attribute | ast.Subscript):
        return texts(part.value, names, depth) or [HOLE]
    return [HOLE]
