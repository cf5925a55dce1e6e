"""Between our exported programs and torch.export's.

to_torch() writes the program as .pt2 in memory and lets torch read it.
from_torch() records torch's graph again, operator by operator, so that what
comes back is a program of ours: checked shapes, guards, printing, running.
"""

import ast
import builtins
import copy
import inspect
import io
import re
import time

import sympy
import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)
from torch.export._remove_effect_tokens_pass import _remove_effect_tokens
from torch.export._unlift import eq_spec
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree
from torch.utils._sympy.printers import PythonPrinter

from proviso import (
    _control_flow,
    _input_conditions,
    _modules,
    _proviso,
    _small_sizes,
    _specs,
    _trace,
)
from proviso._context import Context


def to_torch(ep, call):
    return torch.export.load(io.BytesIO(ep._written(call)))


# --- decomposed

_NEEDS_DATA = (DataDependentOutputException, DynamicOutputShapeException,
               GuardOnDataDependentSymNode)

# Differences that are longer are not factored.
_MOST_OPERATIONS = 100


def decomposed(ep, table):
    """torch's decomposition of a program of ours, as a program of ours.  The
    conditions under which torch made it are guards: it may fix a size
    (`reshape(6, -1)`), and nothing of it checks that.  So are those sizes 0 and
    1 at which it gives something else than the program (_small_sizes.py)."""
    before = to_torch(ep, "ExportedProgram.run_decompositions")
    before._guards_code = [code for code in before._guards_code
                           if not _is_decided_in_parts(code)]
    sources = _sources(before, ep._inputs.leaves)
    sizes = _forms(before), _symbols(sources, ep._inputs.leaves)
    after, questions = _decomposed(ep, before, sources, table)
    example = {symbol: n for _, symbol, n in sizes[1]}
    assumed, tried = [], []
    for condition, code in questions:
        if _can_be_tried(condition, example):
            tried.append((condition, code))
        else:
            assumed.append(code)
    made = from_torch(after, origin=ep, assumed=assumed)
    compared = _small_sizes.Comparison(ep, made, sizes)
    more = [code for condition, code in tried
            if _matters(compared, condition, before.range_constraints)]
    more += compared.refusals()
    return from_torch(after, origin=ep,
                      assumed=assumed + more) if more else made


def _is_decided_in_parts(guard):
    """Where Python branches on its way, as in `n == 4 or n == 8`: torch would
    require the example's way, and fix n."""
    return any(isinstance(node, (ast.Or, ast.Not, ast.IfExp))
               or isinstance(node, ast.Call)
               and not isinstance(node.func, ast.Attribute)
               for node in ast.walk(ast.parse(guard, mode="eval")))


def _can_be_tried(condition, example):
    """What is false of the example cannot be required: torch's decompositions
    take every quotient of sizes to be at least 2."""
    return (_asks_for_zero_or_one(condition)
            or len(condition.free_symbols) == 1
            or _small_sizes.value_at(condition, example) == sympy.false)


def _matters(compared, condition, ranges):
    if _asks_for_zero_or_one(condition) or len(condition.free_symbols) > 1:
        return compared.answer_matters(condition)
    symbol, = condition.free_symbols

    def holds_beyond(end):
        upper = ranges[symbol].upper if symbol in ranges else sympy.oo
        if upper < end:
            return True
        facts = Context()
        facts.declare(f"{symbol} in [{end}, int_oo]")
        return facts.ask(str(condition)).verdict == "yes"

    return compared.matters_anywhere(condition, symbol, holds_beyond)


def _forms(torch_ep):
    """The sizes of each flat input, or the number that it is; None where there
    are none."""
    return [[size.node._expr if isinstance(size, torch.SymInt) else size
             for _, size in _input_conditions.sizes_of(node)] or None
            for node in _input_conditions.user_placeholders(torch_ep)]


def _symbols(sources, leaves):
    """(source, symbol, example), each symbol once."""
    examples = {leaf.source + suffix: number for leaf in leaves
                for suffix, number in _numbers_of(leaf.value)}
    found = {}
    for source, size in sources.items():
        found.setdefault(size.node._expr,
                         (source, size.node._expr, examples[source]))
    return tuple(found.values())


