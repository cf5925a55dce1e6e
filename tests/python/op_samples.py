"""Every operator of torch on torch's own sample inputs: what the tracer says of
the results beside what eager gives, and what torch says for device=meta.

    python tests/python/op_samples.py           the differences
    python tests/python/op_samples.py --write   docs/operators.md

The samples hold sizes 0 and 1, scalars, broadcasting, permuted tensors.
"""

import collections
import pathlib
import sys
import types
import unittest
import warnings

import torch

import proviso
from proviso import _proviso

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = 12  # an operator; spread over torch's list


def op_db():
    # torch's samples import a helper of its own test suite.
    sys.modules.setdefault("expecttest", types.SimpleNamespace(
        TestCase=unittest.TestCase))
    from torch.testing._internal import common_methods_invocations

    return common_methods_invocations.op_db


# Where torch's own meta function says otherwise than its kernel on the CPU, which
# is what the tracer follows.
META_DIFFERS = {
    "native_batch_norm": "one saved mean without training, where there is none",
    "_native_batch_norm_legit": "the same",
    "nn.functional.max_unpool2d": "contiguous, where the kernel keeps strides",
    "fft.hfft2": "strides as on CUDA",
    "fft.hfftn": "the same",
    "fft.rfft2": "the same",
    "fft.rfftn": "the same",
    "linalg.eig": "rows first, where LAPACK gives columns first",
    "linalg.svd": "the same",
    "svd": "the same",
    "svd_lowrank": "the same",
    "pca_lowrank": "the same",
}

Difference = collections.namedtuple("Difference", "op what sample")


class Result:
    def __init__(self):
        self.differences = []  # Difference
        self.meta_differences = []  # from what device=meta gives
        self.meta_samples = 0
        self.without_rule = collections.defaultdict(set)  # op -> targets
        self.refused = []  # (op, error): an error where eager has none
        self.tested = collections.Counter()  # target -> samples
        self.samples = 0


def tensors_in(value):
    return [t for t in torch.utils._pytree.tree_leaves(value)
            if isinstance(t, torch.Tensor)]


def _fixed(sizes):
    """None for a size that is an expression."""
    return tuple(None if isinstance(n, torch.SymInt) else n for n in sizes)


def _strides(t):
    """Those that matter: of dimensions of more than one element."""
    if 0 in t.shape:
        return ()
    return tuple(s for n, s in zip(t.shape, t.stride()) if n != 1)


def _differences(traced, real):
    if len(traced) != len(real):
        return f"{len(traced)} tensors, eager {len(real)}"
    for (shape, stride, dtype), t in zip(traced, real):
        if dtype != t.dtype:
            return f"dtype {dtype}, eager {t.dtype}"
        if len(shape) != t.dim():
            return f"rank {len(shape)}, eager {t.dim()}"
        static = all(type(n) is int for n in (*shape, *stride))
        for n, m in zip(shape, t.shape):
            if type(n) is int and n != m:
                return f"shape {tuple(shape)}, eager {tuple(t.shape)}"
        if static:
            ours = () if 0 in shape else tuple(
                s for n, s in zip(shape, stride) if n != 1)
            if ours != _strides(t):
                return f"stride {ours}, eager {_strides(t)}"
    return None


def spread(samples, count):
    samples = list(samples)
    if len(samples) <= count:
        return samples
    step = len(samples) / count
    return [samples[int(i * step)] for i in range(count)]


def _on_meta(op, leaves, spec):
    """The results for device=meta, or None where torch has none."""
    values = [torch.empty_strided(v.shape, v.stride(), dtype=v.dtype,
                                  device="meta")
              if isinstance(v, torch.Tensor) else v for v in leaves]
    args = torch.utils._pytree.tree_unflatten(values, spec)
    try:
        return tensors_in(op.op(args[0], *args[1], **args[2]))
    except Exception:
        return None


