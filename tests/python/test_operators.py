"""The rules of operators against eager, on torch's own sample inputs."""

import contextlib
import itertools
import subprocess

import op_samples
import pytest
import torch
from eager_at_sizes import MATRIX, ROWS, compare_at
from readers import COMMAND
from torch.utils._python_dispatch import TorchDispatchMode

import proviso


def test_core_aten_is_covered():
    table = op_samples.rules()
    missing = [str(op) for op in op_samples.core_operators()
               if op_samples.rule_of(op, table) is None]
    assert missing == []


def _core_names():
    names = {op._schema.name.split("::")[1].strip("_")
             for op in op_samples.core_operators()}
    return {op.name for op in op_samples.op_db()
            if op.aten_name.strip("_") in names or op.name in names}


def test_results_agree_with_eager():
    result = op_samples.run_all(_core_names(), samples=2)
    assert result.samples > 150
    assert result.differences == []
    assert result.meta_samples > 150
    assert result.meta_differences == []
    assert not any(f"aten::{op}" in text for op in ("add", "cat", "view")
                   for texts in result.without_rule.values()
                   for text in texts)


def assert_as_eager(result):
    assert result.differences == [] and result.refused == []
    assert result.without_rule == {} and result.meta_differences == []


def assert_all_have_rules(result):
    assert_as_eager(result)
    rules = op_samples.rules()
    for target in result.tested:
        _, name, overload = target.split(".")
        assert op_samples.rule_of(getattr(getattr(aten, name), overload),
                                  rules), target


def test_factors_of_matrices_keep_lapacks_columns():
    result = op_samples.run_all(
        {"linalg.cholesky_ex", "linalg.det", "linalg.eig", "linalg.eigh",
         "linalg.inv", "linalg.lu_factor", "linalg.pinv", "linalg.qr",
         "linalg.slogdet", "linalg.solve", "linalg.solve_triangular",
         "linalg.svd", "linalg.svdvals", "cholesky_solve"}, samples=6)
    assert result.samples > 70
    assert_as_eager(result)


def test_what_is_called_rarely():
    names = {"_batch_norm_with_update", "_segment_reduce",
             "linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.ldl_solve",
             "linalg.lu", "linalg.lu_solve", "lu_solve", "lu_unpack",
             "native_dropout_backward", "nn.functional.max_unpool3d",
             "nn.functional.multi_margin_loss",
             "nn.functional.multilabel_margin_loss", "ormqr"}
    result = op_samples.run_all(names, samples=12)
    assert result.samples > 130
    assert_all_have_rules(result)


def integers():
    return torch.randint(-9, 9, (24, 32), dtype=torch.int8)


def multiply(a):
    return torch._int_mm(a, a.t())


def test_operators_without_a_rule_follow_torchs_meta_function():
    """Written in Python, it runs on traced tensors."""
    a = integers()
    ep = proviso.export(multiply, (a,))
    assert "aten._int_mm.default" in ep.operators
    assert torch.equal(ep.module()(a), multiply(a))


def test_what_python_alone_knows_is_read_in_python(tmp_path):
    """Torch's meta function looks at the arguments; the command has none."""
    file, a = tmp_path / "product.pt2", integers()
    proviso.save(proviso.export(multiply, (a,)), file)
    loaded = proviso.load(file, allow=["aten._int_mm"])
    assert torch.equal(loaded.module()(a), multiply(a))
    done = subprocess.run([COMMAND, "run", file], capture_output=True,
                          text=True)
    assert done.returncode == 3 and "allow it by its name" in done.stderr
    allowed = subprocess.run(
        [COMMAND, "run", "--allow=aten._int_mm", file],
        capture_output=True)
    assert allowed.returncode == 0