def _numbers_of(value):
    if isinstance(value, torch.Tensor):
        return [(f".size()[{d}]", size) for d, size in enumerate(value.shape)]
    return [("", value)]


def _decomposed(ep, before, sources, table):
    """torch's program, and what it asked of the inputs: (condition, the same as
    Python over sources)."""
    env = _shape_env(sources)
    known = len(env.guards) if env else 0
    facts = _facts(ep, sources)
    try:
        after = before.run_decompositions(table)
    except Exception as error:
        found = _not_decomposed(error)
        if found is None:
            raise
        raise found from error
    found = [guard.expr for guard in env.guards[known:]] if env else []
    names = {size.node._expr: sympy.Symbol(source)
             for source, size in sources.items()}
    printer = PythonPrinter()
    return after, [(expr, printer.doprint(expr.xreplace(names)))
                   for expr in found if expr.free_symbols <= set(names)
                   and facts.ask(str(expr)).verdict != "yes"]


def _not_decomposed(error):
    """What torch's decompositions raise of an operator that needs numbers which
    no trace has, or that they do not know with sizes that vary."""
    said = str(error)
    if not (isinstance(error, _NEEDS_DATA) or "INTERNAL ASSERT" in said
            or "with symbolic sizes" in said):
        return None
    node = re.search(r"While executing (%\w+) .*?target=torch\.ops\.([\w.]+)\]",
                     said)
    operator = f"{node[2]} ({node[1]})" if node else "an operator"
    return NotImplementedError(
        f"ExportedProgram.run_decompositions: torch cannot decompose "
        f"{operator}: {said.splitlines()[0][:300]}. Write what it computes "
        "with other operators, or use the program as it is")


def _sources(torch_ep, leaves):
    """{source: symbolic size or integer} of the inputs whose size is a lone
    symbol."""
    nodes = _input_conditions.user_placeholders(torch_ep)
    return {leaf.source + suffix: size for node, leaf in zip(nodes, leaves)
            for suffix, size in _input_conditions.sizes_of(node)
            if isinstance(size, torch.SymInt) and size.node._expr.is_Symbol}


def _shape_env(sources):
    return next((size.node.shape_env for size in sources.values()), None)


def _asks_for_zero_or_one(condition):
    """How torch asks whether a size broadcasts, or is empty, and whether it is
    a multiple: mostly both answers decompose alike."""
    if isinstance(condition, (sympy.Eq, sympy.Ne)):
        return (any(side in (0, 1) for side in condition.args)
                or _vanishes_at_zero_or_one(condition.lhs - condition.rhs))
    if isinstance(condition, (sympy.Ge, sympy.Gt, sympy.Le, sympy.Lt)):
        strict = isinstance(condition, (sympy.Gt, sympy.Lt))
        return condition.lts in ((0, 1) if strict else (1, 2))
    return False


def _vanishes_at_zero_or_one(difference):
    """Whether it is 0 only where a size, or a quotient of sizes, is 0 or 1:
    `h*w - w` where w is 0 or h is 1."""
    if sympy.count_ops(difference) > _MOST_OPERATIONS:
        return False
    factors = sympy.Mul.make_args(sympy.factor(difference))
    return all(not f.is_Add or any(
        not (f + one).is_Add for one in (sympy.Integer(1), sympy.Integer(-1)))
        for f in factors)


def _facts(ep, sources):
    """What the program promises, and sizes from 2 on: torch takes every size to
    be at least 2, and is right for 0 and 1 too where it needs no more."""
    facts = Context()
    for symbol in {size.node._expr for size in sources.values()}:
        facts.declare(f"{symbol} in [2, int_oo]")
    for code in ep._program.conditions_code():
        for source, size in sorted(sources.items(), reverse=True):
            code = code.replace(source, str(size.node._expr))
        if "L[" not in code:
            facts.assume(code)
    return facts


# --- the graph, again

def _cond(pred, true_fn, false_fn, operands):
    return _control_flow.cond(pred, true_fn, false_fn, tuple(operands))


def _map(f, xs, args):
    return _control_flow.map_(lambda rows, *a: f(*rows, *a), list(xs), *args)


def _while_loop(cond_fn, body_fn, carried, additional):
    def test(*values):
        result = cond_fn(*values, *additional)
        return result[0] if isinstance(result, (tuple, list)) else result

    return _control_flow.while_loop(
        test, lambda *values: tuple(body_fn(*values, *additional)),
        tuple(carried))


