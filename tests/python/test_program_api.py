"""The API of an exported program, under torch.export's names."""

import collections
import dataclasses
import io
import math
import pickle

import pytest
import torch

import proviso
from proviso import Dim, InputKind, OutputKind, db


class Model(torch.nn.Module):
    """Parameters, buffers of both kinds, a constant, in-place changes."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("scratch", torch.ones(2), persistent=False)

    def forward(self, x, scale: int):
        self.count.add_(1)
        y = torch.relu(self.linear(x)) * scale + self.scratch
        return y + torch.tensor([1.0, 2.0]), self.count * 1


def exported(batch=4):
    return proviso.export(Model(), (torch.randn(batch, 3), 2),
                          dynamic_shapes={"x": {0: Dim("batch")},
                                          "scale": None})


def test_tensors_by_name():
    ep = exported()
    assert [n for n, _ in ep.named_parameters()] == ["linear.weight",
                                                     "linear.bias"]
    assert [n for n, _ in ep.named_buffers()] == ["count", "scratch"]
    assert len(list(ep.parameters())) == 2 and len(list(ep.buffers())) == 2
    assert list(ep.state_dict) == ["linear.weight", "linear.bias", "count"]
    assert "scratch" in ep.constants and "lifted_tensor_0" in ep.constants


def test_signature():
    s = exported().graph_signature
    assert s.parameters == ("linear.weight", "linear.bias")
    assert s.buffers == ("count", "scratch")
    assert s.non_persistent_buffers == ("scratch",)
    assert s.lifted_tensor_constants == ("lifted_tensor_0",)
    assert s.user_inputs == ("x", 2)
    assert s.inputs_to_parameters == {
        "p_linear_weight": "linear.weight", "p_linear_bias": "linear.bias"}
    assert s.inputs_to_buffers == {"b_count": "count", "b_scratch": "scratch"}
    assert len(s.user_outputs) == 2 and s.backward_signature is None
    assert s.buffers_to_mutate == s.user_inputs_to_mutate == {}
    assert s.input_specs[0].kind is InputKind.PARAMETER
    assert ("InputSpec(kind=<InputKind.USER_INPUT: 1>, "
            "arg=ConstantArgument(name='scale', value=2), target=None, "
            "persistent=None)") in repr(s)
    assert "b_count: BUFFER target='count' persistent=True" in str(s)


def test_renaming_a_value():
    s = exported().graph_signature
    old = s.user_outputs[0]
    s.replace_all_uses(old, "fresh")
    assert s.user_outputs[0] == "fresh"
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    out = graph.output(x)
    s.get_replace_hook(replace_inputs=True)(x, "renamed", out)
    assert s.user_inputs[0] == "renamed"
    with pytest.raises(TypeError, match="`new` must be a name, got 3"):
        s.replace_all_uses("renamed", 3)


@pytest.mark.parametrize("make, text", [
    (lambda: proviso.InputSpec(3, proviso.TensorArgument("x"), None),
     "kind must be of InputKind"),
    (lambda: proviso.OutputSpec(OutputKind.USER_OUTPUT, "x", None),
     "arg must be a TensorArgument"),
])
def test_specs_refuse_nonsense(make, text):
    with pytest.raises(TypeError, match=text):
        make()


def test_a_buffer_says_whether_it_persists():
    with pytest.raises(ValueError, match="persistent=True or False"):
        proviso.InputSpec(InputKind.BUFFER, proviso.TensorArgument("b"), "b")


def test_backward_signature_reads_the_outputs():
    tensor = proviso.TensorArgument
    s = proviso.ExportGraphSignature([], [
        proviso.OutputSpec(OutputKind.LOSS_OUTPUT, tensor("loss"), None),
        proviso.OutputSpec(OutputKind.GRADIENT_TO_PARAMETER, tensor("g"),
                           "weight")])
    assert s.backward_signature == proviso.ExportBackwardSignature(
        {"g": "weight"}, {}, "loss")


# --- run_decompositions

def test_decomposed_program_is_functional_and_changes_the_buffer():
    ep = exported()
    core = ep.run_decompositions()
    assert core.dialect == "ATEN"
    core.verify("core")
    assert core.graph_signature.buffers_to_mutate
    assert "BUFFER_MUTATION target='count'" in str(core)
    assert str(core.range_constraints) == str(ep.range_constraints)
    before = core.state_dict["count"].clone()
    x = torch.randn(7, 3)
    y, count = core.module()(x, 2)
    assert torch.equal(core.state_dict["count"], before + 1)
    assert torch.equal(count, before + 1)
    torch.testing.assert_close(y, ep.module()(x, 2)[0])


def test_in_place_operators_are_not_functional():
    with pytest.raises(ValueError, match=r"aten.add_.*writes to its arg"):
        exported().verify("functional")
    with pytest.raises(ValueError, match="no core ATen operator"):
        proviso.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).verify(
            "core")
    with pytest.raises(ValueError, match="no form 'pretty'"):
        exported().verify("pretty")


def test_the_verifier_is_torchs_of_the_dialect():
    ep = exported()
    core = ep.run_decompositions()
    assert (ep.verifier.dialect, core.verifier.dialect) == ("TRAINING", "ATEN")
    assert ep.verifiers == [ep.verifier]
    core.verifier().check(core.to_torch())
    with pytest.raises(Exception, match="add_"):
        core.verifier().check(ep.to_torch())


def test_input_mutation_is_an_output():
    case = db.get("user_input_mutation")
    core = db.run(case).program.run_decompositions()
    assert ("OutputSpec(kind=<OutputKind.USER_INPUT_MUTATION: 6>, "
            "arg=TensorArgument(name='mul'), target='x')") in repr(
                core.graph_signature)
    x = torch.randn(3, 2)
    twice = x * 2
    assert torch.equal(core.module()(x), twice.cos())
    assert torch.equal(x, twice)


class RowsOf(torch.nn.Module):
    def forward(self, x):
        torch._check((x.shape[0] == 4) | (x.shape[0] == 8)
                     | (x.shape[0] % 5 == 0))
        return x.new_ones(x.shape[0]) + x


@pytest.mark.parametrize("module, rows", [
    (RowsOf(), Dim.AUTO), (torch.nn.ReLU(), Dim("m").one_of(4, 8, 15))])
def test_one_of_several_sizes_stays_so_decomposed(module, rows):
    ep = proviso.export(module, (torch.randn(8),),
                        dynamic_shapes=({0: rows},))
    core = ep.run_decompositions()
    assert [str(g.condition) for g in core.guards] == [
        str(g.condition) for g in ep.guards]
    for count in (4, 8, 15):
        x = torch.randn(count)
        assert torch.equal(core.module()(x), module(x))
    with pytest.raises(RuntimeError, match="Guard failed"):
        core.module()(torch.randn(7))


@pytest.mark.parametrize("dtype", [
    torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.complex32])
def test_types_with_few_operators_are_decomposed(dtype):
    class Wide(torch.nn.Module):
        def forward(self, x):
            return x.to(torch.complex64 if x.is_complex() else torch.float32)

    x = torch.ones(5).to(dtype)
    ep = proviso.export(Wide(), (x,), dynamic_shapes=({0: Dim.AUTO},))
    core = ep.run_decompositions()
    for rows in (x, x[:2], x[:0]):
        assert torch.equal(core.module()(rows), Wide()(rows))


def test_an_empty_table_only_makes_it_functional():
    core = exported().run_decompositions({})
    assert "aten.linear.default" in core.operators
    core.verify("functional")


def test_a_custom_decomposition_is_used():
    def double_relu(x):
        return torch.where(x > 0, x, torch.zeros_like(x))

    table = proviso.default_decompositions()
    table[torch.ops.aten.relu.default] = double_relu
    core = exported().run_decompositions(table)
    assert "aten.relu.default" not in core.operators
    assert "aten.where.self" in core.operators


def natively(ep):
    """Decomposed in C++."""
    return proviso.ExportedProgram(
        ep._program.run_decompositions(), ep._inputs, ep._out_spec,
        ep.example_inputs, 0)


@pytest.mark.parametrize("decompose", [
    proviso.ExportedProgram.run_decompositions, natively])
@pytest.mark.parametrize("name", [c.name for c in db.all_cases()])
def test_every_case_decomposed_equals_eager(name, decompose):
    from proviso.db._run import _agree, _refuses

    case = db.get(name)
    torch.manual_seed(0)
    module = case.make()
    ep = proviso.export(module, case.args(), case.kwargs(),
                        dynamic_shapes=case.dynamic_shapes())
    core = decompose(ep)
    core.verify("core")
    result, run = db.Result(case), core.module()
    assert _agree(result, module, run, case.args(), case.kwargs()), (
        result.detail)
    for extra in case.extra():
        assert _agree(result, module, run, extra, {}), result.detail
    for bad in case.refused():
        assert _refuses(result, run, bad), result.detail


# --- files

def test_save_and_load_a_path_and_a_file_object(tmp_path):
    ep = exported()
    buffer = io.BytesIO()
    proviso.save(ep, buffer, extra_files={"notes.txt": "first"})
    buffer.seek(0)
    path = tmp_path / "program.pt2"
    proviso.save(ep, path, extra_files={"notes.txt": "second"})
    x = torch.randn(5, 3)
    for f, text in ((buffer, "first"), (path, "second")):
        extra = {"notes.txt": ""}
        again = proviso.load(f, extra_files=extra)
        assert extra["notes.txt"] in (text, text.encode())
        torch.testing.assert_close(again.module()(x, 2)[0],
                                   ep.module()(x, 2)[0])
        with pytest.raises(ValueError):
            again.module()(x)
        with pytest.raises(RuntimeError, match="Guard failed"):
            again.module()(torch.randn(5, 4), 2)


def test_guards_survive_the_file(tmp_path):
    def f(x, y):
        if x.shape[0] > 4:
            return x[: y.shape[0]] + y
        return x.sum() + y

    auto = {0: Dim.AUTO}
    ep = proviso.export(f, (torch.randn(8), torch.randn(5)),
                        dynamic_shapes=(auto, auto))
    ep.save(tmp_path / "f.pt2")
    run = proviso.load(tmp_path / "f.pt2").module()
    torch.testing.assert_close(run(torch.ones(9), torch.ones(6)),
                               torch.full((6,), 2.0))
    with pytest.raises(RuntimeError, match="Guard failed"):
        run(torch.ones(4), torch.ones(3))


class TimesLength(torch.nn.Module):
    def forward(self, x, text):
        return x * len(text)


@pytest.mark.parametrize("text", ["a\nb", "it's", 'say "a"', "a\\b", "\r"])
def test_a_text_that_torch_cannot_quote_is_not_saved(text, tmp_path):
    ep = proviso.export(TimesLength(), (torch.ones(3), text))
    assert ep.module()(torch.ones(3), text)[0] == len(text)
    for write in (lambda: ep.save(tmp_path / "a.pt2"), ep.run_decompositions):
        with pytest.raises(ValueError, match="the input text is .* no quotes"):
            write()
    assert not (tmp_path / "a.pt2").exists()


@pytest.mark.parametrize("text", ["", "a b", "{k} %s", "\t#", "\u00e9"])
def test_other_texts_are_saved(text, tmp_path):
    proviso.export(TimesLength(), (torch.ones(3), text)).save(
        tmp_path / "a.pt2")
    for load in (proviso.load, torch.export.load):
        run = load(tmp_path / "a.pt2").module()
        assert torch.equal(run(torch.ones(3), text),
                           torch.full((3,), len(text)))


@pytest.mark.parametrize("call, error, text", [
    (lambda p: proviso.save(3, p / "a.pt2"), TypeError, "'ExportedProgram'"),
    (lambda p: proviso.save(exported(), 7), TypeError, "file opened for"),
    (lambda p: proviso.load(7), TypeError, "file opened for reading"),
    (lambda p: proviso.load(p / "none.pt2"), FileNotFoundError, "none.pt2"),
    (lambda p: proviso.save(exported(), p / "a.pt2", extra_files={"a": 1}),
     TypeError, "extra_files maps names to text"),
    (lambda p: proviso.save(exported(), p / "a.pt2",
                            extra_files={"a": b"\xff\xfe"}),
     ValueError, "'a', whose bytes are no UTF-8"),
    (lambda p: proviso.save(exported(), p / "no" / "a.pt2"), RuntimeError,
     "a.pt2"),
])
def test_wrong_files(call, error, text, tmp_path):
    with pytest.raises(error, match=text):
        call(tmp_path)


# --- torch's form

def test_to_torch_compiles():
    ep = proviso.export(torch.nn.Linear(3, 2), (torch.randn(4, 3),),
                        dynamic_shapes=({0: Dim("b")},))
    theirs = ep.to_torch()
    assert isinstance(theirs, torch.export.ExportedProgram)
    run = torch.compile(theirs.module(), backend="eager")
    x = torch.randn(6, 3)
    torch.testing.assert_close(run(x), ep.module()(x))
    assert isinstance(ep.graph, torch.fx.Graph)
    assert ep.call_spec.in_spec.num_leaves == 1
    entry = ep.module_call_graph[0]
    assert entry.fqn == "" and entry.signature.inputs[0].name == "input_1"


class Difference(torch.nn.Module):
    def forward(self, d, *, rest=None):
        return d["a"] - d["b"]["c"] + (0 if rest is None else rest["x"])


@pytest.mark.parametrize("kind", [
    dict, collections.OrderedDict,
    lambda d: collections.defaultdict(int, d)])
def test_a_dict_is_taken_by_its_keys(kind):
    one, two = torch.ones(3), torch.ones(3) * 2
    args = (kind({"a": one, "b": kind({"c": two, "d": one})}),)
    swapped = (kind({"b": kind({"d": one, "c": two}), "a": one}),)
    kwargs = {"rest": kind({"x": one, "y": two})}
    run = proviso.export(Difference(), args, kwargs).module()
    assert run(*swapped, rest=kind({"y": two, "x": one})).tolist() == [0, 0, 0]
    for wrong in (kind({"a": one, "c": kind({"c": two, "d": one})}),
                  kind({"a": one}), [one, kind({"c": two, "d": one})],
                  kind({"a": one, "b": two}),
                  kind({"b": kind({"d": [one], "c": two}), "a": one})):
        with pytest.raises(ValueError, match="nested differently"):
            run(wrong, **kwargs)


def test_a_program_is_not_called_directly():
    with pytest.raises(RuntimeError, match=r"exported_program.module\(\)"):
        exported()(torch.randn(4, 3), 2)


def test_other_names():
    assert isinstance(proviso.export_for_training(
        torch.nn.ReLU(), (torch.ones(2),)), proviso.ExportedProgram)
    assert proviso.WrapperModule(torch.sin)(torch.zeros(1)).item() == 0
    with pytest.raises(RuntimeError, match="name a Dim"):
        proviso.dynamic_dim(torch.ones(2), 0)
    with pytest.raises(TypeError, match="dynamic_shapes"):
        proviso.Constraint()
    meta = proviso.ScriptObjectMeta("c", "a.B")
    assert (meta.constant_name, meta.class_fqn) == ("c", "a.B")


def test_a_registered_dataclass_is_an_input_and_output():
    @dataclasses.dataclass
    class Pair:
        a: torch.Tensor
        b: torch.Tensor

    proviso.register_dataclass(Pair, serialized_type_name="test.Pair")

    def f(p):
        return Pair(p.a + p.b, p.a - p.b)

    run = proviso.export(f, (Pair(torch.ones(2), torch.ones(2)),)).module()
    out = run(Pair(torch.full((2,), 3.0), torch.ones(2)))
    assert isinstance(out, Pair) and out.b.tolist() == [2, 2]


class Strided(torch.nn.Module):
    def forward(self, x):
        return torch.as_strided(x, (2, 2), (1, 2)) + 1


def test_a_loaded_program_is_called_again_from_the_same_line(tmp_path):
    """What looks at its calls asks for the line, each call for itself."""
    x = torch.randn(4, 4)
    proviso.export(Strided(), (x,)).save(tmp_path / "strided.pt2")
    module = proviso.load(tmp_path / "strided.pt2").module()
    for _ in range(3):
        assert torch.equal(module(x), Strided()(x))


Unregistered = collections.namedtuple("Unregistered", "k v")


@pytest.mark.parametrize("program, args, why", [
    (lambda x: x * math.log2(x.shape[1]), (torch.ones(3, 5),), "_sym_log2"),
    (lambda x: (x * 2, "a"), (torch.ones(3, 5),), "returns the string 'a'"),
    (lambda c: c.k * 2, (Unregistered(torch.ones(3), torch.ones(3)),),
     "structure of the inputs cannot be written"),
], ids=["log2", "string", "namedtuple"])
def test_an_error_names_the_call_that_was_made(program, args, why):
    shapes = ((Dim.AUTO, Dim.AUTO),) if why == "_sym_log2" else None
    ep = proviso.export(program, args, dynamic_shapes=shapes)
    for call, name in (
            (ep.run_decompositions, "ExportedProgram.run_decompositions"),
            (lambda: proviso.unflatten(ep), "unflatten"),
            (ep.to_torch, "ExportedProgram.to_torch"),
            (lambda: pickle.dumps(ep), "a copy or pickle")):
        with pytest.raises((RuntimeError, ValueError), match=why) as caught:
            call()
        assert str(caught.value).startswith(name), caught.value
        assert "save: " not in str(caught.value).split("\n")[0]
