"""Facts as text: what save_context writes, load_context reads."""

import copy
import subprocess
import sys

import pytest
import torch

import proviso
from proviso import Dim


def facts():
    context = proviso.Context()
    context.declare("s0 in [2, 64]")
    context.declare("u0 in [0, int_oo]")
    context.assume("Eq(Mod(s0, 8), 0)")
    context.assume("u0 < s0")
    return context


QUESTIONS = ["Eq(Mod(s0, 4), 0)", "Eq(Mod(s0, 16), 0)", "u0 <= 63", "s0 < 8",
             "u0*s0 >= 0", "Ne(u0, 70)"]


def test_a_context_answers_with_its_facts():
    context = facts()
    yes = context.ask("Eq(Mod(s0, 4), 0)")
    assert yes.verdict == "yes" and yes.facts == ["Eq(Mod(s0, 8), 0)"]
    assert context.ask("s0 < 8").verdict == "no"
    unknown = context.ask("Eq(Mod(s0, 16), 0)")
    assert unknown.verdict == "unknown"
    assert unknown.counterexample["s0"] % 16 == 8
    assert unknown.witness["s0"] % 16 == 0
    assert context.bounds("u0 + 1") == proviso.ValueRange(1, 64)
    assert context.simplify("Mod(s0, 8) + u0") == "u0"


def test_a_loaded_context_answers_alike():
    context = facts()
    text = proviso.save_context(context)
    same = proviso.load_context(text)
    assert proviso.save_context(same) == text
    for question in QUESTIONS:
        assert same.ask(question) == context.ask(question)
    same.assume("s0 >= 64")  # and goes its own way
    assert same.ask("Eq(s0, 64)").verdict == "yes"
    assert context.ask("Eq(s0, 64)").verdict == "unknown"


def program(x, y):
    u = y.sum().item()
    torch._check(u >= 4)
    return x.view(-1, 8)[: x.shape[0] // 8], x.new_zeros(u)


def test_what_a_trace_learnt_is_the_same_in_another_process():
    ep = proviso.export(program, (torch.ones(32), torch.tensor([3, 2])),
                        dynamic_shapes=({0: Dim.AUTO}, None))
    text = proviso.save_context(ep)
    assert "symbol s0 backed_size \"L['x'].size()[0]\"" in text
    done = subprocess.run(
        [sys.executable, "-c",
         "import sys, proviso\n"
         "context = proviso.load_context(sys.stdin.read())\n"
         "print(context.ask('Eq(Mod(s0, 4), 0)').verdict)\n"
         "print(context.bounds('u0'))\n"
         "print(proviso.save_context(context), end='')"],
        input=text, capture_output=True, text=True, check=True)
    assert done.stdout == f"yes\nVR[4, {2**63 - 1}]\n{text}"


@pytest.mark.parametrize("text, error", [
    ("", "line 1, column 1: expected 'proviso context 1'"),
    ("proviso context 3\nend\n", "line 1, column 1"),
    ("proviso context 1\nassume s0 > ( ; \"\" \"\" 0\nend\n",
     "line 2, column 8: parse: "),
    ("proviso context 1\nassume s0 > 1 ; \"\n", "line 2, column 17: a quoted"),
    ("proviso context 1\n" + "\0" * 100000, "line 2, column 1"),
])
def test_other_text_is_refused_with_its_place(text, error):
    with pytest.raises(proviso.Error, match="load_context: " + error):
        proviso.load_context(text)


def test_a_text_raises_no_cost_above_what_its_loader_allows():
    for name in ("work_limit", "limit.facts_work", "limit.compound_work"):
        default = proviso.Context().options().get(
            name, 1_600_000 if "compound" in name else 2000)
        context = proviso.Context(**{name: 2 * default})
        text = proviso.save_context(context)
        for most in {}, {name: 2 * default - 1}:
            with pytest.raises(proviso.Error, match=f"may raise {name} to"):
                proviso.load_context(text, **most)
        same = proviso.load_context(text, **{name: 2 * default})
        assert same.options() == context.options()
        # A pickle is as trusted as any.
        assert copy.deepcopy(context).options() == context.options()
    with pytest.raises(proviso.Error, match="load_context: no option 'w'"):
        proviso.load_context(text, w=1)


def test_what_is_no_context_is_refused():
    with pytest.raises(TypeError, match="save_context: expected a Context or"):
        proviso.save_context("s0 > 1")
    with pytest.raises(TypeError, match="load_context: text is b'prov"):
        proviso.load_context(b"proviso context 1")
    with pytest.raises(proviso.Error, match="parse: "):
        facts().ask("s0 >")
    with pytest.raises(proviso.Error, match="bounds: expected an integer"):
        facts().bounds("s0 > 1")