def _scan(combine, init, xs, additional):
    def step(carry, rows):
        out = combine(*carry, *rows, *additional)
        return list(out[:len(init)]), list(out[len(init):])

    carry, rows = _control_flow.scan(step, list(init), list(xs))
    return (*carry, *rows)


def _associative_scan(combine, xs, additional):
    def pair(a, b):
        out = combine(*[t[None] for t in a], *[t[None] for t in b],
                      *additional)
        return [t[0] for t in out]

    return _control_flow.associative_scan(pair, list(xs), 0,
                                          combine_mode="generic")


def _with_grad(enabled, body, *operands):
    with torch.set_grad_enabled(enabled):
        return body(*operands)


def _with_autocast(device, dtype, enabled, cache_enabled, body, *operands):
    with torch.autocast(device, dtype, enabled, cache_enabled):
        return body(*operands)


_HIGHER_ORDER = {
    "associative_scan": _associative_scan,
    "cond": _cond,
    "map_impl": _map,
    "scan": _scan,
    "while_loop": _while_loop,
    "wrap_with_autocast": _with_autocast,
    "wrap_with_set_grad_enabled": _with_grad,
}


def _check_numbers(target, args):
    """A number of a program has 64 bits; Python would compute one of any
    length, and take as long."""
    numbers = list(args[0]) if target is torch.sym_sum else args
    if all(type(number) in (int, float, bool) for number in numbers):
        _proviso.check_numbers(f"{target.__module__}.{target.__name__}",
                               numbers)


class _Replay(torch.fx.Interpreter):
    def __init__(self, module):
        # Values are kept: module calls name them when all has run.
        super().__init__(module, garbage_collect_values=False)
        self.extra_traceback = False  # _name_node says it in our words

    def run_node(self, node):
        stack = node.meta.get("nn_module_stack") or {}
        _proviso.set_modules([
            (name, str(kind), int(key.partition("@")[2] or 0))
            for key, (name, kind) in stack.items()])
        try:
            return super().run_node(node)
        except Exception as error:
            _name_node(error, node)
            raise
        finally:
            _proviso.exit_module()

    def value_of(self, argument):
        """Of an argument in a signature."""
        if hasattr(argument, "value"):
            return argument.value
        return next((value for node, value in self.env.items()
                     if node.name == argument.name), None)

    def get_attr(self, target, args, kwargs):
        value = super().get_attr(target, args, kwargs)
        if isinstance(value, torch.fx.GraphModule):
            return lambda *operands: _Replay(value).run(*operands)
        return value

    def call_function(self, target, args, kwargs):
        if isinstance(target, torch._ops.HigherOrderOperator):
            name = target.name()
            if name not in _HIGHER_ORDER:
                raise NotImplementedError(
                    f"from_torch: torch.ops.higher_order.{name} cannot be "
                    "recorded; export the program without it")
            return _HIGHER_ORDER[name](*args, **kwargs)
        if target is builtins.round and args[1:] == (None,):
            args = args[:1]
        _check_numbers(target, args)
        return super().call_function(target, args, kwargs)


def _name_node(error, node):
    """In the error's text, the node that raised it; of a sub-graph's, that
    one."""
    if getattr(error, "_names_node", False) or not error.args:
        return
    target = getattr(node.target, "__name__", node.target)
    error.args = (f"{error.args[0]} (in node {node.name}, {target})",
                  *error.args[1:])
    error._names_node = True


def _run_program(replay, values):
    # The tracer's walk over the stack ends at a function of this name.
    return replay.run(*values)


def _keep_module_calls(calls, replay, torch_ep):
    for entry in torch_ep.module_call_graph[1:]:
        if "@" not in entry.fqn:
            calls.names.append(entry.fqn)
        if entry.signature is not None:
            calls.keep(entry.fqn, entry.signature,
                       list(map(replay.value_of, entry.signature.inputs)),
                       list(map(replay.value_of, entry.signature.outputs)))


# --- its inputs