def test_copies_of_views_and_what_is_rare():
    names = {"alias_copy", "as_strided_copy", "cholesky", "diagonal_copy",
             "dist", "expand_copy", "frexp", "ldexp",
             "linalg.householder_product", "linalg.matrix_exp", "narrow_copy",
             "permute_copy", "renorm", "rot90", "split_with_sizes_copy",
             "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy",
             "unfold_copy", "unsqueeze_copy", "view_copy"}
    result = op_samples.run_all(names, samples=4)
    assert result.samples > 60
    assert_all_have_rules(result)

    def program(x):
        return (aten.alias_copy(x), aten.permute_copy(x, [1, 0]),
                aten.view_copy(x, [-1]), aten.slice_copy(x, 1, 1, None, 2),
                aten.select_copy(x, 0, 0), aten.expand_copy(x, [2, -1, -1]),
                *aten.split_with_sizes_copy(x, [1, x.shape[0] - 1]),
                torch.frexp(x).exponent, torch.renorm(x, 2, 0, 1.0),
                torch.rot90(x), torch.rot90(x, 2), torch.rot90(x, 3),
                torch.rot90(x, 0), torch.dist(x, x + 1).reshape(1),
                torch.ldexp(x, torch.tensor(3)))

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.randn(m, n).T,)

    compare_at(program, inputs, (MATRIX,), (3, 4), (2, 7), (9, 3))


def test_operators_that_look_at_their_data():
    result = op_samples.run_all(
        {"quantile", "nanquantile", "cov", "corrcoef", "tensor_split"},
        samples=6)
    assert result.samples > 20
    assert result.differences == [] and result.refused == []
    assert result.meta_differences == []
    for name in ("cov", "corrcoef", "quantile", "nanquantile"):
        assert any(f"aten.{name}." in target for target in result.tested), name


def test_histograms_of_points():
    result = op_samples.run_all({"histogramdd"}, samples=12)
    assert result.samples > 10
    assert result.differences == [] and result.refused == []
    assert result.without_rule == {}

    def program(points, weight, edges):
        counted = torch.histogramdd(points, [2, 3], weight=weight)
        placed = torch.histogramdd(points, [edges, edges])
        return counted.hist, *counted.bin_edges, placed.hist

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.randn(n, 2), torch.rand(n),
                torch.linspace(-1, 1, m))

    auto = {0: proviso.Dim.AUTO}
    ep = proviso.export(program, inputs(5, 4),
                        dynamic_shapes=({0: proviso.Dim.AUTO, 1: None}, auto,
                                        auto))
    for n, m in ((5, 4), (1, 2), (0, 7), (9, 3)):
        args = inputs(n, m)
        for found, expected in zip(ep.module()(*args), program(*args)):
            assert torch.equal(found, expected), (n, m)
    with pytest.raises(RuntimeError, match="Guard failed"):
        ep.module()(torch.randn(5, 2), torch.rand(4), torch.linspace(0, 1, 4))
    with pytest.raises(RuntimeError, match="Guard failed"):
        ep.module()(torch.randn(5, 2), torch.rand(5), torch.zeros(1))
    for bad, text in (
            (lambda x: torch.histogramdd(x, [2, 3, 4]), "innermost dimension"),
            (lambda x: torch.histogramdd(x, [2, 0]), "bins must be > 0"),
            (lambda x: torch.histogramdd(x[0], [2]), "at least 2 dimensions"),
            (lambda x: torch.histogramdd(x, [2, 2], weight=x[:, :1]),
             "same shape as the input tensor")):
        x = torch.randn(5, 2)
        for run in (bad, lambda x, bad=bad: proviso.export(bad, (x,))):
            with pytest.raises(RuntimeError, match=text):
                run(x)


