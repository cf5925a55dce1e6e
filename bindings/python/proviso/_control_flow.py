"""cond, map, while_loop, scan and associative_scan while a program is traced.

Each body runs once, into a graph of its own; tensors of the program around it
that it reads become operands.  Outside tracing torch's functions are called.
"""

import types

import torch
from torch.utils import _pytree as pytree

from proviso import _proviso

_INTS = (int, torch.SymInt)


def _describe(value):
    if isinstance(value, torch.Tensor):
        return f"a tensor of {value.dtype} and shape {tuple(value.shape)}"
    return f"{value!r} of {type(value)}"


def _check_callable(name, **functions):
    for role, function in functions.items():
        if not callable(function):
            raise TypeError(f"{name}: {role} must be callable, got "
                            f"{_describe(function)}")


def _check_leaves(name, role, leaves, allowed, what):
    for leaf in leaves:
        if not isinstance(leaf, allowed) or isinstance(leaf, bool):
            raise TypeError(f"{name}: {role} must be {what}, got "
                            f"{_describe(leaf)}")


def _body(what, function, make_args):
    """Runs function into a sub-graph: (sub-graph, structure of its result)."""
    _proviso.begin_sub_graph(what)
    try:
        leaves, spec = pytree.tree_flatten(function(*make_args()))
        for leaf in leaves:
            if not isinstance(leaf, (torch.Tensor, type(None)) + _INTS):
                raise TypeError(
                    f"{what} returns {_describe(leaf)}; sub-graphs return "
                    "tensors, ints and None")
        return _proviso.end_sub_graph(leaves), spec
    except BaseException:
        _proviso.abandon_sub_graph()
        raise


# --- metadata

def _differ(what, a, b, role_a, role_b):
    raise ValueError(f"{what}: {role_a} is {a}, {role_b} is {b}; sub-graphs "
                     "must agree in structure, dtype, rank and device. Cast, "
                     "reshape or move one of them")


def _same_layout(a, b):
    return all(map(_proviso.known_same, a.stride(), b.stride()))


def _check_alike(what, a, b, role_a, role_b):
    """Same dtype, rank and device."""
    for leaf, role in ((a, role_a), (b, role_b)):
        if not isinstance(leaf, torch.Tensor):
            raise TypeError(f"{what}: {role} is {_describe(leaf)}, the other "
                            "a tensor")
    for attribute in ("dtype", "device"):
        x, y = getattr(a, attribute), getattr(b, attribute)
        if x != y:
            _differ(f"{what}: {attribute}", x, y, role_a, role_b)
    if a.dim() != b.dim():
        _differ(f"{what}: shape", tuple(a.shape), tuple(b.shape), role_a,
                role_b)


def _check_same_shape(what, a, b, role_a, role_b):
    _check_alike(what, a, b, role_a, role_b)
    if not all(map(_proviso.known_same, a.shape, b.shape)):
        _differ(f"{what}: shape", tuple(a.shape), tuple(b.shape), role_a,
                role_b)


def _contiguous(tensor):
    wanted = 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride())):
        if not _proviso.known_same(stride, wanted):
            return False
        wanted = wanted * size
    return True


def _merged(what, a, b):
    """What is known of an output that is one or the other."""
    if a is None and b is None:
        return None
    if isinstance(a, _INTS) and isinstance(b, _INTS):
        if type(a) is int and type(b) is int and a == b:
            return a
        return _proviso.new_int()
    true, false = "what the true branch returns", "what the false one returns"
    _check_alike(what, a, b, true, false)
    sizes = [x if _proviso.known_same(x, y) else _proviso.new_size(0)
             for x, y in zip(a.shape, b.shape)]
    if all(map(_proviso.known_same, a.shape, b.shape)) and _same_layout(a, b):
        return _proviso.new_fake(a, sizes, a.stride())
    if _contiguous(a) and _contiguous(b):
        return _proviso.new_contiguous_fake(a, sizes)
    _differ(f"{what}: strides", a.stride(), b.stride(), true, false)


# --- cond


