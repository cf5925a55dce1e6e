"""`proviso.diagnose` and `proviso.explain` around real PyTorch."""

import json

import pytest
import torch

import proviso


class Mean(torch.nn.Module):
    def forward(self, x, m):
        y = x[m]
        n = y.shape[0]
        if n % 4 != 0:
            y = y[: n - n % 4]
        return y.view(-1, 4).sum(1)


class Refuses(torch.nn.Module):
    def forward(self, x, m):
        n = m.sum().item()
        if n != x.shape[0]:
            raise ValueError("differ")
        return x * n


class Norm(torch.nn.Module):
    def forward(self, x, m):
        y = x[m].reshape(-1, 6)
        return torch.nn.functional.batch_norm(
            y, torch.zeros(6), torch.ones(6), training=False)


DYNAMIC = torch.export.Dim.DYNAMIC
MASKED = (torch.randn(12, 6), torch.arange(12) < 8)


def answer_of(model, args, shapes, **options):
    with proviso.diagnose(swallow=True) as found:
        torch.export.export(model, args, dynamic_shapes=shapes, **options)
    (error,) = found.report.errors
    return error


@pytest.mark.parametrize("strict", [False, True])
def test_a_missing_promise_is_said_in_the_programs_words(strict):
    args = (torch.randn(8, 3), torch.ones(8, dtype=torch.bool))
    error = answer_of(Refuses(), args, ({0: DYNAMIC}, None), strict=strict)
    assert error.kind == "needed_check"
    assert error.code == ["torch._check(n == x.shape[0])"]
    assert error.file == __file__
    assert "if n != x.shape[0]" in open(__file__).read().split("\n")[
        error.line - 1]


def test_the_check_ends_the_error():
    error = answer_of(Mean(), (torch.randn(12), MASKED[1]), ({0: DYNAMIC},) * 2,
                      strict=False)
    assert error.conditions == ["Eq(Mod(u0, 4), 0)"]
    source = open(__file__).read().split("\n")
    line = source[error.line - 1]
    indent = line[: len(line) - len(line.lstrip())]
    start = source.index("class Mean(torch.nn.Module):")
    body = source[start: error.line - 1] + [indent + error.code[0]]
    rest = source[error.line - 1:]
    body += rest[: rest.index("")]
    space = {"torch": torch}
    exec("\n".join(body), space)
    torch.export.export(space["Mean"](), (torch.randn(12), MASKED[1]),
                        dynamic_shapes=({0: DYNAMIC},) * 2, strict=False)


def test_an_operators_question_is_a_needed_check():
    error = answer_of(Norm(), MASKED, ({0: DYNAMIC},) * 2, strict=False)
    assert error.kind == "needed_check"
    assert error.conditions == ["u0 >= 1"]


def test_the_error_is_raised_again_with_the_report():
    with pytest.raises(Exception) as caught:
        with proviso.diagnose():
            torch.export.export(Norm(), MASKED, strict=False,
                                dynamic_shapes=({0: DYNAMIC},) * 2)
    report = caught.value.proviso_report
    assert report.errors[0].kind == "needed_check"
    assert str(report) in "".join(getattr(caught.value, "__notes__", [""]))
    assert proviso.explain(caught.value) is report


def test_torch_compile_is_answered():
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(Refuses(), backend="eager", fullgraph=True,
                                 dynamic=True)
        with proviso.diagnose(swallow=True) as found:
            compiled(torch.randn(8, 3), torch.ones(8, dtype=torch.bool))
    (error,) = found.report.errors
    assert error.code == ["torch._check(n == x.shape[0])"]


def test_a_broken_spec_is_one():
    class Fixed(torch.nn.Module):
        def forward(self, x):
            return x + torch.ones(8)

    error = answer_of(Fixed(), (torch.randn(8),),
                      ({0: torch.export.Dim("batch")},))
    assert error.kind == "dim_spec"
    assert error.conditions == ["Eq(batch, 8)"]


def test_draft_export_is_explained():
    program = torch.export.draft_export(
        Mean(), (torch.randn(12), MASKED[1]), dynamic_shapes=({0: DYNAMIC},) * 2)
    errors = proviso.explain(program).errors
    assert [e.conditions for e in errors][0] == ["Eq(Mod(u0, 4), 0)"]


def test_other_errors_pass_as_they_are():
    with pytest.raises(KeyError) as caught:
        with proviso.diagnose():
            {}["x"]
    assert not hasattr(caught.value, "proviso_report")


def test_nothing_is_left_behind():
    shapes = torch.fx.experimental.symbolic_shapes.ShapeEnv
    before = shapes._make_data_dependent_error
    with proviso.diagnose():
        pass
    assert shapes._make_data_dependent_error is before


def test_a_report_is_text_json_and_a_page():
    report = proviso.explain(
        "Could not guard on data-dependent expression Eq(u0, 1) (unhinted: "
        "Eq(u0, 1)).  (Size-like symbols: u0)\n")
    assert "u0 != 1" in str(report) or "Ne(u0, 1)" in str(report)
    assert json.loads(report.to_json())["errors"][0]["kind"] == "needed_check"
    assert report.to_html().startswith("<!doctype html>")
    assert report._repr_html_().startswith("<iframe srcdoc=")
    assert proviso.explain("nothing").errors == []


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(TypeError, match="proviso.explain: expected a text"):
        proviso.explain(3)