def test_ctc_loss_of_lengths_that_are_known():
    lengths, wanted = (6, 7), (3, 2)

    def program(probs, targets):
        return torch.nn.functional.ctc_loss(
            probs, targets, lengths, wanted, reduction="none")

    def inputs(time, labels, *rows):
        torch.manual_seed(time)
        return (torch.randn(time, 2, labels).log_softmax(-1),
                torch.randint(1, labels, rows))

    for first, others in (((7, 5, 2, 4), [(9, 4, 2, 3), (7, 6, 2, 9)]),
                          ((8, 5, 5), [(7, 3, 5)])):
        args = inputs(*first)
        ep = proviso.export(program, args, dynamic_shapes=(
            {0: proviso.Dim.AUTO, 2: proviso.Dim.AUTO},
            {d: proviso.Dim.AUTO for d in range(args[1].dim())}))
        for sizes in (first, *others):
            args = inputs(*sizes)
            torch.testing.assert_close(ep.module()(*args), program(*args))
        with pytest.raises(RuntimeError, match="Guard failed"):
            ep.module()(*inputs(6, *first[1:]))
        with pytest.raises(RuntimeError, match="Guard failed"):
            ep.module()(*inputs(*first[:-1], 2))

    def whole(probs, targets, *numbers):
        return torch.ops.aten._ctc_loss(probs, targets, *numbers)

    for probs, targets, numbers, text in (
            (7, (2, 4), ([7], [3, 2]), "input_lengths must be of size"),
            (7, (2, 4), ([8, 8], [3, 2]), "at most 7, but got value 8"),
            (7, (2, 2), ([7, 7], [3, 2]), "at least 3 at dimension 1"),
            (7, (4,), ([7, 7], [3, 2]), "size 5 at dimension 0"),
            (0, (2, 4), ([0, 0], [3, 2]), "must not be empty")):
        args = torch.randn(probs, 2, 5), torch.ones(targets).long()
        for run in (whole, lambda *a: proviso.export(
                lambda x, y, n=a[2:]: whole(x, y, *n), a[:2])):
            with pytest.raises(RuntimeError, match=text):
                run(*args, *numbers)

    def shapes(probs, targets):
        seen = whole(probs, targets, [7, 7], [3, 2])
        assert [tuple(t.shape) for t in seen] == [(2,), (2, 7, 7)]
        assert [tuple(t.stride()) for t in seen] == [(1,), (49, 7, 1)]
        return list(seen)

    args = torch.randn(7, 2, 5), torch.ones(2, 4).long()
    shapes(*args)
    proviso.export(shapes, args)
    with pytest.raises(NotImplementedError, match="_ctc_loss"):
        proviso.export(lambda x, y: whole(x, y, y[0], y[0]), args)


def test_ctc_loss_of_lengths_that_are_data():
    for reduction in ("none", "mean", "sum"):
        def program(probs, targets, lengths, wanted, kind=reduction):
            return [torch.nn.functional.ctc_loss(
                probs, targets, lengths, wanted, reduction=kind)]

        def inputs(time, batch, labels):
            torch.manual_seed(time)
            return (torch.randn(time, batch, labels).log_softmax(-1),
                    torch.randint(1, labels, (batch, 3)),
                    torch.randint(4, time + 1, (batch,)),
                    torch.randint(1, 4, (batch,)))

        ep = compare_at(program, inputs, (
            {d: proviso.Dim.AUTO for d in range(3)}, ROWS, ROWS, ROWS),
            (7, 3, 5), (9, 2, 2), (4, 1, 8))
        probs, targets, lengths, wanted = inputs(7, 3, 5)
        for bad in ((probs[:0], targets, lengths, wanted),
                    (probs, targets[:2], lengths, wanted),
                    (probs, targets, lengths[:2], wanted)):
            with pytest.raises(RuntimeError, match="Guard failed"):
                ep.module()(*bad)
    for bad, text in (((probs, targets, lengths.float(), wanted), "integral"),
                      ((probs, targets, lengths[:2], wanted), "batch_size"),
                      ((probs[:, :, :0], targets, lengths, wanted), "empty")):
        for run in (program, lambda *args: proviso.export(program, args)):
            with pytest.raises(RuntimeError, match=text):
                run(*bad)
    one = (torch.randn(6, 5).log_softmax(-1), torch.tensor([1, 2]),
           torch.tensor(6), torch.tensor(2))
    assert torch.equal(proviso.export(program, one).module()(*one)[0],
                       program(*one)[0])


