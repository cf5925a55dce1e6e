"""The programs of ExportDB beside torch.export, text by text: the printed graph,
the kinds of inputs and outputs, the ranges.  What differs:

case                    here                        and why
assume_constant_result  slice(x, 0, 0, item), no    the slice's beginning is
                        check of the slice's size   written out; a kernel's
                                                    result needs no check; no
                                                    _assert_tensor_metadata
cond_operands           s0 >= 3 for s0 > 2          one form for integers
decorator               no "No stacktrace found"    every node has its line
dynamic_shape_round     exports                     torch.export refuses it

Symbols (s77 here s0) and the numbers of names (ge_1 here ge) are torch's
counters, and are numbered anew on both sides.
"""

import collections
import copy
import re

import pytest
import torch
from torch._export.db.examples import all_examples

import proviso

CASES = all_examples()
SLICE = 'slice_1: "f32[u1, 2]" = torch.ops.aten.slice.Tensor(x, 0, {}, item)'
EXPLAINED = {  # lines of torch.export alone, lines of ours alone
    "assume_constant_result": (
        ["_assert_tensor_metadata", SLICE.format(None), "sym_size_int: ",
         'ge: "Sym(u1 >= 0)"', "_assert_scalar_default = ",
         'le: "Sym(u1 <= 3)"', "_assert_scalar_default_1 = "],
        [SLICE.format(0)]),
    "cond_operands": (
        ['gt: "Sym(s0 > 2)"', "cond = torch.ops.higher_order.cond(gt,"],
        ['ge: "Sym(s0 >= 3)"', "cond = torch.ops.higher_order.cond(ge,"]),
    "decorator": (["# No stacktrace found"], []),
}


def export(exporter, case):
    return exporter(case.model, copy.deepcopy(case.example_args),
                    copy.deepcopy(case.example_kwargs), strict=False,
                    dynamic_shapes=case.dynamic_shapes)


def renumbered(text, pattern):
    """The same text with 0, 1, .. for the numbers after each word."""
    new, counts = {}, collections.Counter()

    def number(match):
        if match.group() not in new:
            new[match.group()] = counts[match.group(1)]
            counts[match.group(1)] += 1
        return f"{match.group(1)}{new[match.group()]}"

    return re.sub(pattern, number, text)


def canonical(text):
    text = renumbered(text, r"\b([su])\d+\b")
    # sym_size_int_1 where there is no sym_size_int, and the like
    text = renumbered(text, r"\b((?:ge|le|gt|sym_size_int)(?=_|\b))(?:_\d+)?\b")
    return re.sub(r"\b(ge|le|gt|sym_size_int)0\b", r"\1", text)


def lines(ep):
    graph = re.sub(r" *# File.*\n", "", str(ep)).split("Graph signature:")[0]
    return [line.strip() for line in canonical(graph).splitlines()
            if line.strip()]


def kinds(ep):
    signature = ep.graph_signature
    return [spec.kind.name
            for spec in (*signature.input_specs, *signature.output_specs)]


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_text_is_torchs(name):
    ours = export(proviso.export, CASES[name])
    if name == "dynamic_shape_round":
        with pytest.raises(torch._dynamo.exc.UserError):
            export(torch.export.export, CASES[name])
        return
    theirs = export(torch.export.export, CASES[name])
    assert kinds(ours) == kinds(theirs)
    assert canonical(repr(ours.range_constraints)) == canonical(
        repr(theirs.range_constraints))
    a, b = lines(theirs), lines(ours)
    for side, other, known in zip((a, b), (b, a), EXPLAINED.get(name, ([], []))):
        alone = [line for line in side if line not in other]
        assert len(alone) == len(known), alone
        for line, start in zip(alone, known):
            assert line.startswith(start), line
    if name not in EXPLAINED:
        assert a == b
