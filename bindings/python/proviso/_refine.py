"""The `Suggested fixes:` of a constraint violation, put into dynamic_shapes."""

import ast
import re
from typing import Any, Dict

from proviso import _dims as dims
from proviso._relations import Relation, shortened, shown


def suggested_fixes(error) -> list:
    """The lines under "Suggested fixes:" of an error or its text."""
    text = error if isinstance(error, str) else str(error)
    _, found, fixes = text.partition("Suggested fixes:")
    if not found:
        raise ValueError(
            "refine_dynamic_shapes: the error suggests no fixes:\n" + text)
    lines = []
    for line in fixes.splitlines():
        if line and not line.startswith("  "):
            break  # text of something else follows
        if line.strip():
            lines.append(line.strip())
    return lines


def refine_dynamic_shapes(dynamic_shapes: Any, error) -> Any:
    """dynamic_shapes with the fixes that a ConstraintViolationError suggests.

        try:
            ep = proviso.export(model, args, dynamic_shapes=shapes)
        except proviso.ConstraintViolationError as error:
            shapes = proviso.refine_dynamic_shapes(shapes, error)
            ep = proviso.export(model, args, dynamic_shapes=shapes)

    error: the exception, or its text.  Names that the fixes do not mention
    stay as they are.
    """
    return _Refiner(dynamic_shapes, suggested_fixes(error)).run()


_CHAIN = 100  # of names that are defined by each other
_DEFINITION = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*(.*)")


class _Refiner:
    def __init__(self, shapes, lines):
        self._shapes = shapes
        self._dims: Dict[str, dims.Dim] = {}  # as they were
        self._visit(shapes, self._note)
        self._definitions: Dict[str, str] = {}
        self._relations = []
        for line in lines:
            match = _DEFINITION.fullmatch(line)
            if match:
                self._definitions[match[1]] = match[2]
            else:
                self._relations.append(
                    Relation(line, "refine_dynamic_shapes"))
        self._refined: Dict[str, Any] = {}
        self._under_way = []

    def run(self):
        return self._visit(self._shapes, self._replace)

    def _visit(self, node, action):
        if isinstance(node, dict):
            return {k: self._visit(v, action) for k, v in node.items()}
        if isinstance(node, (list, tuple)):
            children = [self._visit(v, action) for v in node]
            return (type(node)(*children) if hasattr(node, "_fields")
                    else type(node)(children))
        return action(node) if dims.is_named_dim(node) else node

    def _note(self, spec):
        dim = dims.to_dim(spec)
        roots = dim.roots if isinstance(dim, dims.DerivedDim) else {
            dim.__name__: dim}
        self._dims.update(roots)
        return spec

    def _replace(self, spec):
        dim = dims.to_dim(spec)
        if isinstance(dim, dims.DerivedDim):
            return self._computed(str(dim.relation))
        return self._named(dim.__name__)

    def _named(self, name):
        """What the Dim of this name is now: a Dim or an int."""
        if name in self._refined:
            return self._refined[name]
        if name in self._under_way:
            raise ValueError(
                "refine_dynamic_shapes: the fixes define "
                f"{shortened(' by '.join([*self._under_way, name]))}, in a "
                "circle")
        if len(self._under_way) >= _CHAIN:
            raise ValueError(
                "refine_dynamic_shapes: the fixes define "
                f"{' by '.join(self._under_way[:3])} and so on, more than "
                f"{_CHAIN} names by each other")
        self._under_way.append(name)
        old = self._dims.get(name)
        if name in self._definitions:
            result = self._defined(name, self._definitions[name], old)
        elif old is not None:
            result = old
        else:
            raise ValueError(
                f"refine_dynamic_shapes: the fixes speak of {name}, which is "
                f"no Dim of dynamic_shapes ({sorted(self._dims)})")
        if isinstance(result, dims.Dim) and not isinstance(
                result, dims.DerivedDim):
            mine = [str(r) for r in self._relations if name in r.names]
            result = result.where(*mine)
        self._under_way.pop()
        self._refined[name] = result
        return result

    def _defined(self, name, text, old):
        if not re.match(r"Dim\s*\(", text):
            return self._computed(text)
        try:
            tree = ast.parse(text, mode="eval").body
            named = ast.literal_eval(tree.args[0])
            ends = {k.arg: ast.literal_eval(k.value) for k in tree.keywords}
        except (AttributeError, IndexError, MemoryError, RecursionError,
                SyntaxError, TypeError, ValueError):
            raise ValueError(
                f"refine_dynamic_shapes: the fixes define {shortened(name)} as "
                f"{shown(text)}; a definition is an expression or "
                "Dim('name', min=2, max=64)") from None
        least, most = ends.get("min"), ends.get("max")
        if least is not None and least == most:
            return least
        dim = dims.Dim(named, min=least, max=most)
        kept = [str(r) for r in old.relations] if old is not None else []
        return dim.where(*kept)

    def _computed(self, text):
        relation = Relation(text, "refine_dynamic_shapes")
        return relation.evaluate({n: self._named(n) for n in relation.names})
