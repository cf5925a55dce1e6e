"""Bad input: each error names the call, the argument, the value, the way out;
and the process goes on."""

import pytest
import torch

import proviso
from proviso import Dim, _tracer


def double(x):
    return x * 2


X = torch.ones(4, 4)


def export_ok():
    ep = proviso.export(double, (X,), dynamic_shapes={"x": {0: Dim.AUTO}})
    assert torch.equal(ep.module()(torch.ones(7, 4)), torch.ones(7, 4) * 2)


@pytest.fixture(autouse=True)
def process_goes_on():
    yield
    export_ok()


@pytest.mark.parametrize("spec, error, text", [
    ({"y": None}, ValueError, r"arg names \['x'\] of `inputs`, but here they "
                              r"are \['y'\]"),
    ({"x": (Dim.AUTO,)}, ValueError,
     r"at `dynamic_shapes\['x'\]` to have the same length as the actual tensor "
     r"shape .*\(expected 2, but got 1 instead\)"),
    ({"x": ("a", None)}, ValueError,
     r"Unexpected dimension #0 in input tensor shape .*but got 'a' instead"),
    ({"x": {0: 1.5}}, ValueError, r"Unexpected dimension mapped to index 0"),
    ({"x": {2: Dim.AUTO}}, ValueError, r"mapped to index 2.*shape \(4, 4\)"),
    ({"x": Dim.AUTO}, ValueError, r"Unexpected input tensor shape"),
    (({0: Dim.AUTO}, None), ValueError, r"has 2 entries for 1 inputs"),
    ("x", TypeError, r"must be a dict, a tuple or a list, got str"),
    ({"x": {1: 5}}, proviso.ConstraintViolationError,
     r"Static shape constraint of 5 does not match input size of 4, for "
     r"L\['x'\].size\(\)\[1\]"),
    ({"x": {0: Dim("dx", min=5, max=9)}}, proviso.ConstraintViolationError,
     r"4 not in range \[5, 9\]"),
    ({"x": {0: 3 * Dim("dx")}}, proviso.ConstraintViolationError,
     r"Expected L\['x'\].size\(\)\[0\] = 4 to be of the form 3\*dx, where dx is "
     r"an integer"),
    ({"x": {0: Dim("dx"), 1: 2 * Dim("dx")}}, proviso.ConstraintViolationError,
     r"Expected input L\['x'\].size\(\)\[1\] to be equal to 2\*dx, where dx = 4, "
     r"but got 4"),
    ({"x": {0: Dim("dx", min=1) - 3}}, ValueError,
     r"the least size of dx - 3 is -2 .*give dx a greater min"),
])
def test_a_malformed_spec_is_refused_with_its_path(spec, error, text):
    with pytest.raises(error, match=text):
        proviso.export(double, (X,), dynamic_shapes=spec)


def test_a_spec_for_a_value_without_dimensions_is_refused():
    def scaled(x, factor):
        return x * factor

    with pytest.raises(ValueError, match="Cannot associate shape .* non-tensor "
                                         "type <class 'float'>"):
        proviso.export(scaled, (X, 0.5), dynamic_shapes=(None, (Dim.AUTO,)))
    with pytest.raises(ValueError, match="Unable to specify input integers as "
                                         "dynamic through named Dims"):
        proviso.export(scaled, (X, 3), dynamic_shapes=(None, Dim("n")))


def test_nested_specs_are_refused_with_their_path():
    def nested(inputs):
        return inputs["a"][0] + 1

    inputs = {"a": [X], "b": X}
    with pytest.raises(ValueError, match=r"dynamic_shapes\['inputs'\]\['a'\]"):
        proviso.export(nested, (inputs,),
                       dynamic_shapes=({"a": [None, None], "b": None},))
    with pytest.raises(ValueError, match=r"has the keys \['a'\]"):
        proviso.export(nested, (inputs,), dynamic_shapes=({"a": [None]},))

    def variadic(*xs):
        return xs[0] + 1

    with pytest.raises(ValueError, match=r"`dynamic_shapes\['xs'\]` is .* has 1 "
                                         "items; give a tuple"):
        proviso.export(variadic, (X,), dynamic_shapes=({"0th": Dim("n")},))