def cond(pred, true_fn, false_fn, operands=()):
    if not _proviso.is_tracing():
        return _eager.cond(pred, true_fn, false_fn, operands)
    _check_callable("cond", true_fn=true_fn, false_fn=false_fn)
    if not isinstance(operands, (tuple, list)):
        raise TypeError("cond: operands must be a tuple or list, got "
                        f"{_describe(operands)}; for one operand write (x,)")
    _check_leaves("cond", "operands", pytree.tree_leaves(operands),
                  (torch.Tensor,) + _INTS,
                  "tensors and ints, or pytrees of them")
    known = _known_predicate(pred)
    if known is not None:
        return (true_fn if known else false_fn)(*operands)
    true, true_spec = _body("the true branch of cond", true_fn,
                            lambda: operands)
    false, false_spec = _body("the false branch of cond", false_fn,
                              lambda: operands)
    if true_spec != false_spec:
        _differ("cond", true_spec, false_spec,
                "the structure that the true branch returns",
                "that of the false one")
    outputs = [_merged("cond", a, b)
               for a, b in zip(true.outputs, false.outputs)]
    captured = _proviso.join_captures([true, false])
    _proviso.record_higher_order("cond", ["true_graph", "false_graph"],
                                 [pred, true, false, captured], outputs)
    return pytree.tree_unflatten(outputs, true_spec)


def _known_predicate(pred):
    """A bool where the branch is known while tracing; else None."""
    if isinstance(pred, (bool, int, float)):
        return bool(pred)
    if isinstance(pred, torch.SymBool):
        return _proviso.known_bool(pred)
    if not isinstance(pred, torch.Tensor):
        raise TypeError("cond: the predicate must be a bool or a tensor of "
                        f"one bool, got {_describe(pred)}")
    if pred.dtype != torch.bool or not all(
            _proviso.known_same(size, 1) for size in pred.shape):
        raise TypeError("cond: the predicate must be a bool or a tensor of "
                        f"one bool, got {_describe(pred)}; compare it, or "
                        "reduce it with any() or all()")
    return None


# --- loops

def _row_like(name, tensor):
    """An operand with the metadata of tensor[i]."""
    like = _proviso.new_fake(tensor, tensor.shape[1:], tensor.stride()[1:])
    return _proviso.add_operand(name, like)


def _check_leading(name, leaves):
    for leaf in leaves:
        if leaf.dim() == 0:
            raise ValueError(f"{name}: xs has no dimension to go over, got "
                             f"{_describe(leaf)}")
    steps = leaves[0].shape[0]
    for leaf in leaves:
        if leaf.shape[0] == 0:
            raise ValueError(f"{name}: leading dimensions of xs cannot be 0")
        if leaf.shape[0] != steps:  # may add a guard
            raise ValueError(
                f"{name}: leading dimensions of xs must be consistent, got "
                f"shapes {[tuple(x.shape) for x in leaves]}")
    return steps


def _stacked_like(tensor, steps):
    return _proviso.new_contiguous_fake(tensor, [steps, *tensor.shape])



def map_(f, xs, *args):
    if not _proviso.is_tracing():
        return _eager.map(f, xs, *args)
    _check_callable("map", f=f)
    leaves, spec = pytree.tree_flatten(xs)
    _check_leaves("map", "xs", leaves, torch.Tensor, "tensors")
    if not leaves:
        raise ValueError("map: xs has no tensor to go over")
    steps = _check_leading("map", leaves)

    def rows():
        return (pytree.tree_unflatten(
            [_row_like("xs", x) for x in leaves], spec), *args)

    body, out_spec = _body("the body of map", f, rows)
    _check_leaves("map", "what the body returns", body.outputs, torch.Tensor,
                  "tensors")
    captured = _proviso.join_captures([body])
    outputs = [_stacked_like(t, steps) for t in body.outputs]
    _proviso.record_higher_order("map_impl", ["body_graph"],
                                 [body, leaves, captured], outputs)
    return pytree.tree_unflatten(outputs, out_spec)