def _inputs_of(torch_ep):
    """Inputs for our tracer, from the examples and the shapes torch kept."""
    if torch_ep.example_inputs is None:
        raise ValueError(
            "the program carries no example inputs, which say the sizes to "
            "trace with; save it with its examples")
    args, kwargs = torch_ep.example_inputs
    signature = torch_ep.module_call_graph[0].signature
    _check_examples(torch_ep, args, kwargs, signature.in_spec)
    names = list(signature.forward_arg_names or [])
    if len(names) < len(args):
        names = [f"args_{i}" for i in range(len(args))] + list(kwargs)
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD)
                  for n in names[:len(args) + len(kwargs)]]

    def forward(*a, **k):
        raise AssertionError

    forward.__signature__ = inspect.Signature(parameters)
    shapes = [_input_conditions.shape_spec(torch_ep, node)
              for node in _input_conditions.user_placeholders(torch_ep)]
    in_args, in_kwargs = _nested(signature.in_spec, iter(shapes))
    bound = dict(zip(names, in_args), **in_kwargs)
    return _specs.collect(forward, tuple(args), dict(kwargs), bound)


def _check_examples(torch_ep, args, kwargs, in_spec):
    """Each is what the graph was made for, for it is traced with the
    examples."""
    wanted = in_spec.child(1).context
    if set(kwargs) != set(wanted):
        raise ValueError(f"the examples of inputs have the keywords "
                         f"{sorted(kwargs)}, and the program takes "
                         f"{sorted(wanted)}")
    kwargs = {name: kwargs[name] for name in wanted}
    nesting = pytree.tree_structure((args, kwargs))
    if not eq_spec(nesting, in_spec):
        shown = [" ".join(str(spec).split())[:200]
                 for spec in (nesting, in_spec)]
        raise ValueError(f"the examples of inputs nest as {shown[0]}, and the "
                         f"program's inputs as {shown[1]}")
    _specs.check_keys((args, kwargs), "the examples of inputs")
    values = pytree.tree_leaves((args, kwargs))
    nodes = _input_conditions.user_placeholders(torch_ep)
    if len(nodes) != len(values):
        raise ValueError(f"the program has {len(nodes)} inputs, and there are "
                         f"{len(values)} examples of inputs")
    for node, value in zip(nodes, values):
        constant = node.meta.get("val")
        if isinstance(constant, (int, float, str, type(None))) and not (
                _is_same_constant(constant, value)):
            raise ValueError(f"the example of the input {node.name} is "
                             f"{repr(value)[:100]}, and the graph says that it "
                             f"is always {repr(constant)[:100]}")
        said, given = _kind(constant), _kind(value)
        if said != given:
            raise ValueError(f"the example of the input {node.name} is {given}, "
                             f"and the graph says that the input is {said}")


def _is_same_constant(constant, value):
    return isinstance(value, type(constant)) and (
        constant == value or constant != constant and value != value)


def _kind(value):
    if not isinstance(value, torch.Tensor):
        return "no tensor"
    return (f"a tensor of {value.dim()} dimensions, {value.dtype}, "
            f"{value.layout}, on {value.device}")


def _nested(spec, leaves):
    """`leaves` in dicts and lists: a class that somebody registered may take
    tensors alone."""
    if spec.is_leaf():
        return next(leaves)
    children = [_nested(child, leaves) for child in spec.children()]
    return (dict(zip(spec.context, children)) if spec.type is dict
            else children)


# --- the way back