def test_residuals_of_least_squares():
    """Of one system their size is an expression: either program is one."""
    def program(a, b):
        return torch.linalg.lstsq(a, b, driver="gels")

    auto = {0: proviso.Dim.AUTO, 1: proviso.Dim.AUTO}

    def inputs(m, n, k=2):
        torch.manual_seed(m)
        return torch.randn(m, n), torch.randn(m, k)

    ep = proviso.export(program, inputs(5, 3), dynamic_shapes=(auto, auto))
    assert [str(g.condition) for g in ep.guards] == ["Eq(s0, s2)"]
    for sizes in ((5, 3), (3, 5), (4, 4), (4, 0), (3, 2, 0), (2, 4, 0)):
        args = inputs(*sizes)
        for found, expected in zip(ep.module()(*args), program(*args)):
            assert found.shape == expected.shape, sizes
            assert torch.allclose(found, expected, atol=1e-4), sizes


def test_least_squares():
    def inputs(m, n, *batch):
        torch.manual_seed(m)
        return torch.randn(*batch, m, n), torch.randn(*batch, m, 2)

    for driver in (None, "gelsy", "gels"):
        def program(a, b, driver=driver):
            return torch.linalg.lstsq(a, b, driver=driver)

        compare_at(program, inputs, (MATRIX, ROWS), (5, 3), (9, 2), (4, 3))
        compare_at(program, inputs, (MATRIX, ROWS), (3, 5), (2, 9), (1, 4),
                   (0, 3))
        compare_at(program, inputs, ({1: proviso.Dim.AUTO, 0: proviso.Dim.AUTO},
                                     MATRIX), (5, 3, 2), (6, 3, 4), (5, 3, 1))
        compare_at(lambda a, b: program(a, b[..., 0]), inputs,
                   (MATRIX, MATRIX), (5, 3, 2), (6, 3, 4))
    compare_at(lambda a, b: torch.linalg.lstsq(a, b, driver="gelsd"), inputs,
               (MATRIX, ROWS), (3, 5), (2, 4), (1, 4))
    for driver in ("gelsd", "gelss"):
        def of_rank(a, b, driver=driver):
            return torch.linalg.lstsq(a, b, driver=driver)

        compare_at(of_rank, inputs, (MATRIX, ROWS), (5, 3), (9, 2), (4, 3))
        ep = proviso.export(of_rank, inputs(5, 3))
        a, b = inputs(5, 3)
        a[:, 0] = a[:, 1]  # not of full rank: no residuals
        for found, expected in zip(ep.module()(a, b), of_rank(a, b)):
            assert found.shape == expected.shape
        with pytest.raises(NotImplementedError, match="gels or gelsy"):
            proviso.export(of_rank, tuple(torch.stack([t, t])
                                          for t in inputs(5, 3)))
    for shapes, text in (((5,), (5,)), "at least 2 dimensions"), (
            ((5, 3), (4,)), r"other.size\(-"), (
            ((5, 3), (2, 5, 2)), "greater or equal"):
        args = tuple(torch.randn(shape) for shape in shapes)
        for run in (torch.linalg.lstsq, lambda *a: proviso.export(
                lambda x, y: list(torch.linalg.lstsq(x, y)), a)):
            with pytest.raises(RuntimeError, match=text):
                run(*args)


def test_pools_at_places_that_are_drawn():
    for rank in (2, 3):
        pool = getattr(aten, f"fractional_max_pool{rank}d")

        def program(x, samples, pool=pool, rank=rank):
            return pool(x, [2] * rank, [3] * rank, samples)

        def inputs(n, size, rank=rank):
            torch.manual_seed(n)
            return torch.randn(n, 2, *[size] * rank), torch.rand(n, 2, rank)

        sizes = {d: proviso.Dim.AUTO for d in (0, *range(2, rank + 2))}
        ep = compare_at(program, inputs, (sizes, ROWS), (3, 8), (1, 6), (0, 5),
                        (2, 9))
        for bad in ((2, 3), (2, 4)) if rank == 3 else ((2, 3),):
            with pytest.raises(RuntimeError, match="Guard failed"):
                ep.module()(*inputs(*bad))