def while_loop(cond_fn, body_fn, carried_inputs):
    if not _proviso.is_tracing():
        return _eager.while_loop(cond_fn, body_fn, carried_inputs)
    _check_callable("while_loop", cond_fn=cond_fn, body_fn=body_fn)
    if not isinstance(carried_inputs, (tuple, list)):
        raise TypeError("while_loop: carried_inputs must be a tuple or list, "
                        f"got {_describe(carried_inputs)}")
    leaves, spec = pytree.tree_flatten(tuple(carried_inputs))
    _check_leaves("while_loop", "carried_inputs", leaves,
                  (torch.Tensor,) + _INTS, "tensors and ints")

    def carried():
        return pytree.tree_unflatten([
            _proviso.add_operand("carried", leaf)
            if isinstance(leaf, torch.Tensor)
            else _proviso.add_int_operand("carried") for leaf in leaves], spec)

    test = _loop_test(cond_fn, carried)
    body, out_spec = _body("the body of while_loop", body_fn, carried)
    if len(body.outputs) != len(leaves):
        raise ValueError(
            f"while_loop: the body returns {len(body.outputs)} values, it "
            f"carries {len(leaves)}; return the next value of each")
    for before, after in zip(leaves, body.outputs):
        _check_carried("while_loop", before, after)
    captured = _proviso.join_captures([test, body])
    outputs = [_proviso.new_fake(leaf, leaf.shape, leaf.stride())
               if isinstance(leaf, torch.Tensor)
               else _proviso.new_int() for leaf in leaves]
    _proviso.record_higher_order(
        "while_loop", ["while_loop_cond_graph", "while_loop_body_graph"],
        [test, body, leaves, captured], outputs)
    return pytree.tree_unflatten(outputs, out_spec)


def _loop_test(cond_fn, carried):
    _proviso.begin_sub_graph("the condition of while_loop")
    try:
        test = cond_fn(*carried())
        if isinstance(test, torch.Tensor):
            if test.dtype != torch.bool or not all(
                    _proviso.known_same(size, 1) for size in test.shape):
                raise TypeError("while_loop: cond_fn must return a bool or a "
                                f"tensor of one bool, got {_describe(test)}")
        elif not isinstance(test, (bool, torch.SymBool)):
            raise TypeError("while_loop: cond_fn must return a bool or a "
                            f"tensor of one bool, got {_describe(test)}")
        return _proviso.end_sub_graph([test])
    except BaseException:
        _proviso.abandon_sub_graph()
        raise


def _check_carried(name, before, after):
    roles = "the carried input", "what the body makes of it"
    if isinstance(before, torch.Tensor):
        _check_same_shape(name, before, after, *roles)
        if not _same_layout(before, after):
            _differ(f"{name}: strides", before.stride(), after.stride(),
                    *roles)
    elif not isinstance(after, _INTS):
        raise TypeError(f"{name}: {roles[0]} is an int, {roles[1]} is "
                        f"{_describe(after)}")


def _move(tensors, source, target):
    return pytree.tree_map(
        lambda t: t if source == target else torch.movedim(t, source, target),
        tensors)


def _flip(tensors, reverse):
    return pytree.tree_map(lambda t: t.flip([0]) if reverse else t, tensors)


def _scanned(name, xs, dim, reverse):
    """(leaves with the scanned dim first, structure, dim)"""
    leaves, spec = pytree.tree_flatten(xs)
    _check_leaves(name, "xs", leaves, torch.Tensor, "tensors")
    if not leaves:
        raise ValueError(f"{name}: xs has no tensor to go over")
    if type(dim) is not int or type(reverse) is not bool:
        raise TypeError(f"{name}: dim must be an int and reverse a bool, got "
                        f"dim={dim!r}, reverse={reverse!r}")
    rank = leaves[0].dim()
    if not all(-t.dim() <= dim < t.dim() for t in leaves):
        raise ValueError(f"{name}: dim {dim} is out of range for xs of shape "
                         f"{[tuple(t.shape) for t in leaves]}")
    dim %= rank
    return _flip(_move(leaves, dim, 0), reverse), spec, dim



def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    if not _proviso.is_tracing():
        return _eager.scan(combine_fn, init, xs, dim=dim, reverse=reverse)
    _check_callable("scan", combine_fn=combine_fn)
    first, init_spec = pytree.tree_flatten(init)
    if not first:
        raise ValueError("scan: init has no tensor")
    _check_leaves("scan", "init", first, torch.Tensor, "tensors")
    leaves, spec, dim = _scanned("scan", xs, dim, reverse)
    steps = _check_leading("scan", leaves)

    def args():
        return (pytree.tree_unflatten(
                    [_proviso.add_operand("init", t) for t in first],
                    init_spec),
                pytree.tree_unflatten(
                    [_row_like("xs", t) for t in leaves], spec))

    body, out_spec = _body("the combine_fn of scan", combine_fn, args)
    carry, rows = body.outputs[:len(first)], body.outputs[len(first):]
    if (out_spec.num_children != 2 or out_spec.child(0) != init_spec):
        raise ValueError(
            "scan: combine_fn must return (next carry, output) with the carry "
            f"nested like init; it returns {out_spec}, init is {init_spec}")
    for before, after in zip(first, carry):
        _check_carried("scan", before, after)
    captured = _proviso.join_captures([body])
    carried = [_proviso.new_fake(t, t.shape, t.stride()) for t in first]
    out = [_stacked_like(t, steps) for t in rows]
    _proviso.record_higher_order("scan", ["scan_combine_graph"],
                                 [body, first, leaves, captured],
                                 carried + out)
    out = [_move(_flip(t, reverse), 0, dim if dim < t.dim() else 0)
           for t in out]
    return (pytree.tree_unflatten(carried, init_spec),
            pytree.tree_unflatten(out, out_spec.child(1)))



