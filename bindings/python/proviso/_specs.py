"""Example inputs and dynamic_shapes, brought together leaf by leaf."""

import inspect
import re
from dataclasses import dataclass
from typing import Any, List, Tuple

import torch
from torch.utils import _pytree as pytree

from proviso import _dims as dims
from proviso._errors import ConstraintViolationError


@dataclass
class Leaf:
    """One flat input."""

    name: str    # x, z_k
    source: str  # L['x'], L['z']['k']
    value: Any
    spec: Any    # of a tensor: a DimSpec a dim; of an int: a DimSpec or None


@dataclass
class Inputs:
    """Leaves in the order in which pytree flattens (args, kwargs)."""

    leaves: List[Leaf]
    in_spec: Any
    argument_names: List[str]


def _signature(forward):
    try:
        return inspect.signature(forward)
    except (TypeError, ValueError):  # builtins have none
        return None


def _bind(signature, args: Tuple, kwargs: dict) -> Tuple[dict, List[str]]:
    """{argument name: value} and the names of args, one a position."""
    if signature is None:
        names = [f"arg{i}" for i in range(len(args))]
        return {**dict(zip(names, args)), **kwargs}, names
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise TypeError(
            f"export: args and kwargs do not fit {signature}: {error}"
        ) from None
    return bound, _positions(signature, len(args))


def _positions(signature, count):
    names = []
    for name, parameter in signature.parameters.items():
        if len(names) == count:
            break
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [name] * (count - len(names))
        elif parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            names.append(name)
    return names


def collect(forward, args: Tuple, kwargs: dict, dynamic_shapes: Any) -> Inputs:
    signature = _signature(forward)
    bound, positions = _bind(signature, args, kwargs)
    specs = _specs_by_argument(dynamic_shapes, bound)
    variadic = _variadic(signature)
    leaves: List[Leaf] = []
    walker = _Walker(leaves)
    for i, value in enumerate(args):
        name = positions[i]
        if name == variadic[0]:
            index = i - positions.index(name)
            key = pytree.SequenceKey(index)
            spec = _child(specs.get(name), key, index, len(bound[name]),
                          f"[{name!r}]")
            walker.walk((pytree.MappingKey(name), key), value, spec)
        else:
            walker.walk((pytree.MappingKey(name),), value, specs.get(name))
    if variadic[1] in bound and isinstance(specs.get(variadic[1]), dict):
        _check_keys(specs[variadic[1]], bound[variadic[1]], variadic[1])
    for name, value in kwargs.items():
        if name in bound or variadic[1] is None:
            walker.walk((pytree.MappingKey(name),), value, specs.get(name))
        else:
            spec = specs.get(variadic[1])
            spec = spec.get(name) if isinstance(spec, dict) else spec
            walker.walk((pytree.MappingKey(name),), value, spec)
    _, in_spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
    names = [_argument_name(positions, i, variadic[0])
             for i in range(len(args))] + list(kwargs)
    return Inputs(leaves, in_spec, names)


# What keystr() makes of a position, of an attribute and of other keys; of a text
# with quotes it would end where torch writes it into code between quotes.
_PLAIN_KEY = re.compile(r"[^'\"\\\n]*|\['(?:[^'\"\\]|\\[\\nrt])*'\]")


def check_keys(tree, what):
    """Raises ValueError where types, your own too, name their parts so that
    torch cannot write them into code."""
    for path, _ in pytree.tree_flatten_with_path(tree)[0]:
        for key in path:
            text = str(key)
            if not _PLAIN_KEY.fullmatch(text) or not text.isprintable():
                raise ValueError(
                    f"{what}: a key is {text[:100]}, and torch writes it into "
                    "code between quotes; quotes and what does not print are "
                    "not possible there: rename it")


def _check_keys(spec, values, name):
    if sorted(spec) != sorted(values):
        raise ValueError(
            f"export: `dynamic_shapes['{name}']` has the keys {list(spec)} "
            f"where **{name} has {list(values)}; give the same keys")


def _argument_name(positions, i, variadic):
    name = positions[i]
    return f"{name}_{i - positions.index(name)}" if name == variadic else name


def _variadic(signature):
    """The names of *args and **kwargs."""
    found = [None, None]
    for parameter in signature.parameters.values() if signature else ():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            found[0] = parameter.name
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found[1] = parameter.name
    return found