def test_rows_that_are_made_shorter():
    def program(weight, rows):
        weight = weight.clone()
        return torch.nn.functional.embedding(rows, weight, max_norm=1.0), weight

    def inputs(n, m):
        torch.manual_seed(n)
        return torch.randn(n, 3) * 4, torch.arange(m) % n

    compare_at(program, inputs, (ROWS, ROWS), (5, 4), (7, 1), (1, 9), (2, 0))


def test_hashes_of_tensors():
    def program(x):
        return (torch.hash_tensor(x), torch.hash_tensor(x, dim=1),
                torch.hash_tensor(x, dim=0, keepdim=True))

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.randn(n, m),)

    ep = compare_at(program, inputs, (MATRIX,), (3, 4), (1, 5), (7, 1))
    with pytest.raises(RuntimeError, match="Guard failed"):
        ep.module()(torch.ones(0, 4))
    result = op_samples.run_all(
        {"hash_tensor", "linalg.lstsq", "nn.functional.fractional_max_pool2d",
         "nn.functional.fractional_max_pool3d", "resize_as_"}, samples=8)
    assert result.samples > 20
    assert result.differences == [] and result.refused == []


def test_gradients_along_dimensions():
    def inputs(n, m):
        torch.manual_seed(n)
        return torch.randn(n, m), torch.rand(m).cumsum(0)

    def program(x, places):
        return (*torch.gradient(x), *torch.gradient(x, spacing=0.5, dim=1),
                *torch.gradient(x, spacing=[2, 0.5], edge_order=2),
                *torch.gradient(x, spacing=(places,), dim=[1]),
                *torch.gradient((x * 9).int()))

    ep = compare_at(program, inputs, (MATRIX, ROWS), (5, 4), (3, 7), (9, 3))
    for bad in ((2, 4), (4, 2)):
        with pytest.raises(RuntimeError, match="Guard failed"):
            ep.module()(*inputs(*bad))
    for bad, text in ((lambda x: torch.gradient(x[:1]), "at least edge_order"),
                      (lambda x: torch.gradient(x, edge_order=3), "only supp"),
                      (lambda x: torch.gradient(x, dim=[0, -2]), "multiple"),
                      (lambda x: torch.gradient(x, spacing=[1.0]), "length")):
        x = torch.randn(4, 5)
        for run in (bad, lambda x, bad=bad: proviso.export(bad, (x,))):
            with pytest.raises(RuntimeError, match=text):
                run(x)


def test_ranks_and_conditions_of_matrices():
    def inputs(n, m, *batch):
        torch.manual_seed(n)
        return (torch.randn(*batch, n, m),)

    rank, cond = torch.linalg.matrix_rank, torch.linalg.cond
    every = {d: proviso.Dim.AUTO for d in range(3)}
    compare_at(lambda x: (rank(x), rank(x, tol=0.5), cond(x), cond(x, -2)),
               inputs, (every,), (4, 3, 5), (3, 4, 1), (3, 3, 0), (1, 1, 2),
               (0, 3, 2), (2, 0, 2))
    compare_at(lambda x: (rank(x.mH @ x, hermitian=True), cond(x @ x.mH, 1),
                          cond(x @ x.mH, "fro")),
               inputs, (every,), (4, 3, 5), (3, 4, 1), (0, 3, 2))
    for bad, text in ((lambda x: cond(x, 3), "invalid norm type"),
                      (lambda x: cond(x, "fro"), "batches of square"),
                      (lambda x: cond(x[0]), "at least 2 dimensions"),
                      (lambda x: rank(x[0]), "at least 2 dimensions"),
                      (lambda x: rank(x, hermitian=True), "of square")):
        x = torch.randn(4, 5)
        for run in (bad, lambda x, bad=bad: proviso.export(bad, (x,))):
            with pytest.raises(RuntimeError, match=text):
                run(x)
    result = op_samples.run_all(
        {"gradient", "linalg.cond", "linalg.matrix_rank", "trapezoid",
         "triangular_solve", "_chunk_cat", "nn.functional.channel_shuffle"},
        samples=12)
    assert result.samples > 50
    assert_as_eager(result)