def associative_scan(combine_fn, xs, dim, reverse=False,
                     combine_mode="pointwise"):
    if not _proviso.is_tracing():
        return _eager.associative_scan(combine_fn, xs, dim, reverse, combine_mode)
    _check_callable("associative_scan", combine_fn=combine_fn)
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError("associative_scan: combine_mode must be 'pointwise' "
                         f"or 'generic', got {combine_mode!r}")
    leaves, spec, dim = _scanned("associative_scan", xs, dim, reverse)
    _check_leading("associative_scan", leaves)

    def pairs():
        # A batch of neighbours, of any number.
        batch = _proviso.new_size(1)
        return [pytree.tree_unflatten([
            _proviso.add_operand("xs", _proviso.new_contiguous_fake(
                t, [batch, *t.shape[1:]])) for t in leaves], spec)
            for _ in range(2)]

    body, out_spec = _body("the combine_fn of associative_scan",
                           torch.vmap(combine_fn), pairs)
    if out_spec != spec:
        _differ("associative_scan", out_spec, spec,
                "the structure that combine_fn returns", "that of xs")
    roles = "a row of xs", "what combine_fn returns"
    for x, out in zip(leaves, body.outputs):
        _check_alike("associative_scan", x, out, *roles)
        if not all(map(_proviso.known_same, x.shape[1:], out.shape[1:])):
            _differ("associative_scan: shape", tuple(x.shape[1:]),
                    tuple(out.shape[1:]), *roles)
    captured = _proviso.join_captures([body])
    outputs = [_proviso.new_contiguous_fake(t, t.shape) for t in leaves]
    _proviso.record_higher_order(
        "associative_scan", ["associative_scan_combine_graph"],
        [body, leaves, captured], outputs)
    return pytree.tree_unflatten(_move(_flip(outputs, reverse), 0, dim), spec)


# --- in torch's place

def _torch_functions():
    from torch._higher_order_ops import (
        associative_scan as a, cond as c, map as m, scan as s,
        while_loop as w)

    def function(holder, name):
        return getattr(holder, name, holder)

    return {"associative_scan": function(a, "associative_scan"),
            "cond": function(c, "cond"), "map": function(m, "map"),
            "scan": function(s, "scan"),
            "while_loop": function(w, "while_loop")}


_FUNCTIONS = _torch_functions()
# torch's functions as they were, for calls outside a trace.
_eager = types.SimpleNamespace()
for _name, _function in _FUNCTIONS.items():
    _copy = types.FunctionType(
        _function.__code__, _function.__globals__, _name,
        _function.__defaults__, _function.__closure__)
    _copy.__kwdefaults__ = _function.__kwdefaults__
    setattr(_eager, _name, _copy)

_OURS = {"map": "map_"}  # map() is the builtin here
_CALL = """
def {0}(*args, **kwargs):
    from proviso import _control_flow
    return _control_flow.{1}(*args, **kwargs)
"""


def _redirected_code(name):
    scope = {}
    # As code of torch it is no frame of the user's.
    exec(compile(_CALL.format(name, _OURS.get(name, name)), torch.__file__, "exec"), scope)
    return scope[name].__code__


_REDIRECTED = {name: _redirected_code(name) for name in _FUNCTIONS}


def redirect():
    """From now on torch's functions call ours, also under names imported
    before.  Returns a function that puts them back."""
    before = {name: f.__code__ for name, f in _FUNCTIONS.items()}
    for name, function in _FUNCTIONS.items():
        function.__code__ = _REDIRECTED[name]

    def put_back():
        for name, function in _FUNCTIONS.items():
            function.__code__ = before[name]
    return put_back
