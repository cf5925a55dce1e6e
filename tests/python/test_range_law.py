"""What a program refuses, none of its forms takes: see range_law.py, which also
goes over ExportDB, random programs and every export of other tests."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn

import proviso
from proviso import Dim
import range_law
from range_law import CASES, Outcome, examine

AUTO = Dim.AUTO


def forms_for(name):
    """The first two and two others in turn: each form has its programs."""
    i = list(CASES).index(name)
    rest = range_law.OURS[2:]
    return (*range_law.OURS[:2],
            *(rest[(2 * i + k) % len(rest)] for k in (0, 1)))


@pytest.mark.parametrize("name", CASES)
def test_no_form_takes_what_the_program_refuses(name):
    _, ep, options = range_law._exported(name, *CASES[name])
    outcome = Outcome()
    examine(name, ep, options, outcome, ours=forms_for(name),
            others=(range_law.OTHERS[0], range_law.OTHERS[2]), most=40)
    assert outcome.refused and outcome.refused < outcome.points
    assert not outcome.failures() and not outcome.unmade, (
        outcome.failures()[:3], outcome.unmade[:3])


# --- torch's own files

def _in_memory(save, program):
    buffer = io.BytesIO()
    save(program, buffer)
    buffer.seek(0)
    return buffer


class Cropped(nn.Module):
    def forward(self, x, n):
        if x.shape[1] > 16:
            x = x[:, -16:]
        return x * n


class Both(nn.Module):
    def forward(self, x, y):
        return x.sum() + y.sum()


H = torch.export.Dim("h", min=3)
T = torch.export.Dim
OF_TORCH = {
    "ranges": (Cropped, (torch.randn(4, 8), 7),
               ({0: T("b", min=4), 1: T("t", max=16)},
                T.DYNAMIC(min=3, max=50))),
    "derived": (Both, (torch.randn(12), torch.randn(13)),
                ({0: 2 * H}, {0: 2 * H + 1})),
    "with its root": (Both, (torch.randn(6), torch.randn(13)),
                      ({0: H}, {0: 2 * H + 1})),
    "one Dim": (Both, (torch.randn(6), torch.randn(6)), ({0: H}, {0: H})),
    "static": (Both, (torch.randn(6), torch.randn(6)), ({0: T.AUTO}, None)),
}


@pytest.mark.parametrize("name", OF_TORCH)
def test_a_file_of_torch_is_held_to_what_it_says(name):
    build, args, shapes = OF_TORCH[name]
    theirs = torch.export.export(build(), args, dynamic_shapes=shapes,
                                 strict=False)
    base = theirs.module()
    ours = proviso.load(_in_memory(torch.export.save, theirs))
    runs = [ours.module(), range_law._loaded(ours, {}), proviso.unflatten(ours)]
    refused = taken = 0
    for point in range_law.points(ours):
        inputs, _ = range_law.inputs_at(ours, point)
        if _runs(base, inputs):
            taken += 1
            assert all(_runs(run, inputs) for run in runs), point
        else:
            refused += 1
            assert not any(_runs(run, inputs) for run in runs), point
    assert refused and taken


def _runs(run, inputs):
    return range_law._result(run, inputs, {})[0]


# --- copies

class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        return self.linear(x) * self.count


def counted():
    return proviso.export(Counted(), (torch.randn(4, 3),),
                          dynamic_shapes={"x": {0: Dim("b", max=9)}})


@pytest.mark.parametrize("made", [
    copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_a_copy_has_tensors_of_its_own(made):
    ep = counted()
    other = made(ep)
    assert str(other.range_constraints) == str(ep.range_constraints)
    x = torch.ones(2, 3)
    torch.testing.assert_close(ep.module()(x), other.module()(x))
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    assert other.module()(x).abs().sum() == 0 < ep.module()(x).abs().sum()
    assert ep.state_dict["count"] == 2 == other.state_dict["count"]
    assert isinstance(other.state_dict["linear.weight"], nn.Parameter)
    run = made(ep.module())
    with pytest.raises(RuntimeError, match=r"x.size\(\)\[0\] <= 9"):
        run(torch.ones(10, 3))


def test_a_shallow_copy_shares_its_tensors():
    ep = counted()
    other = copy.copy(ep)
    assert other.state_dict["count"] is ep.state_dict["count"]
    assert copy.copy(ep.module()).program is not None


def test_a_program_exported_again_keeps_its_tensors_by_name():
    ep = counted()
    again = proviso.export(ep.module(), (torch.randn(4, 3),),
                           dynamic_shapes={"x": {0: AUTO}})
    assert again.graph_signature.parameters == ep.graph_signature.parameters
    assert again.graph_signature.buffers == ep.graph_signature.buffers
    assert str(again.range_constraints) == "{s0: VR[0, 9]}"
    again.module()(torch.ones(3, 3)).sum().backward()
    assert ep.state_dict["linear.weight"].grad is not None


def test_a_wider_promise_than_the_program_takes_is_refused():
    with pytest.raises(proviso.ConstraintViolationError, match="max=9"):
        proviso.export(counted().module(), (torch.randn(4, 3),),
                       dynamic_shapes={"x": {0: Dim("b")}})


# --- what torch reads of ours

def test_torch_checks_the_ends_that_it_does_not_know(tmp_path):
    """A lower end of 1 or 2, and any of an integer, is among the guards."""
    def shifted(x, n):
        return x + n if n < -3 else x - n

    ep = proviso.export(shifted, (torch.randn(6), -7), dynamic_shapes={
        "x": {0: Dim("b", min=2)}, "n": AUTO})
    ep.save(tmp_path / "p.pt2")
    theirs = torch.export.load(tmp_path / "p.pt2")
    assert "L['x'].size()[0] >= 2" in theirs._guards_code
    run = theirs.module()
    assert run(torch.ones(2), -4).shape == (2,)
    for bad in ((torch.ones(1), -4), (torch.ones(2), -3)):
        with pytest.raises(AssertionError, match="Guard failed"):
            run(*bad)


def test_a_guard_in_a_file_is_read_and_never_run(tmp_path):
    from test_pt2_reading import Archive

    ep = proviso.export(lambda x: x * 2, (torch.randn(6),),
                        dynamic_shapes=({0: AUTO},))
    ep.save(tmp_path / "p.pt2")
    archive = Archive(tmp_path / "p.pt2")
    archive.model["guards_code"] = [
        f"__import__('os').mkdir({str(tmp_path / 'made')!r})"]
    archive.write(tmp_path / "bad.pt2")
    for trusted, text in ((False, "not arithmetic"), (True, "cannot be kept")):
        with pytest.raises(ValueError, match=text):
            proviso.load(tmp_path / "bad.pt2", trusted=trusted)
    assert not (tmp_path / "made").exists()