def test_pieces_at_places_that_are_data():
    def program(x, places):
        a, b, c = x.tensor_split(places, dim=1)
        return a + 1, b * 2, c.sum(1)

    x, places = torch.randn(3, 8), torch.tensor([2, 5])
    ep = proviso.export(program, (x, places),
                        dynamic_shapes=({0: proviso.Dim("n")}, None))
    for values in ((2, 5), (0, 8), (8, 3), (-1, 9)):
        args = torch.randn(4, 8), torch.tensor(values)
        for found, expected in zip(ep.module()(*args), program(*args)):
            assert torch.equal(found, expected), values


def test_a_wrong_shape_would_be_seen():
    result = op_samples.Result()
    real = torch.ones(2, 3)
    traced = [((2, 3), (3, 1), torch.float32)]
    assert op_samples._differences(traced, [real]) is None
    for wrong in (((3, 2), (3, 1), torch.float32),
                  ((2, 3), (1, 2), torch.float32),
                  ((2, 3), (3, 1), torch.float64)):
        assert op_samples._differences([wrong], [real]) is not None
    assert result.differences == []


aten = torch.ops.aten


def _pool(x, n):
    return aten.avg_pool2d_backward(x.new_ones(*x.shape[:2], n, n), x, [2, 2],
                                    [2, 2], [0, 0], False, True, None)


# Core operators that no sample of torch calls.
GRADIENTS = {
    "avg_pool2d_backward": lambda x: _pool(x, 2),
    "adaptive_avg_pool2d_backward": lambda x: aten._adaptive_avg_pool2d_backward(
        x.new_ones(*x.shape[:2], 2, 2), x),
    "max_pool2d_with_indices_backward": lambda x:
        aten.max_pool2d_with_indices_backward(
            x.new_ones(*x.shape[:2], 2, 2), x, [2, 2], [2, 2], [0, 0], [1, 1],
            False, x.new_zeros(*x.shape[:2], 2, 2, dtype=torch.int64)),
    "convolution_backward": lambda x: aten.convolution_backward(
        x.new_ones(x.shape[0], 3, 3, 3), x, x.new_ones(3, 4, 2, 2), [3],
        [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True]),
    "native_layer_norm_backward": lambda x: aten.native_layer_norm_backward(
        x, x, [4], x[..., :1], x[..., :1], x.new_ones(4), x.new_ones(4),
        [True, True, True]),
    "native_group_norm_backward": lambda x: aten.native_group_norm_backward(
        x, x, x.new_ones(x.shape[0], 2), x.new_ones(x.shape[0], 2),
        x.new_ones(4), x.shape[0], 4, 16, 2, [True, True, True]),
    "select_backward": lambda x: aten.select_backward(
        x[:, 0], [x.shape[0], 5, 4, 4], 1, 2),
    "slice_backward": lambda x: aten.slice_backward(
        x, [x.shape[0], 9, 4, 4], 1, 1, 8, 2),
    "diagonal_backward": lambda x: aten.diagonal_backward(
        x, [x.shape[0], 4, 5, 4], 1, 2, 1),
    "unfold_backward": lambda x: aten.unfold_backward(
        x, [x.shape[0], 4, 10], 2, 4, 2),
    "nll_loss_backward": lambda x: aten.nll_loss_backward(
        x.new_ones(()), x[:, :, 0, 0], x.new_zeros(x.shape[0]).long(), None, 1,
        -100, x.new_ones(())),
    "nll_loss2d_backward": lambda x: aten.nll_loss2d_backward(
        x.new_ones(()), x, x.new_zeros(x.shape[0], 4, 4).long(), None, 1, -100,
        x.new_ones(())),
    "elementwise": lambda x: [
        aten.elu_backward(x, 1., 1., 1., False, x),
        aten.glu_backward(x[:, :2], x, 1), aten.hardtanh_backward(x, x, -1, 1),
        aten.gelu_backward(x[:, :1], x), aten.mish_backward(x, x[..., :1]),
        aten.mse_loss_backward(x.new_ones(()), x, x, 1)],
    "embedding_dense_backward": lambda x: aten.embedding_dense_backward(
        x[0, 0], x.new_zeros(4, dtype=torch.int64), 7, -1, False),
    "fft_r2c": lambda x: [aten._fft_r2c(x, dims, 0, half)
                          for dims in ([3], [2], [2, 3], [1])
                          for half in (True, False)],
    "fft_c2r": lambda x: [aten._fft_c2r(x.to(torch.complex64), dims, 0, 4)
                          for dims in ([3], [2], [1])],
    "pdist_forward": lambda x: aten._pdist_forward(x[0, 0], 2.0),
    "col2im": lambda x: aten.col2im(x.reshape(x.shape[0], 16, 4), [3, 3],
                                    [2, 2], [1, 1], [0, 0], [1, 1]),
    "batch_norm_no_training": lambda x:
        aten._native_batch_norm_legit_no_training(
            x, x.new_ones(4), x.new_ones(4), x.new_ones(4), x.new_ones(4),
            0.1, 1e-5),
    "embedding_bag": lambda x: [aten._embedding_bag(
        x.new_ones(9, 3), torch.tensor([1, 2, 3, 4]), torch.tensor([0, 2, 4]),
        False, mode, False, None, last) for mode in (0, 1, 2)
        for last in (False, True)],
}


