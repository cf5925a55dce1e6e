"""What dynamic_shapes says beyond ranges, told to the trace before it starts:
derived Dims (2*dx + 1) and relations between Dims (dx*dy <= 4096)."""

import torch

from proviso._errors import ConstraintViolationError
from proviso._relations import Relation, shortened, shown


def direct_names(leaves):
    """The names of Dims that some dimension has itself."""
    return {dim.name for _, dim, _ in _dimensions(leaves) if not dim.is_derived}


def tell(session, leaves, fakes, relations):
    sizes = [(f"{leaf.source}.size()[{i}]", dim, fake.shape[i])
             for leaf, fake in zip(leaves, fakes)
             for _, dim, i in _dimensions([leaf])]
    if isinstance(relations, (str, Relation)):
        relations = (relations,)
    Teller(session, sizes).run(relations)


def _dimensions(leaves):
    return [(leaf, dim, i) for leaf in leaves
            if isinstance(leaf.value, torch.Tensor)
            for i, dim in enumerate(leaf.spec) if dim.policy == "named"]


class Teller:
    def __init__(self, session, sizes):
        self._session = session
        self._values = {dim.name: size for _, dim, size in sizes
                        if not dim.is_derived}
        self._derived = [(source, dim.dim, size) for source, dim, size in sizes
                         if dim.is_derived]
        self._dims = {}  # every Dim that is mentioned, by name
        for _, dim, _ in sizes:
            mentioned = dim.dim.roots if dim.is_derived else {dim.name: dim.dim}
            for name, named in mentioned.items():
                self._dims.setdefault(name, []).append(named)

    def run(self, relations):
        waiting = list(self._derived)
        while waiting:
            known = [d for d in waiting
                     if d[1].roots.keys() <= self._values.keys()]
            for source, dim, size in known:
                self._require_equal(source, dim, size)
            waiting = [d for d in waiting if d not in known]
            if waiting and not any(self._solve(*d) for d in waiting):
                self._give_up(waiting[0])
        promised = {}
        for name, dims in self._dims.items():
            for dim in dims:
                promised.update(dict.fromkeys(dim.relations))
        promised.update(
            (r if isinstance(r, Relation) else Relation(r, "export"), None)
            for r in relations)
        for relation in promised:
            self._require_relation(relation)

    def _require_equal(self, source, dim, size):
        expected = dim.relation.evaluate(self._values)
        if not self._holds(size == expected, f"{source} = {dim.__name__}"):
            raise ConstraintViolationError(
                f"Expected input {source} to be equal to {dim.__name__}, "
                f"where {self._example_text(dim.roots)}, but got "
                f"{_example(size)}")

    def _solve(self, source, dim, size):
        """The one Dim of `dim` without a size gets what this size implies."""
        unknown = dim.roots.keys() - self._values.keys()
        if len(unknown) != 1:
            return False
        name, = unknown
        solved = dim.relation.solve(name, size, self._values)
        if solved is None:
            return False
        rest, factor = solved
        if factor < 0:
            rest, factor = -rest, -factor
        why = f"{source} = {dim.__name__}"
        if not self._holds(rest % factor == 0, why):
            raise ConstraintViolationError(
                f"Expected {source} = {_example(size)} to be of the form "
                f"{dim.__name__}, where {name} is an integer")
        value = rest // factor
        self._values[name] = value
        for root in self._dims[name]:
            least = 0 if root.min is None else root.min
            within = value >= least
            text = f"{least} <= {name}"
            if root.max is not None:
                within = (within, value <= root.max)
                text += f" <= {root.max}"
            for part in within if isinstance(within, tuple) else (within,):
                if not self._holds(part, f"{why}, {text}"):
                    raise ConstraintViolationError(
                        f"{_example(value)} not in range [{least}, "
                        f"{'int_oo' if root.max is None else root.max}] for "
                        f"{name}, as {why}")
        return True

    def _give_up(self, derived):
        source, dim, _ = derived
        unknown = sorted(dim.roots.keys() - self._values.keys())
        raise ValueError(
            f"export: `dynamic_shapes` says {source} = {dim.__name__}, and no "
            f"dimension tells {' or '.join(unknown)}; give {unknown[0]} to a "
            "dimension, or use an expression with a constant factor of it")

    def _require_relation(self, relation):
        missing = sorted(relation.names - self._values.keys())
        if missing:
            raise ValueError(
                f"export: the relation {shown(relation)} speaks of "
                f"{shortened(missing[0])}, "
                f"which is no Dim of `dynamic_shapes` (they are "
                f"{sorted(self._values)})")
        condition = relation.evaluate(self._values)
        if not isinstance(condition, (bool, torch.SymBool)):
            raise ValueError(
                f"export: the relation {shown(relation)} is a number; "
                "compare it with one, as in 'a*b == 16'")
        text = shortened(relation)
        if not self._holds(condition, text):
            raise ConstraintViolationError(
                f"dynamic_shapes promises {text}, which does not hold for "
                f"the example: {self._example_text(relation.names)}")

    def _holds(self, condition, why):
        """Tells the trace, unless the example already breaks it."""
        if isinstance(condition, bool):
            return condition
        if not condition.node.hint:
            return False
        self._session.require(condition, f"dynamic_shapes: {why}")
        return True

    def _example_text(self, names):
        return ", ".join(f"{name} = {_example(self._values[name])}"
                         for name in sorted(names))


def _example(size):
    return size.node.hint if isinstance(size, torch.SymInt) else size