def test_one_name_has_one_range():
    def add(x, y):
        return x + y.sum()

    spec = ({0: Dim("dx", max=20)}, {0: Dim("dx", max=30)})
    with pytest.raises(RuntimeError, match="Found different definitions"):
        proviso.export(add, (X, X), dynamic_shapes=spec)


def test_one_name_is_one_size():
    def add(x, y):
        return x.sum() + y.sum()

    dx = Dim("dx")
    with pytest.raises(RuntimeError, match="11 is not equal to .* = 10"):
        proviso.export(add, (torch.ones(10), torch.ones(11)),
                       dynamic_shapes=({0: dx}, {0: dx}))


def test_dims_refuse_what_torch_refuses():
    with pytest.raises(AssertionError, match="inconsistent min=5, max=5"):
        Dim("d", min=5, max=5)
    with pytest.raises(AssertionError, match="valid identifier"):
        Dim("not a name")
    with pytest.raises(NotImplementedError, match="positive integer"):
        Dim("d") * 0
    with pytest.raises(NotImplementedError, match="Attempted to negate d"):
        0 - Dim("d")
    with pytest.raises(TypeError, match="has its range already"):
        Dim.AUTO(min=2)(max=3)


@pytest.mark.parametrize("call, error, text", [
    (lambda: proviso.export(double, (X,), strict=True), ValueError,
     "strict=True is not supported"),
    (lambda: proviso.export(double, X), TypeError,
     r"Expecting `args` to be a tuple .* \(x,\)"),
    (lambda: proviso.export(double, (X,), [1]), TypeError,
     "Expecting `kwargs` to be a dict"),
    (lambda: proviso.export(3, (X,)), TypeError,
     "Expected `mod` to be an nn.Module, a function or a bound method"),
    (lambda: proviso.export(torch.nn.Linear, (X,)), TypeError,
     "Expected `mod` to be"),
    (lambda: proviso.export(double, (X, X)), TypeError, "do not fit"),
    (lambda: proviso.export(double, (object(),)), TypeError,
     r"`inputs\['x'\]` is of type .*register_pytree_node"),
    (lambda: proviso.export(lambda x: object(), (X,)), TypeError,
     "output 0 is of type .*object"),
    (lambda: proviso.export(double, (X,),
                            preserve_module_call_signature=("a",)),
     ValueError, "preserve_module_call_signature: the program has no "),
])
def test_a_malformed_call_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def branch_on_data(x):
    if x.sum() > 0:
        return x
    return -x


def test_a_branch_on_data_names_its_line():
    with pytest.raises(proviso.DataDependentError) as caught:
        proviso.export(branch_on_data, (X,))
    text = str(caught.value)
    assert text.startswith("Could not guard on data-dependent expression")
    assert "if x.sum() > 0:" in text
    assert "test_errors.py" in text


def count_of_data(x):
    return torch.zeros(range(x.sum()))


def test_a_count_of_data_names_its_line():
    with pytest.raises(proviso.DataDependentError) as caught:
        proviso.export(count_of_data, (torch.ones(2, dtype=torch.int64),))
    text = str(caught.value)
    assert "Could not extract specialized integer" in text
    assert "range(x.sum())" in text


def test_an_operator_without_a_rule_is_named():
    def draw(x):
        return torch.binomial(x, x)

    with pytest.raises(NotImplementedError, match="aten::binomial"):
        proviso.export(draw, (torch.rand(3),))


@pytest.mark.parametrize("layout", [torch._mkldnn, torch.sparse_coo])
def test_a_tensor_of_another_layout_is_refused(layout):
    # Eager's sum of it and a strided tensor raises.
    def program(x):
        return x + torch.zeros(3, layout=layout)

    with pytest.raises(NotImplementedError, match="cannot be traced; leave"):
        proviso.export(program, (torch.ones(3),))