@pytest.mark.parametrize("form", [torch.contiguous_format,
                                  torch.channels_last])
@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("name", GRADIENTS)
def test_leaf_operators(name, batch, form):
    function = GRADIENTS[name]
    x = torch.randn(batch, 4, 4, 4).to(memory_format=form)
    if name in ("embedding_dense_backward", "pdist_forward") and batch == 0:
        pytest.skip("the example indexes a row")
    try:
        real = op_samples.tensors_in(function(x))
    except RuntimeError:
        pytest.skip("eager refuses this size")
    seen = []

    def program(x):
        out = op_samples.tensors_in(function(x))
        seen[:] = [(tuple(t.shape), tuple(t.stride()), t.dtype) for t in out]
        return out

    proviso.export(program, (x,))
    assert op_samples._differences(seen, real) is None


def gives_new_memory(op):
    """As tracer_adapter/run/constants.cc takes it to be."""
    tags, schema = set(op.tags), op._schema
    aliases = any(a.alias_info
                  for a in (*schema.arguments, *schema.returns))
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(
        op.name(), "CompositeImplicitAutograd")
    return (op.namespace == "aten" and not aliases and not composite
            and tags & {torch.Tag.core, torch.Tag.pointwise}
            and not tags & {torch.Tag.nondeterministic_seeded,
                            torch.Tag.nondeterministic_bitwise,
                            torch.Tag.maybe_aliasing_or_mutating})


class MemoryWatch(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.watched, self.aliasing = set(), set()

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        out = op(*args, **(kwargs or {}))
        if gives_new_memory(op):
            self.watched.add(op)
            if memory_of((args, kwargs)) & memory_of(out):
                self.aliasing.add(op)
        return out


def memory_of(values):
    return {t.untyped_storage()._cdata
            for t in torch.utils._pytree.tree_leaves(values)
            if isinstance(t, torch.Tensor) and t.layout == torch.strided
            and t.numel()}


def test_core_operators_without_an_alias_give_new_memory():
    """What the tracer believes when it keeps constants from run to run."""
    watch = MemoryWatch()
    names = _core_names()
    for op in op_samples.op_db():
        if op.name not in names or torch.float32 not in op.dtypes:
            continue
        samples = op.sample_inputs("cpu", torch.float32)
        for sample in itertools.islice(samples, 3):
            with contextlib.suppress(Exception), torch.no_grad(), watch:
                op(sample.input, *sample.args, **sample.kwargs)
    assert len(watch.watched) > 100
    assert watch.aliasing == set()