def check(op, sample, result):
    def run(call):
        return op.op(call.input, *call.args, **call.kwargs)

    leaves, spec = torch.utils._pytree.tree_flatten(
        (sample.input, sample.args, sample.kwargs))
    where = [i for i, v in enumerate(leaves) if isinstance(v, torch.Tensor)]
    if any(leaves[i].layout is not torch.strided or leaves[i].is_nested
           for i in where):
        return  # not traced
    inputs = tuple(leaves[i].detach().clone(
        memory_format=torch.preserve_format) for i in where)
    seen = []

    def program(*tensors):
        values = list(leaves)
        for i, t in zip(where, tensors):
            values[i] = t
        args = torch.utils._pytree.tree_unflatten(values, spec)
        out = op.op(args[0], *args[1], **args[2])
        # A trace's own sizes mean nothing after it, and are not kept.
        seen[:] = [(_fixed(t.shape), _fixed(t.stride()), t.dtype)
                   for t in tensors_in(out)]
        return [t for t in tensors_in(out)]

    with torch.no_grad():
        try:
            values = list(leaves)
            for i, t in zip(where, inputs):
                values[i] = t.clone(memory_format=torch.preserve_format)
            args = torch.utils._pytree.tree_unflatten(values, spec)
            real = tensors_in(op.op(args[0], *args[1], **args[2]))
        except Exception:
            return  # no eager result to compare with
        result.samples += 1
        meta = _on_meta(op, leaves, spec)
        try:
            ep = proviso.export(program, inputs)
        except NotImplementedError as error:
            result.without_rule[op.name].add(str(error).split(" (")[0])
            return
        except Exception as error:
            result.refused.append((op.name, f"{type(error).__name__}: "
                                   f"{str(error).splitlines()[0][:150]}"))
            return
    for target in set(ep.operators):
        result.tested[target] += 1
    shapes = [tuple(t.shape) for t in inputs]
    if problem := _differences(seen, real):
        result.differences.append(Difference(op.name, problem, shapes))
    if meta is None or op.name in META_DIFFERS:
        return
    result.meta_samples += 1
    if problem := _differences(seen, meta):
        result.meta_differences.append(Difference(op.name, problem, shapes))


_DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)


def run_all(names=None, samples=SAMPLES):
    result = Result()
    for op in op_db():
        if names and op.name not in names:
            continue
        supported = op.supported_dtypes("cpu")
        dtype = next((d for d in _DTYPES if d in supported), None)
        if dtype is None:
            continue
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                cases = spread(op.sample_inputs("cpu", dtype), samples)
            except Exception:
                continue
            for sample in cases:
                check(op, sample, result)
    return result


def core_operators():
    """The overloads that PyTorch tags as core ATen."""
    result = []
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if not hasattr(packet, "overloads"):
            continue
        result += [getattr(packet, o) for o in packet.overloads()
                   if torch.Tag.core in getattr(packet, o).tags]
    return sorted(result, key=str)


def rules():
    return dict(_proviso.rules())


def rule_of(overload, table):
    """The family of the rule that answers for it, or how it decomposes."""
    name = overload._schema.name
    key = f"{name}.{overload._schema.overload_name}"
    for candidate in (key, name):
        if candidate in table:
            return table[candidate]
    if torch._C._dispatch_has_kernel_for_dispatch_key(
            overload.name(), "CompositeImplicitAutograd"):
        return "decomposes"
    return None


def table():
    """docs/operators.md"""
    known, result = rules(), run_all(samples=2)
    tested = result.tested
    lines = ["# Operators", "",
             "Written by `python tests/python/op_samples.py --write`.", "",
             "## Core ATen", "",
             "The operators that PyTorch tags as core, the family of the rule "
             "that tells their results, and on how many of torch's sample "
             "inputs the rule was compared with eager (shape, stride, "
             "dtype).", "",
             "| operator | rule | samples |", "|---|---|---|"]
    core = core_operators()
    for op in core:
        lines.append(f"| `{op}` | {rule_of(op, known) or 'none'} | "
                     f"{tested.get(str(op), 0)} |")
    covered = sum(rule_of(op, known) is not None for op in core)
    lines += ["", f"{covered} of {len(core)} have a rule or decompose.", "",
              *other_rules(known)]
    return "\n".join(lines) + "\n"


def other_rules(known):
    return ["## Other rules", "",
            "From Python, an operator without a rule follows torch's own meta "
            "function where that is written in Python.", "",
            "| operator | family |", "|---|---|",
            *(f"| `{name}` | {family} |"
              for name, family in sorted(known.items()))]


def main():
    if "--write" in sys.argv:
        (ROOT / "docs").mkdir(exist_ok=True)
        (ROOT / "docs/operators.md").write_text(table())
        return
    names = set(sys.argv[1:])
    result = run_all(names)
    for d in result.differences:
        print(f"DIFFERS {d.op}: {d.what}  {d.sample}")
    for name, error in sorted(set(result.refused)):
        print(f"REFUSED {name}: {error}")
    for name, errors in sorted(result.without_rule.items()):
        print(f"NO RULE {name}: {'; '.join(sorted(errors))}")
    for d in result.meta_differences:
        print(f"META DIFFERS {d.op}: {d.what}  {d.sample}")
    print(f"{result.samples} samples, {len(result.differences)} differ, "
          f"{result.meta_samples} on device=meta, "
          f"{len(result.meta_differences)} differ, "
          f"{len(result.refused)} refused, {len(result.without_rule)} "
          f"operators without a rule")


if __name__ == "__main__":
    main()