def test_derivatives_are_refused_by_name():
    def backward(x):
        x.requires_grad_().sum().backward()
        return x.grad

    with pytest.raises(NotImplementedError, match="Tensor.backward cannot be"):
        proviso.export(backward, (torch.ones(4),))

    def grad(x):
        return torch.autograd.grad(x.requires_grad_().sum(), [x])

    with pytest.raises(NotImplementedError, match="torch.autograd.grad cannot"):
        proviso.export(grad, (torch.ones(4),))


def test_the_programs_own_errors_pass_through():
    def wrong(x):
        return x.view(3, -1)

    with pytest.raises(RuntimeError, match="shape"):
        proviso.export(wrong, (X,))

    def custom(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        proviso.export(custom, (X,))


def test_the_environment_is_restored_after_an_error():
    before = (torch.tensor, torch.cond, torch.Tensor.tolist,
              torch.compiler.is_exporting(), torch.compiler.is_compiling())
    with pytest.raises(proviso.DataDependentError):
        proviso.export(branch_on_data, (X,))
    assert before == (torch.tensor, torch.cond, torch.Tensor.tolist,
                      torch.compiler.is_exporting(),
                      torch.compiler.is_compiling())
    assert torch.ones(2).tolist() == [1.0, 1.0]


def test_a_traced_tensor_kept_as_an_attribute_is_warned_of_and_removed():
    class Keeper(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.last = None

        def forward(self, x):
            self.last = x + 1
            return self.last

    keeper = Keeper()
    with pytest.warns(UserWarning, match=r"self.last was assigned during"):
        proviso.export(keeper, (X,))
    assert keeper.last is None


@pytest.mark.parametrize("path", ["/no/such/folder/a.pt2", "/proc/a.pt2", ""])
def test_a_path_that_cannot_be_written_is_named(path):
    ep = proviso.export(double, (X,))
    with pytest.raises(RuntimeError, match=f"ExportedProgram::save.*{path}"):
        ep.save(path)
    with pytest.raises(TypeError, match="give a str, a Path, or a file"):
        ep.save(3)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    def text(x):
        return x, "label"

    path = tmp_path / "a.pt2"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="returns the string 'label'"):
        proviso.export(text, (X,)).save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_another_torch_is_refused_by_both_versions():
    with pytest.raises(ImportError, match=r"torch 2\.13\.0.*torch 2\.12\.1"):
        _tracer._check_torch_version("2.12.1+cu128")
    _tracer._check_torch_version("2.13.0+cpu")


def refused(ep, *args, match):
    with pytest.raises(Exception, match=match):
        ep.module()(*args)


def test_inputs_outside_the_promise_are_refused():
    def add(x, y):
        return x + y

    ep = proviso.export(add, (torch.ones(4, 3), torch.ones(4, 3)),
                        dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))
    refused(ep, torch.ones(5, 3), torch.ones(4, 3), match=r"size\(\)\[0\]")
    refused(ep, torch.ones(4, 2), torch.ones(4, 2), match=r"size\(\)\[1\]")
    refused(ep, torch.ones(4, 3, 1), torch.ones(4, 3), match="x")
    refused(ep, torch.ones(4, 3).double(), torch.ones(4, 3), match="x")
    refused(ep, torch.ones(4, 3), match="nested differently")
    refused(ep, torch.ones(4, 3), 3, match="y")


# --- an operator without a rule

@torch.library.custom_op("proviso_test::plus_one", mutates_args=())
def plus_one(x: torch.Tensor) -> torch.Tensor:
    return torch._foreach_add([x], 1)[0]


@plus_one.register_fake
def _(x):
    return torch.empty_like(x)


def test_an_operator_without_a_rule_says_what_a_program_may_do():
    rows = {"x": {0: Dim.AUTO}}
    with pytest.raises(NotImplementedError,
                       match="_pack_padded_sequence.*"
                             "torch.library.custom_op, register_fake"):
        proviso.export(lambda x: torch._pack_padded_sequence(
            x[None], torch.tensor([x.shape[0]]), True)[0], (X,),
            dynamic_shapes=rows)
    module = proviso.export(lambda x: plus_one(x), (X,),
                            dynamic_shapes=rows).module()
    assert torch.equal(module(torch.ones(7, 4)), torch.ones(7, 4) + 1)
