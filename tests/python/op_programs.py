"""Programs of one call each, for small_sizes.py: torch's own sample inputs of
its operators and modules, whose sizes become letters.

    for case in programs(["nn.functional.pad"]): ...

Sizes that may differ are letters of their own where eager takes them so
(`x [3, 4] + y [4]` would not): else equal ones share a letter.  Values are the
sample's, over and over.
"""

import copy

import torch
from torch.utils import _pytree as pytree

import op_samples
import small_programs

LETTERS = "abc"
DISTINCT = (3, 4, 5)
_DTYPES = (torch.float32, torch.int64, torch.bool)

# What is not a function of its inputs' values.
_UNDEFINED = ("empty", "resize", "set_", "bernoulli", "multinomial", "rand",
              "dropout", "normal", "cauchy", "geometric", "exponential", "lowrank",
              "uniform", "rrelu", "alpha_dropout", "fractional_max_pool",
              # Of no rows they give memory as they found it.
              "multi_margin_loss", "multilabel_margin_loss")
# Their kernels trust the places and sizes that they are given, and crash.
_TRUSTING = ("native_batch_norm", "_batch_norm_with_update", "lu_unpack",
             "lu_solve", "ldl_solve", "segment_reduce")


class Call:
    """A call on a sample; some of its tensors' sizes are letters."""

    def __init__(self, name, function, leaves, spec, texts):
        self.name, self.function = name, function
        self.leaves, self.spec, self.texts = leaves, spec, texts

    @property
    def shapes(self):
        return self.texts

    letters = small_programs.Case.letters
    dynamic_shapes = small_programs.Case.dynamic_shapes
    points = small_programs.Case.points

    def inputs(self, sizes):
        tensors = [v for v in self.leaves if isinstance(v, torch.Tensor)]
        return tuple(_filled(t, text, sizes)
                     for t, text in zip(tensors, self.texts))

    def run(self, *tensors):
        given = iter(tensors)
        values = [next(given) if isinstance(v, torch.Tensor) else v
                  for v in self.leaves]
        args, kwargs = pytree.tree_unflatten(values, self.spec)
        result = self.function(*args, **kwargs)
        return result


def _filled(sample, text, sizes):
    shape = [sizes[c] if c.isalpha() else int(c) for c in text.split()]
    flat = sample.detach().reshape(-1)
    count = torch.Size(shape).numel()
    return flat[torch.arange(count) % max(1, len(flat))].reshape(shape)


def _texts(tensors, is_distinct):
    """Sizes from 2 on as letters, as many as there are letters."""
    letter_of, texts = {}, []
    for i, t in enumerate(tensors):
        words = []
        for d, size in enumerate(t.shape):
            key = (i, d) if is_distinct else size
            if size > 1 and key not in letter_of and len(letter_of) < len(
                    LETTERS):
                letter_of[key] = LETTERS[len(letter_of)]
            words.append(letter_of[key] if size > 1 and key in letter_of
                         else str(size))
        texts.append(" ".join(words))
    return tuple(texts)


def _calls(name, function, args, kwargs):
    leaves, spec = pytree.tree_flatten((args, kwargs))
    tensors = [v for v in leaves if isinstance(v, torch.Tensor)]
    if any(t.layout is not torch.strided or t.is_nested or 0 in t.shape
           for t in tensors):
        return
    seen = set()
    for is_distinct in (True, False):
        texts = _texts(tensors, is_distinct)
        call = Call(name, function, leaves, spec, texts)
        if texts in seen or not call.letters:
            continue
        seen.add(texts)
        yield call


def _is_a_function(call):
    """Whether it runs at different sizes, and gives the same again."""
    import small_sizes
    examples = small_sizes.examples_of(call)
    if not examples:
        return False
    outcomes = []
    for seed in (1, 2, 3):
        torch.manual_seed(seed)
        outcomes.append(small_sizes.outcome_of(
            call.run, call.inputs(examples[0])))
    return all(small_sizes.same(other, outcomes[0]) for other in outcomes[1:])


def _first_function(calls, found):
    """The first of them that is a function, with its number in its name."""
    for call in calls:
        if _is_a_function(call):
            call.name += f" {found} ({', '.join(call.texts)})"
            return call
    return None


def _samples(op, most):
    supported = op.supported_dtypes("cpu")
    dtype = next((d for d in _DTYPES if d in supported), None)
    if dtype is None:
        return
    found = 0
    texts = set()

    def is_new(call):
        key = (call.texts, repr([v for v in call.leaves if not isinstance(
            v, torch.Tensor)]))
        is_known = key in texts
        texts.add(key)
        return not is_known

    for sample in op.sample_inputs("cpu", dtype):
        if sample.kwargs.get("dropout_p"):
            continue  # chance decides, if not at every size
        args, kwargs = (sample.input, *sample.args), sample.kwargs
        call = _first_function(filter(is_new, _calls(
            op.name + op.variant_test_name, op.op, args, kwargs)), found)
        if call is not None:
            yield call
            found += 1
        if found >= most:
            return


def programs(names=(), most=3):
    for op in op_samples.op_db():
        if names and op.name not in names:
            continue
        if not names and any(word in op.name for word in _UNDEFINED):
            continue
        if any(word in op.name for word in _TRUSTING):
            continue
        torch.manual_seed(0)
        try:
            yield from _samples(op, most)
        except (RuntimeError, NotImplementedError, TypeError):
            continue  # the sample needs what is not here
    yield from _modules(names, most)


def _modules(names, most):
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        if names and info.name not in names:
            continue
        if not names and any(w in info.name.lower() for w in _UNDEFINED):
            continue
        torch.manual_seed(0)
        found = 0
        for sample in info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False,
                training=False):
            if sample.forward_input is None:
                continue
            made, given = sample.constructor_input, sample.forward_input
            try:
                module = info.module_cls(*made.args, **made.kwargs).eval()
            except Exception:
                continue
            call = _first_function(_calls(
                info.name, module, given.args, given.kwargs), found)
            if call is not None:
                yield call
                found += 1
            if found >= most:
                break