def _specs_by_argument(dynamic_shapes, bound) -> dict:
    if dynamic_shapes is None:
        return {}
    if isinstance(dynamic_shapes, (tuple, list)):
        if len(dynamic_shapes) not in (0, len(bound)):
            raise ValueError(
                f"export: `dynamic_shapes` has {len(dynamic_shapes)} entries "
                f"for {len(bound)} inputs {list(bound)}; give one an input, "
                "or a dict by their names")
        return dict(zip(bound, dynamic_shapes))
    if not isinstance(dynamic_shapes, dict):
        raise TypeError(
            "export: `dynamic_shapes` must be a dict, a tuple or a list, got "
            f"{type(dynamic_shapes).__name__}")
    if dynamic_shapes and sorted(dynamic_shapes) != sorted(bound):
        raise ValueError(
            "When `dynamic_shapes` is specified as a dict, its top-level keys "
            f"must be the arg names {list(bound)} of `inputs`, but here they "
            f"are {list(dynamic_shapes)}. Alternatively, you could also "
            "ignore arg names entirely and specify `dynamic_shapes` as a "
            "list/tuple matching `inputs`.")
    return dynamic_shapes


def _child(spec, key, index, count, where):
    """The part of a container's spec that speaks of one child."""
    if spec is None:
        return None
    if isinstance(spec, dict):
        name = _key_text(key)
        if isinstance(key, pytree.MappingKey) and key.key in spec:
            return spec[key.key]
        if name in spec:
            return spec[name]
        if isinstance(key, pytree.SequenceKey):
            raise ValueError(
                f"export: `dynamic_shapes{where}` is {spec!r} where "
                f"`inputs{where}` has {count} items; give a tuple with an entry "
                "for each")
        raise ValueError(
            f"export: `dynamic_shapes{where}` has the keys {list(spec)} where "
            f"`inputs{where}` has {_key_text(key)!r}; give the same keys")
    if isinstance(spec, (tuple, list)):
        if len(spec) != count:
            raise ValueError(
                f"export: `dynamic_shapes{where}` has {len(spec)} entries "
                f"where `inputs{where}` has {count}; give one each")
        return spec[index]
    raise ValueError(
        f"export: `dynamic_shapes{where}` is {spec!r} where `inputs{where}` "
        "is a container; give a spec for each of its children")


def _key_text(key):
    if isinstance(key, pytree.MappingKey):
        return key.key
    return key.name if isinstance(key, pytree.GetAttrKey) else key.idx


class _Walker:
    def __init__(self, leaves):
        self._leaves = leaves

    def walk(self, path, value, spec):
        node_type = pytree._get_node_type(value)
        if node_type not in pytree.SUPPORTED_NODES:
            self._leaves.append(_leaf(path, value, spec))
            return
        children = _children(node_type, value)
        where = pytree.keystr(path)
        if type(spec) is type(value) and node_type not in (dict, list, tuple):
            spec = _spec_by_key(node_type, children, spec)
        if spec is not None and not children:
            if not isinstance(spec, (dict, tuple, list)) or len(spec):
                raise ValueError(
                    f"export: `dynamic_shapes{where}` is {spec!r} where "
                    f"`inputs{where}` is empty; give None")
        if isinstance(spec, dict) and len(spec) != len(children):
            raise ValueError(
                f"export: `dynamic_shapes{where}` has the keys {list(spec)} "
                f"where `inputs{where}` has "
                f"{[_key_text(k) for k, _ in children]}; give the same keys")
        for i, (key, child) in enumerate(children):
            self.walk((*path, key), child,
                      _child(spec, key, i, len(children), where))


def _spec_by_key(node_type, children, spec):
    """{key: spec} of a dataclass of specs, which has no child where it holds
    None."""
    given = {_key_text(k): child for k, child in _children(node_type, spec)}
    return {_key_text(k): given.get(_key_text(k)) for k, _ in children}


def _children(node_type, value):
    """[(key, child)], in pytree's order."""
    node = pytree.SUPPORTED_NODES[node_type]
    if node.flatten_with_keys_fn is not None:
        return list(node.flatten_with_keys_fn(value)[0])
    children = node.flatten_fn(value)[0]
    return [(pytree.SequenceKey(i), c) for i, c in enumerate(children)]


def _leaf(path, value, spec) -> Leaf:
    where = pytree.keystr(path)
    source = "L" + where
    name = "_".join(re.sub(r"\W", "_", str(_key_text(k))) for k in path)
    if isinstance(value, torch.Tensor):
        dims_of = _tensor_spec(value, spec, where, source)
        return Leaf(name, source, value, _marked(value, dims_of, source))
    if type(value) is int:
        return Leaf(name, source, value, _int_spec(value, spec, where))
    if spec is not None:
        raise ValueError(
            f"Cannot associate shape {spec} specified at "
            f"`dynamic_shapes{where}` to non-tensor type {type(value)} at "
            f"`inputs{where}` (expected None)")
    if value is None or isinstance(value, (bool, float, str, int)):
        return Leaf(name, source, value, None)
    raise TypeError(
        f"export: `inputs{where}` is of type {type(value)}; inputs are "
        "tensors, ints, floats, bools, strings, None and pytrees of them. "
        "Register the type with torch.utils._pytree.register_pytree_node or "
        "register_dataclass")


