"""PyTorch in the loop: what its solver asks although it knows the requirements.

    form = requirements.to_torch(model, args)
    form.accepted                # torch.compile took the program so
    form.conditions[-1].rule     # "asked by PyTorch"

The program, with the checks before it and every size that may vary unbacked, is
compiled by torch.compile(fullgraph=True, backend="aot_eager").  Where PyTorch
asks, the example's answer becomes one more check: what the requirements imply,
and PyTorch does not see, rules out nothing; of anything else the requirements
have been proved to be enough without it, so that the program is the same on
both sides and the answer does not matter.
"""

import contextlib
import re

import sympy
import torch
from torch.utils import _pytree as pytree
from torch.utils._sympy.printers import PythonPrinter

from proviso import _proviso
from proviso._torch_requirements import TorchCondition, TorchForm


def accepted(form, requirements, mod, args, kwargs, rounds):
    """The form with what PyTorch asks beyond it, after at most so many
    compilations."""
    conditions, why_not = list(form.conditions), ""
    for number in range(1, rounds + 1):
        current = TorchForm(conditions, form.sizes, form._signature,
                            form._is_proved)
        error, sources = _compiled(current, mod, args, kwargs,
                                   requirements._parameters)
        if error is None:
            return current._with(accepted=True, rounds=number)
        why_not = str(error).split("\n")[0]
        known = {c.condition for c in conditions}
        added = next((answer for answer in _answers(error, sources,
                                                    requirements)
                      if answer.condition not in known), None)
        if added is None:
            return current._with(accepted=False, rounds=number,
                                 why_not=why_not)
        conditions = _without_lower_ends(conditions, added) + [added]
    return current._with(accepted=False, rounds=rounds, why_not=why_not)


# In no file of Proviso: Dynamo skips those while proviso.torch answers.
_BEHIND_CHECKS = """

def behind_checks(mod):
    def checked(*args, **kwargs):
        check_sizes(*args, **kwargs)
        return mod(*args, **kwargs)
    return checked
"""


def compiled(form, mod, args, kwargs, parameters, backend="aot_eager"):
    """(torch.compile of the program behind the checks, copies of args and of
    kwargs with the sizes marked unbacked)."""
    names = {"torch": torch}
    exec(form.shape_invariants("check_sizes") + _BEHIND_CHECKS, names)
    checked = names["behind_checks"](mod)

    torch._dynamo.reset()
    return (torch.compile(checked, fullgraph=True, backend=backend),
            *_marked(form, args, kwargs, parameters))


def _compiled(form, mod, args, kwargs, parameters):
    """(error, {symbol: source}) of a run on the example; error is None where
    PyTorch takes the program."""
    sources = {}
    function, args, kwargs = compiled(form, mod, args, kwargs, parameters)
    try:
        with _watched(sources), torch.no_grad():
            function(*args, **kwargs)
    except Exception as error:
        return error, sources
    finally:
        torch._dynamo.reset()
    return None, sources


def _marked(form, args, kwargs, parameters):
    leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
    places = {text: i for i, text in enumerate(
        _texts(args, kwargs, parameters))}
    leaves = [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf
              for leaf in leaves]
    for size in form.sizes:
        torch._dynamo.decorators.mark_unbacked(
            leaves[places[size.tensor]], size.dim)
    return pytree.tree_unflatten(leaves, spec)


def _texts(args, kwargs, parameters):
    """Each flat input as forward calls it."""
    paths, _ = pytree.tree_flatten_with_path((tuple(args), dict(kwargs)))
    for (first, key, *rest), _ in paths:
        name = key.key if first.idx else parameters[key.idx]
        yield name + pytree.keystr(tuple(rest))


# --- what PyTorch asked

@contextlib.contextmanager
def _watched(sources):
    """Fills in {symbol: source} of the sizes that become unbacked."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    original = ShapeEnv.create_unbacked_symint

    def create_unbacked_symint(self, source=None):
        number = original(self, source)
        if source is not None:
            name = source.name() if callable(source.name) else source.name
            sources.setdefault(number.node.expr, name)
        return number

    ShapeEnv.create_unbacked_symint = create_unbacked_symint
    try:
        yield
    finally:
        ShapeEnv.create_unbacked_symint = original


def _asked(error):
    """The expression that PyTorch could not decide; None where it failed for
    another reason."""
    while error is not None:
        asked = getattr(error, "cond", None)
        if asked is not None:
            return asked
        error = error.__cause__ or error.__context__
    return None


_END = re.compile(r"(.+) >= (\d+)")


def _without_lower_ends(conditions, added):
    """Without `x >= 1` where `x >= 2` is added."""
    end = _END.fullmatch(added.condition)

    def is_implied(other):
        return bool(end and other and other[1] == end[1]
                    and int(other[2]) <= int(end[2]))

    return [c for c in conditions
            if not is_implied(_END.fullmatch(c.condition))]


def _answers(error, sources, requirements):
    """The checks that answer PyTorch's question, the plainest first; none where
    it failed for another reason."""
    asked = _asked(error)
    if asked is None or not asked.free_symbols <= set(sources):
        return []
    names = {symbol: sympy.Symbol(_own_source(source, requirements))
             for symbol, source in sources.items()}
    text = PythonPrinter().doprint(asked.xreplace(names))
    return [TorchCondition(*answer) for answer in _proviso.torch_answers(
        requirements._program, text, list(requirements._size_texts.items()))]


_ARGUMENT = re.compile(r"L\['args'\]\[(\d+)\]")
_KEYWORD = re.compile(r"L\['kwargs'\]\[('\w+')\]")


def _own_source(source, requirements):
    """L['x'] for the wrapper's L['args'][0] and L['kwargs']['x']."""
    source = _ARGUMENT.sub(
        lambda m: f"L['{requirements._parameters[int(m.group(1))]}']", source)
    return _KEYWORD.sub(r"L[\1]", source)
