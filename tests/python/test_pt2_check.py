"""`proviso check`: the guards of a file beside what its operators need."""

import re

import pytest
import torch
from torch import nn
from torch.export import Dim

import proviso
from test_pt2_reading import Archive, built, tool, written  # noqa: F401

AUTO = Dim.AUTO


class Table(nn.Module):
    """A size that a table bounds, and one that two divides."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.randn(16, 4))

    def forward(self, x):
        y = x + self.table[:x.shape[0]].unsqueeze(1)
        return y.view(x.shape[0], -1, 2, 4).sum(2)


class Branch(nn.Module):
    def forward(self, x):
        return x + 1 if x.shape[0] % 3 == 0 else x - 1


class Free(nn.Module):
    def forward(self, x, y):
        return x.relu(), y.sum(0)


D = Dim("d", min=4, max=64)
PROGRAMS = {
    "table": (Table, (torch.randn(8, 6, 4),), ({0: AUTO, 1: AUTO},)),
    "branch": (Branch, (torch.randn(6, 2),), ({0: AUTO},)),
    "promise": (Free, (torch.randn(6), torch.randn(6)),
                ({0: D}, {0: D})),
}


class Even(nn.Module):
    """It asks for what a Dim may promise."""

    def forward(self, x, y):
        return x + 1 if x.shape[0] % 2 == 0 else x - 1


E = Dim("e", min=2)
PROGRAMS["derived"] = (Free, (torch.randn(12), torch.randn(13)),
                       ({0: 2 * E}, {0: 2 * E + 1}))
PROGRAMS["promised branch"] = (Even, (torch.randn(12), torch.randn(5)),
                               ({0: 6 * E}, {0: AUTO}))
PROGRAMS["own branch"] = (Even, (torch.randn(12), torch.randn(5)),
                          ({0: AUTO}, {0: AUTO}))


def made(name, by, path):
    build, inputs, shapes = PROGRAMS[name]
    if by == "proviso":
        proviso.export(build(), inputs, dynamic_shapes=shapes).save(path)
    else:
        torch.export.save(torch.export.export(
            build(), inputs, dynamic_shapes=shapes, strict=False), path)


def findings(path):
    """{kind: [line]}, and whether the file was said to be good."""
    done = tool("check", path)
    assert done.returncode in (0, 1), done.stderr
    found = {}
    for line in done.stdout.splitlines()[:-1]:
        kind, _, text = line.partition(" ")
        found.setdefault(kind, []).append(text.strip())
    return found, done.returncode == 0


def tampered(name, by, change, tmp_path):
    made(name, by, tmp_path / "good.pt2")
    archive = Archive(tmp_path / "good.pt2")
    change(archive.model)
    archive.write(tmp_path / "bad.pt2")
    return findings(tmp_path / "bad.pt2")


BY = pytest.mark.parametrize("by", ["proviso", "torch"])


@BY
def test_every_guard_of_a_good_file_is_needed(by, tmp_path):
    made("table", by, tmp_path / "p.pt2")
    found, good = findings(tmp_path / "p.pt2")
    needless = found.pop("wrong", [])
    # torch guards on more than it needs; each is shown by sizes that run.
    assert good == (not needless) and (by == "torch" or good), found
    assert all(" runs; " in line for line in needless)
    assert set(found) <= {"needed", "implied"}, found
    lines = " ".join(found["needed"])
    assert "<= 16" in lines and "% 2" in lines
    assert "test_pt2_check.py:" in lines  # the line that needs it


# --- remainders: what a Dim promises, and what nobody does

@BY
@pytest.mark.parametrize("name", ["derived", "promised branch"])
def test_a_remainder_that_a_dim_promises_is_no_defect(name, by, tmp_path):
    made(name, by, tmp_path / "p.pt2")
    found, good = findings(tmp_path / "p.pt2")
    assert good and "promised" in found, found
    # Read, and written again, it is promised still.
    proviso.load(tmp_path / "p.pt2").save(tmp_path / "again.pt2")
    found, good = findings(tmp_path / "again.pt2")
    assert good and "promised" in found, found


N = Dim("n")
OURS = proviso.Dim("k")
PROMISES = {  # (sizes of x and y, of which dims), and what is promised
    "min": ((6, 6), (Dim("n", min=3), AUTO), ">= 3"),
    "max": ((6, 6), (Dim("n", max=9), AUTO), "<= 9"),
    "one name": ((6, 6), (N, N), "=="),
    "a multiple": ((6, 7), (2 * N, AUTO), "% 2"),
    "one more": ((6, 7), (N, N + 1), "=="),
    "one less": ((6, 5), (N, N - 1), "=="),
    "one more, alone": ((6, 7), (N + 3, AUTO), ">= 3"),
    "two of one root": ((8, 13), (2 * N, 3 * N + 1), "=="),
    "multiple_of": ((6, 7), (OURS.multiple_of(2), AUTO), "% 2"),
    "of the example": ((6, 7), (OURS.multiple_of(6), AUTO), "% 6"),
    "twice": ((12, 7), (OURS.multiple_of(6).multiple_of(4), AUTO), "% "),
    "in a range": ((6, 7), (proviso.Dim("k", min=3, max=9).multiple_of(3),
                            AUTO), "% 3"),
    "both": ((6, 6), (OURS.multiple_of(2), OURS), "% 2"),
    "twice a multiple": ((6, 12), (OURS.multiple_of(2), 2 * OURS), "% 2"),
    "remainders": ((7, 6), (OURS.remainders(4, 3), AUTO), "% 4"),
}


@pytest.mark.parametrize("kind", PROMISES)
def test_every_kind_of_promise_is_no_defect(kind, tmp_path):
    """Nor is it after torch or we have read the file and written it again."""
    (n, m), (first, second), promised = PROMISES[kind]
    made = proviso.export(Free(), (torch.randn(n), torch.randn(m)),
                          dynamic_shapes=({0: first}, {0: second}))
    path, ours, theirs = (tmp_path / f"{w}.pt2" for w in "pot")
    made.save(path)
    proviso.load(path).save(ours)
    torch.export.save(torch.export.load(path), theirs)
    taken = {(a, b) for a in range(15) for b in range(31)
             if takes(made, a, b)}
    assert (n, m) in taken
    for again in (path, ours, theirs):
        found, good = findings(again)
        assert good, (again, found)
        if again != theirs:  # which states some ranges by its sizes alone
            lines = found.get("promised", []) + found.get("needed", [])
            assert promised in " ".join(lines), found
        read = proviso.load(again)
        assert {(a, b) for a in range(15) for b in range(31)
                if takes(read, a, b)} == taken, again


def takes(program, n, m):
    try:
        program.module().check(torch.randn(n), torch.randn(m))
        return True
    except RuntimeError as error:
        assert "Guard failed" in str(error), error
        return False


def test_a_remainder_that_nobody_promised_is_a_finding(tmp_path):
    made("own branch", "torch", tmp_path / "p.pt2")
    found, good = findings(tmp_path / "p.pt2")
    (line,) = found["wrong"]
    assert not good and "% 2" in line and "the model's own code" in line


def test_our_files_say_whose_a_guard_is(tmp_path):
    """Of a branch, or of a relation that a Dim promises: no defect, in the file
    as it was saved, and read and saved again."""
    made("own branch", "proviso", tmp_path / "branch.pt2")
    proviso.export(
        Free(), (torch.randn(4), torch.randn(7)), dynamic_shapes=(
            {0: OURS.one_of(2, 4, 8)},
            {0: proviso.Dim("m").where("m % 3 != 0")})
    ).save(tmp_path / "dims.pt2")
    asked = {"branch": ("% 2", "return x + 1 if x.shape[0] % 2 == 0"),
             "dims": ("== 4", "k in {2, 4, 8}")}
    for name, (guard, place) in asked.items():
        again = tmp_path / f"{name}.again.pt2"
        proviso.load(tmp_path / f"{name}.pt2").save(again)
        for path in (tmp_path / f"{name}.pt2", again):
            found, good = findings(path)
            assert good and "wrong" not in found, found
            line = " ".join(found["asked"])
            assert guard in line and place in line and "runs" in line
    with pytest.raises(RuntimeError, match="in `return x [+] 1 if"):
        proviso.load(tmp_path / "branch.again.pt2").module()(
            torch.randn(3), torch.randn(5))


@pytest.mark.parametrize("text, said", [
    ("[", "expected a value"), ("[]", "expected "),
    ('{"guards": 3}', "guards: "),
    ('{"guards": [{"guard": "x"}]}', "there is no 'places'"),
    ('{"guards": [{"guard": "x", "places": [{"file": "", "code": "", '
     '"line": -1}]}]}', "line is -1"),
])
def test_places_that_are_none_are_refused(text, said, tmp_path):
    made("own branch", "proviso", tmp_path / "good.pt2")
    archive = Archive(tmp_path / "good.pt2")
    (name,) = [n for n in archive.records if "guards.json" in n]
    archive.records[name] = text.encode()
    archive.write(tmp_path / "bad.pt2")
    done = tool("check", tmp_path / "bad.pt2")
    assert done.returncode == 3, done
    assert "extra/proviso_guards.json" in done.stderr and said in done.stderr
    with pytest.raises(ValueError, match="extra/proviso_guards.json"):
        proviso.load(tmp_path / "bad.pt2")


def test_a_derived_dim_is_held_to_its_promise(tmp_path):
    made("derived", "proviso", tmp_path / "p.pt2")
    ours = proviso.load(tmp_path / "p.pt2").module()
    theirs = torch.export.load(tmp_path / "p.pt2").module()
    for n, m in ((4, 5), (8, 9), (2, 3), (5, 6), (6, 8), (7, 7)):
        inputs = torch.ones(n), torch.ones(m)
        good = n % 2 == 0 and m == n + 1 and n >= 4
        for run in (ours, theirs):
            if good:
                torch.testing.assert_close(run(*inputs)[1], inputs[1].sum(0))
            else:
                with pytest.raises(Exception, match="Guard failed"):
                    run(*inputs)


@BY
def test_a_guard_that_was_removed_is_missing(by, tmp_path):
    def remove(model):
        model["guards_code"] = [g for g in model["guards_code"]
                                if "size()[1]" not in g]

    found, good = tampered("table", by, remove, tmp_path)
    assert not good
    (line,) = found["missing"]
    size = int(re.search(r"for instance .*L\['x'\]\.size\(\)\[1\] = (\d+)",
                         line).group(1))
    assert size % 2 == 1 and "aten." in line  # and who refuses it


@BY
def test_a_range_that_was_widened_is_missing_its_end(by, tmp_path):
    def widen(model):
        for value in model["range_constraints"].values():
            value["max_val"] = 32 if value["max_val"] == 16 else (
                value["max_val"])
        model["guards_code"] = [g for g in model["guards_code"]
                                if "<= 16" not in g]

    found, good = tampered("table", by, widen, tmp_path)
    assert not good
    (line,) = found["missing"]
    size = int(re.search(r"for instance L\['x'\]\.size\(\)\[0\] = (\d+)",
                         line).group(1))
    assert 16 < size <= 32 and "<= 16" in line


@BY
def test_a_range_that_was_narrowed_refuses_sizes_that_run(by, tmp_path):
    def narrow(model):
        for value in model["range_constraints"].values():
            if value["max_val"] == 16:
                value["max_val"] = 9

    found, good = tampered("table", by, narrow, tmp_path)
    assert good or by == "torch"  # a Dim may promise that
    (line,) = [p for p in found["promised"] if "<= 9" in p]
    size = int(re.search(r"no operator needs it: \S+ = (\d+) runs",
                         line).group(1))
    assert 9 < size <= 16


@BY
def test_a_guard_that_no_operator_needs_is_wrong(by, tmp_path):
    def add(model):
        model["guards_code"].append("L['x'].size()[0] % 4 == 0")

    found, good = tampered("table", by, add, tmp_path)
    assert not good
    (line,) = [x for x in found["wrong"] if "% 4" in x]
    size = int(re.search(r"size\(\)\[0\] = (\d+) runs", line).group(1))
    assert size % 4 and size <= 16


@BY
def test_what_a_dim_promises_is_not_wrong(by, tmp_path):
    made("promise", by, tmp_path / "p.pt2")
    found, good = findings(tmp_path / "p.pt2")
    assert good, found
    lines = " ".join(found["promised"])
    assert ">= 4" in lines and "<= 64" in lines and "runs" in lines


def test_a_branch_of_the_model_is_shown_with_sizes_that_run(tmp_path):
    """The graph does not say why: its other branch is gone."""
    made("branch", "torch", tmp_path / "p.pt2")
    found, _ = findings(tmp_path / "p.pt2")
    (line,) = found["wrong"]
    assert "% 3" in line and "right if the model's own code asks" in line


def test_a_graph_that_does_not_take_its_own_example_is_wrong(tmp_path):
    def swap(model):
        for node in model["graph_module"]["graph"]["nodes"]:
            if node["target"].endswith("aten.unsqueeze.default"):
                node["inputs"][1]["arg"]["as_int"] = 0

    found, good = tampered("table", "proviso", swap, tmp_path)
    assert not good
    (line,) = [x for x in found["wrong"] if "example" in x]
    assert "aten.add.Tensor" in line


def test_a_guard_that_is_missing_is_found(tmp_path):
    written("two inputs", "proviso", tmp_path / "p.pt2")
    archive = Archive(tmp_path / "p.pt2")
    assert archive.model["guards_code"]
    archive.model["guards_code"] = []
    archive.write(tmp_path / "same.pt2")
    found, good = findings(tmp_path / "same.pt2")
    assert good and "missing" not in found  # the sizes have one name
    size = archive.graph["tensor_values"]["y"]["sizes"][0]["as_expr"]
    size["expr_str"] = size["expr_str"].replace("s0", "s1")
    archive.write(tmp_path / "bad.pt2")
    found, good = findings(tmp_path / "bad.pt2")
    assert not good and "The size of tensor a" in found["missing"][0]


@BY
def test_sizes_of_one_dim_are_stated_by_their_name(by, tmp_path):
    """No guard says what `x + y` needs: the two sizes are one symbol."""
    class Sum(nn.Module):
        def forward(self, x, y):
            return x + y

    d = Dim("d")
    inputs, shapes = (torch.randn(6), torch.randn(6)), ({0: d}, {0: d})
    if by == "proviso":
        proviso.export(Sum(), inputs, dynamic_shapes=shapes).save(
            tmp_path / "p.pt2")
    else:
        torch.export.save(torch.export.export(
            Sum(), inputs, dynamic_shapes=shapes, strict=False),
            tmp_path / "p.pt2")
    found, good = findings(tmp_path / "p.pt2")
    assert good and "missing" not in found, found
    assert any("L['y'].size()[0]" in line for line in found["needed"])


def test_what_the_program_asserts_is_not_missing(tmp_path):
    """A size as a float is asserted to be exact, by a node of the program."""
    def halved(x):
        return x * (x.shape[0] / 2)

    proviso.export(halved, (torch.randn(6),), dynamic_shapes=({0: AUTO},)
                   ).save(tmp_path / "p.pt2")
    archive = Archive(tmp_path / "p.pt2")
    assert "9007199254740992" in str(archive.graph)
    found, good = findings(tmp_path / "p.pt2")
    assert good and not found.keys() & {"missing", "open"}, found


@pytest.mark.parametrize("predicate", [
    lambda x, y: x.shape[0] > 2, lambda x, y: x.sum() > 0])
def test_both_branches_of_cond_are_looked_at(predicate, tmp_path):
    """The sizes do not tell which one runs: what each needs is needed."""
    class Branches(nn.Module):
        def forward(self, x, y):
            return torch.cond(predicate(x, y),
                              lambda x, y: x + y.reshape(-1)[:1],
                              lambda x, y: x - y.reshape(2, -1)[0, :1],
                              (x, y))

    proviso.export(Branches(), (torch.randn(5), torch.randn(4)),
                   dynamic_shapes=({0: AUTO}, {0: AUTO}),
                   ).save(tmp_path / "p.pt2")
    found, good = findings(tmp_path / "p.pt2")
    assert good and not found.keys() & {"not", "missing", "wrong"}, found
    assert any("% 2" in line for line in found["needed"]), found


def test_what_is_not_traced_to_its_end_is_not_good(tmp_path):
    written("two inputs", "proviso", tmp_path / "p.pt2")
    archive = Archive(tmp_path / "p.pt2")
    node = next(n for n in archive.graph["nodes"]
                if n["target"].endswith("add.Tensor"))
    node["target"] = "torch.ops.aten._standard_gamma_grad.default"
    node["inputs"] = node["inputs"][:2]
    node["inputs"][1]["name"] = "output"
    archive.write(tmp_path / "bad.pt2")
    done = tool("check", "--allow", "aten._standard_gamma_grad",
                tmp_path / "bad.pt2")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "not traced to its end: node" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("the rest is not known")


def test_a_guard_that_follows_from_others_is_found(tmp_path):
    written("two inputs", "proviso", tmp_path / "p.pt2")
    archive = Archive(tmp_path / "p.pt2")
    archive.model["guards_code"] += [
        "L['y'].size()[0]*2 == L['x'].size()[0] + L['y'].size()[0]"]
    archive.write(tmp_path / "more.pt2")
    found, good = findings(tmp_path / "more.pt2")
    assert good and len(found["implied"]) == 1


class Doubled(nn.Module):
    def forward(self, x):
        return torch.cat([x, x])


@pytest.mark.parametrize("said, is_true", [
    ("Mul(Integer(2), {})", True), ("Add({0}, {0})", True),
    ("Mul(Integer(3), {})", False),
    ("Pow({}, Integer(99999))", False), ("LShift({}, Integer(99999))", False),
    ("LShift({}, Integer(18446744073709551616))", False),
    ("Add({}, Pow(Integer(2), Integer(70000)))", False)])
def test_a_size_that_the_file_states_is_computed(said, is_true, tmp_path):
    path = tmp_path / "doubled.pt2"
    proviso.export(Doubled(), (torch.randn(5),), dynamic_shapes=({0: AUTO},)
                   ).save(path)
    archive = Archive(path)
    values = archive.graph["tensor_values"]
    (size,) = values["cat"]["sizes"]
    symbol = values["x"]["sizes"][0]["as_expr"]["expr_str"]
    size["as_expr"]["expr_str"] = said.format(symbol)
    archive.write(path)
    result = tool("check", path)
    assert (result.returncode == 0) == is_true, result.stdout + result.stderr
    assert ("0 defects" in result.stdout) == is_true