def from_torch(torch_ep, *, origin=None, assumed=(), places=None,
               looks_but_for=None):
    """origin: the program of ours that torch_ep was made from; its inputs and
    what it requires of them are kept.  Else what torch_ep itself says, and
    places, of a file: where its guards were asked for, by their texts.
    assumed: further conditions on the inputs.  looks_but_for: of a file that is
    not trusted, see ExportedProgram."""
    from proviso._export import _fake
    from proviso._program import ExportedProgram

    start = time.perf_counter()
    torch_ep = _without_tokens(torch_ep)
    inputs = origin._inputs if origin else _inputs_of(torch_ep)
    specialize = (origin._program.specializes_zero_one() if origin
                  else _vary_from_two_on(inputs.leaves))
    with _trace.tracing_environment():
        session = _proviso.Session(specialize_zero_one=specialize)
        try:
            owned = _register(session, torch_ep)
            direct = _direct_names(inputs.leaves)
            fakes = [_fake(session, leaf, direct) for leaf in inputs.leaves]
            conditions = _input_conditions.Conditions(session, inputs.leaves,
                                                      fakes)
            if origin is None:
                conditions.require_sizes(torch_ep, inputs.leaves)
            places = origin._program.guard_places() if origin else places or {}
            for code in (origin._program.conditions_code() if origin
                         else getattr(torch_ep, "_guards_code", ())):
                conditions.require(code, *places.get(code, ())[:1])
            for code in assumed:
                conditions.require(code)
            values = _in_order(torch_ep, owned, fakes)
            replay = _Replay(torch_ep.graph_module)
            outputs = _run_program(replay, values)
            calls = _modules.ModuleCalls(None)
            _keep_module_calls(calls, replay, torch_ep)
            program = session.finish(list(outputs))
            calls.write(program)
        finally:
            session.close()
    _set_outputs(program, torch_ep)
    program.set_name(origin._program.name() if origin
                     else type(torch_ep.graph_module).__name__)
    program.set_dialect(torch_ep.dialect)
    elapsed = (time.perf_counter() - start) * 1e6
    return ExportedProgram(
        program, inputs,
        origin._out_spec if origin else torch_ep.call_spec.out_spec,
        torch_ep.example_inputs, elapsed,
        origin._looks_but_for if origin else looks_but_for)


def _without_tokens(torch_ep):
    """The same where each with_effects(token, operator, ..) is a call of the
    operator: a graph is in order without tokens."""
    if all(spec.kind.name != "TOKEN"
           for spec in torch_ep.graph_signature.input_specs):
        return torch_ep
    signature = torch_ep.graph_signature
    result = copy.copy(torch_ep)
    result._graph_module = torch.fx.GraphModule(
        torch_ep.graph_module, copy.deepcopy(torch_ep.graph))
    result._graph_module.meta.update(torch_ep.graph_module.meta)
    result._graph_signature = type(signature)(
        list(signature.input_specs), list(signature.output_specs))
    return _remove_effect_tokens(result)


def _vary_from_two_on(leaves):
    """Whether each size that may vary is traced as torch traces it, with an
    example of 2 or more: then which strides a tensor has at sizes 0 and 1 is
    no question to the program."""
    return all(number >= 2 for leaf in leaves
               for spec, number in _specified(leaf)
               if spec is not None and spec.policy != "static")


def _specified(leaf):
    """[(DimSpec, example)]"""
    if isinstance(leaf.value, torch.Tensor):
        return zip(leaf.spec, leaf.value.shape)
    return [(leaf.spec, leaf.value)]


def _direct_names(leaves):
    from proviso import _promises
    return _promises.direct_names(leaves)


def _register(session, torch_ep):
    """{placeholder name: tensor} of what the program owns."""
    owned = {}
    for spec in torch_ep.graph_signature.input_specs:
        kind = spec.kind.name
        if kind == "USER_INPUT":
            continue
        if kind not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            raise NotImplementedError(
                f"from_torch: an input of kind {kind} ({spec.arg.name}) "
                "cannot be recorded")
        places = (torch_ep.state_dict, torch_ep.constants)
        tensor = next(p[spec.target] for p in places if spec.target in p)
        owned[spec.arg.name] = tensor
        if kind == "PARAMETER":
            session.add_parameter(spec.target, tensor)
        elif kind == "BUFFER":
            session.add_buffer(spec.target, tensor, bool(spec.persistent))
        else:
            session.name_constant(spec.target, tensor)
    return owned


def _in_order(torch_ep, owned, fakes):
    user = iter(fakes)
    return [owned[spec.arg.name] if spec.arg.name in owned else next(user)
            for spec in torch_ep.graph_signature.input_specs]


def _set_outputs(program, torch_ep):
    """Mutations keep their kind; inputs are called as ours are."""
    from proviso._signature import OutputKind

    theirs = [s for s in torch_ep.graph_signature.input_specs
              if s.kind.name == "USER_INPUT"]
    ours = [name for kind, name, _, _ in program.inputs()
            if kind == "USER_INPUT"]
    names = {s.arg.name: name for s, name in zip(theirs, ours)}
    for i, spec in enumerate(torch_ep.graph_signature.output_specs):
        kind = OutputKind[spec.kind.name]
        if kind is OutputKind.USER_OUTPUT:
            continue
        target = names.get(spec.target, spec.target)
        program.set_output(i, kind.value, target)