def _int_spec(value, spec, where):
    if spec is None:
        return None
    if dims.is_named_dim(spec):
        raise ValueError(
            "Unable to specify input integers as dynamic through named Dims. "
            f"Please use Dim.AUTO/DYNAMIC instead. (at `dynamic_shapes{where}`)"
        )
    dim = dims.to_dim_spec(spec, f"`dynamic_shapes{where}`")
    if dim is None:
        raise ValueError(
            f"Cannot associate shape {spec} specified at "
            f"`dynamic_shapes{where}` to the int at `inputs{where}` (expected "
            "None, an int, Dim.AUTO, Dim.DYNAMIC or Dim.STATIC)")
    if dim.policy == "unbacked":
        raise ValueError(
            f"export: `dynamic_shapes{where}` is Dim.UNBACKED, which is for "
            "sizes of tensors; give Dim.DYNAMIC to an int, or pass it in a "
            "tensor and read it with item()")
    if dim.value not in (None, value):
        raise ConstraintViolationError(
            f"Static constraint of {dim.value} does not match the input "
            f"{value}, for L{where}")
    return None if dim.policy == "static" else dim


_EXPECTED = ("(expected None, an int, a Dim, Dim.AUTO, Dim.STATIC, or "
             "Dim.DYNAMIC, but got {!r} instead)")


def _tensor_spec(tensor, spec, where, source):
    rank = tensor.dim()
    if spec is None:
        return [dims.STATIC] * rank
    if isinstance(spec, dict):
        result = [dims.STATIC] * rank
        for i, dim in spec.items():
            if type(i) is not int or not 0 <= i < rank:
                raise ValueError(
                    f"Unexpected dimension mapped to index {i} in input "
                    f"tensor shape {spec} specified at "
                    f"`dynamic_shapes{where}`: the tensor has shape "
                    f"{tuple(tensor.shape)}, so its dimensions are "
                    f"{list(range(rank))}")
            result[i] = _dim(dim, tensor, i, spec, where, source,
                             f"mapped to index {i}")
        return result
    if isinstance(spec, (tuple, list)):
        if len(spec) != rank:
            raise ValueError(
                f"Expected dynamic shape spec {spec} specified at "
                f"`dynamic_shapes{where}` to have the same length as the "
                f"actual tensor shape {tensor.shape} (expected {rank}, but "
                f"got {len(spec)} instead)")
        return [_dim(dim, tensor, i, spec, where, source, f"#{i}")
                for i, dim in enumerate(spec)]
    raise ValueError(
        f"Unexpected input tensor shape {spec} specified at "
        f"`dynamic_shapes{where}` (expected either a list/tuple of "
        "dimensions, or a dict mapping indices to dimensions, where each "
        "dimension is an int, a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC)")


def _marked(tensor, specs, source):
    """torch._dynamo.decorators.mark_unbacked on an example is a spec, where
    dynamic_shapes says no more than that the size may vary."""
    strict = getattr(tensor, "_dynamo_strict_unbacked_indices", set())
    marked = getattr(tensor, "_dynamo_unbacked_indices", set()) | strict
    bounds = getattr(tensor, "_dynamo_unbacked_bounds", {})
    names = getattr(tensor, "_dynamo_shape_ids", {})
    for i in sorted(marked):
        if specs[i] not in (dims.STATIC, dims.DimSpec("auto"),
                            dims.DimSpec("dynamic")):
            raise ValueError(
                f"{source}.size()[{i}] is marked as unbacked, and "
                f"`dynamic_shapes` gives it a spec of its own; leave one out")
        specs[i] = dims.DimSpec("unbacked", names.get(i, ""),
                                *bounds.get(i, (None, None)),
                                strict=i in strict)
    return specs


def check_strict(leaves, fakes):
    """Sizes marked with mark_unbacked(strict=True) did not become constants."""
    for leaf, fake in zip(leaves, fakes):
        if not isinstance(leaf.value, torch.Tensor):
            continue
        for i, dim in enumerate(leaf.spec):
            if not dim.strict:
                continue
            size = fake.shape[i]
            if type(size) is int or size.node.maybe_as_int() is not None:
                raise ConstraintViolationError(
                    f"You marked {leaf.source}.size()[{i}] as unbacked and "
                    f"strict but your code specialized it to be a constant "
                    f"({size}). Leave the mark or its `strict` out.")


def _dim(dim, tensor, i, spec, where, source, which):
    result = dims.to_dim_spec(dim, f"`dynamic_shapes{where}`, dimension {i}")
    if result is None:
        raise ValueError(
            f"Unexpected dimension {which} in input tensor shape {spec} "
            f"specified at `dynamic_shapes{where}` " + _EXPECTED.format(dim))
    if result.value not in (None, tensor.shape[i]):
        raise ConstraintViolationError(
            f"Static shape constraint of {result.value} does not match input "
            f"size of {tensor.shape[i]}, for {source}.size()[{i}]")
    return result
