"""Small programs over the common operators, for sizes from 0 on.

    case = CASES["einsum over a batch"]
    case.run(*case.inputs({"a": 3, "b": 4}))
    case.letters                             # "ab"

The inputs are written as sizes: "a 4 b" is a float tensor [a, 4, b], "i:a b"
holds indices below 3, "m:a b" is a mask.  Each letter is a size that may change.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Callable, Tuple

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable
    shapes: Tuple[str, ...]

    @property
    def letters(self):
        return "".join(sorted({
            c for text in self.shapes for c in text.split(":")[-1].split()
            if c.isalpha()}))

    def inputs(self, sizes):
        return tuple(_tensor(text, sizes) for text in self.shapes)

    def dynamic_shapes(self, auto):
        """`auto` for every size that is a letter."""
        return tuple(
            {i: auto for i, c in enumerate(text.split(":")[-1].split())
             if c.isalpha()} for text in self.shapes)

    def points(self, values):
        """Each choice of `values` for the letters."""
        return [dict(zip(self.letters, chosen)) for chosen in
                itertools.product(values, repeat=len(self.letters))]


def _tensor(text, sizes):
    kind, _, dims = text.rpartition(":")
    shape = [sizes[c] if c.isalpha() else int(c) for c in dims.split()]
    # Values that repeat with no small period, and no ties.
    count = torch.arange(math.prod(shape), dtype=torch.float64)
    waves = torch.sin(count * 2.399 + len(shape)).reshape(shape)
    if kind == "i":
        return (waves * 100).long().abs() % 3
    return waves > -0.3 if kind == "m" else waves.float()


CASES = {}


def case(name, run, *shapes):
    assert name not in CASES, name
    CASES[name] = Case(name, run, shapes)


def model(name, make, *shapes):
    torch.manual_seed(0)
    case(name, make().eval(), *shapes)


class Attention(nn.Module):
    """Multi-head attention written out, with a mask over the keys."""

    def __init__(self, heads=2, width=4):
        super().__init__()
        self.heads, self.width = heads, width
        self.qkv = nn.Linear(heads * width, 3 * heads * width)
        self.out = nn.Linear(heads * width, heads * width)

    def forward(self, x, mask):
        batch, length, _ = x.shape
        q, k, v = (t.view(batch, length, self.heads, self.width)
                   .transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.width)
        wide = mask[:, None, None, :].expand(batch, 1, length, length)
        scores = scores.masked_fill(~wide, -1e9)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).contiguous()
        return self.out(mixed.view(batch, length, -1))


class Outputs(nn.Module):
    """The first output of a module that has several."""

    def __init__(self, inner, **options):
        super().__init__()
        self.inner, self.options = inner, options

    def forward(self, *args):
        return self.inner(*args, **self.options)[0]


# --- products

case("einsum of matrices", lambda x, y: torch.einsum("ij,jk->ik", x, y),
     "a b", "b c")
case("einsum over a batch", lambda x, y: torch.einsum("bij,bjk->bik", x, y),
     "a b 4", "a 4 c")
case("einsum of heads", lambda q, k: torch.einsum("bqhd,bkhd->bhqk", q, k),
     "a b 2 4", "a c 2 4")
case("einsum of heads with a bias", lambda q, w: torch.einsum(
    "ibh,hnd->ibnd", q, w), "a b 4", "4 2 3")
case("einsum, relative", lambda q, r: torch.einsum("ibnd,jbnd->bnij", q, r),
     "a b 2 4", "c b 2 4")
case("einsum outer", lambda x, y: torch.einsum("i,j->ij", x, y), "a", "b")
case("einsum dot", lambda x, y: torch.einsum("i,i->", x, y), "a", "a")
case("einsum of one", lambda x: torch.einsum("ijk->kij", x), "a b 3")
case("einsum diagonal", lambda x: torch.einsum("bii->bi", x), "a b b")
case("einsum of three", lambda x, y, z: torch.einsum(
    "ij,jk,kl->il", x, y, z), "a b", "b c", "c 2")
case("einsum with an ellipsis", lambda x, y: torch.einsum(
    "...ij,...jk->...ik", x, y), "a b 3", "a 3 c")
case("matmul", lambda x, y: x @ y, "a b", "b c")
case("matmul of a batch", lambda x, y: x @ y, "a b c", "a c 2")
case("matmul of a batch and a matrix", lambda x, y: x @ y, "a b c", "c 2")
case("matmul of 4 dims", lambda x, y: x @ y.transpose(-2, -1), "a 2 b 4",
     "a 2 c 4")
case("matmul of a vector", lambda x, y: x @ y, "a b", "b")
case("matmul of vectors", lambda x, y: x @ y, "a", "a")
case("matmul by a matrix on the left", lambda x, y: x @ y, "3 a", "b a c")
case("matmul broadcast over a batch", lambda x, y: x @ y, "a 1 b 3", "2 3 c")
case("bmm", lambda x, y: torch.bmm(x, y), "a b c", "a c 2")
case("baddbmm", lambda z, x, y: torch.baddbmm(z, x, y, beta=0.5),
     "a b 2", "a b c", "a c 2")
case("addmm", lambda z, x, y: torch.addmm(z, x, y), "2", "a b", "b 2")
case("tensordot", lambda x, y: torch.tensordot(x, y, dims=1), "a b", "b c")
case("outer", lambda x, y: torch.outer(x, y), "a", "b")
case("kron", lambda x, y: torch.kron(x, y), "a 2", "b 3")
case("cdist", lambda x, y: torch.cdist(x, y), "a 3", "b 3")
case("cosine_similarity", lambda x, y: F.cosine_similarity(
    x[:, None], y[None], dim=-1), "a 3", "b 3")
model("Linear", lambda: nn.Linear(3, 5), "a b 3")
model("Bilinear", lambda: nn.Bilinear(3, 2, 4), "a 3", "a 2")

# --- expand and broadcast

case("mask expanded to another's sizes", lambda x, m: m[
    :, None, None, :].expand(x.shape[0], 1, x.shape[1], x.shape[1]) & True,
    "a b 2", "m:a b")
case("expand", lambda x: x[:, None].expand(-1, 4, -1) + 1, "a b")
case("expand to a size", lambda x, y: x.expand(y.shape[0], 3) * 2, "1 3", "a")
case("expand of ones", lambda x, y: x[None].expand(y.shape[0], -1, -1)
     .reshape(-1, 3), "a 3", "b")
case("expand_as", lambda x, y: x.expand_as(y) + y, "a 1", "a b")
case("expand_as of equals", lambda x, y: x.expand_as(y) + 1, "a b", "a b")
case("broadcast_to", lambda x, y: torch.broadcast_to(x, y.shape) * 1,
     "b", "a b")
case("broadcast_tensors", lambda x, y: torch.broadcast_tensors(
    x[:, None], y[None]), "a", "b")
case("expand, then view", lambda x: x[:, None].expand(-1, 2, -1).reshape(
    x.shape[0] * 2, x.shape[1]), "a b")
case("repeat_kv", lambda x: x[:, :, None].expand(
    x.shape[0], 2, 3, x.shape[2], 4).reshape(x.shape[0], 6, x.shape[2], 4),
    "a 2 b 4")
case("repeat", lambda x: x.repeat(2, 3), "a b")
case("repeat by a size", lambda x, y: x.repeat(y.shape[0], 1), "a 2", "b")
case("repeat_interleave", lambda x: x.repeat_interleave(2, dim=1), "a b")
case("tile", lambda x: x.tile(2), "a b")
case("add of a row", lambda x, y: x + y, "a b", "b")
case("add of a column", lambda x, y: x + y[:, None], "a b", "a")
case("add of equals", lambda x, y: x + y, "a b", "a b")
case("add of what may be broadcast", lambda x, y: x + y, "a 2", "b 2")
case("add of what may be broadcast, of two", lambda x, y: x * y, "a b", "c d")
case("outer sum", lambda x, y: x[:, None] + y, "a", "b")
case("where", lambda m, x, y: torch.where(m, x, y), "m:a b", "a b", "b")
case("where of a number", lambda m, x: torch.where(m[:, None], x, 0.0),
     "m:a", "a b")
case("masked_fill", lambda x, m: x.masked_fill(m[:, None], 0.0), "a b c",
     "m:a c")
case("clamp between tensors", lambda x, y: torch.clamp(x, y, y + 1), "a b",
     "b")
case("lerp", lambda x, y: torch.lerp(x, y, 0.3), "a b", "a b")
case("addcmul", lambda x, y, z: torch.addcmul(x, y, z), "a b", "a b", "b")
case("maximum", lambda x, y: torch.maximum(x, y), "a 1", "b")
case("stack of rows in place", lambda x, y: x.clone().add_(y), "a b", "b")
case("copied into", lambda x, y: torch.zeros_like(x).copy_(y), "a b", "b")

# --- views

case("cat", lambda x, y: torch.cat([x, y], 1), "a b", "a c")
case("cat on itself", lambda x: torch.cat([x, x * 2]), "a b")
case("stack", lambda x, y: torch.stack([x, y], 1), "a b", "a b")
case("view of heads", lambda x: x.view(
    x.shape[0], x.shape[1], 2, -1).transpose(1, 2), "a b 6")
case("merged heads", lambda x: x.transpose(1, 2).reshape(
    x.shape[0], x.shape[2], -1), "a 2 b 3")
case("permute, contiguous, view", lambda x: x.permute(
    0, 2, 1, 3).contiguous().view(x.shape[0] * x.shape[2], -1), "a 2 b 3")
case("view of a transpose", lambda x: x.transpose(0, 1).reshape(-1), "a b")
case("view -1", lambda x: x.view(-1, 3), "a b 3")
case("reshape of a slice", lambda x: x[:, :2].reshape(-1), "a 3 b")
case("reshape of a strided slice", lambda x: x[:, ::2].reshape(
    x.shape[0], -1), "a 4 b")
case("reshape back", lambda x: x.reshape(-1).reshape(x.shape) + x, "a b")
case("reshape of an expanded", lambda x, y: x[:, None].expand(
    x.shape[0], y.shape[0]).reshape(-1), "a", "b")
case("flatten", lambda x: x.flatten(1), "a b 3")
case("flatten all", lambda x: x.flatten(), "a b 3")
case("flatten of a transpose", lambda x: x.transpose(1, 2).flatten(0, 1),
     "a b 3")
case("unflatten", lambda x: x.unflatten(1, (2, 3)), "a 6 b")
case("unflatten -1", lambda x: x.unflatten(-1, (-1, 2)), "a 6")
case("squeeze of an added dim", lambda x: x.unsqueeze(1).squeeze(1), "a b")
case("squeeze(1) of a size", lambda x: x.squeeze(1) + 1, "a b")
case("movedim", lambda x: x.movedim(0, -1).contiguous(), "a b 2")
case("view of chunks", lambda x: x.chunk(2, -1)[1].reshape(-1, 2), "a b 4")
case("split", lambda x: x.split([1, 2], -1)[1] * 2, "a b 3")
case("roll", lambda x: torch.roll(x, 1, 0), "a b")
case("roll of two", lambda x: torch.roll(x, (1, -1), (0, 1)), "a b")
case("flip", lambda x: x.flip(0), "a b")
case("pad", lambda x: F.pad(x, (1, 2)), "a b")
case("pad reflect", lambda x: F.pad(x, (1, 1), mode="reflect"), "a 2 b")
case("pad replicate", lambda x: F.pad(x, (2, 1), mode="replicate"), "a 2 b")
case("rotate_half", lambda x: torch.cat(
    (-x[..., x.shape[-1] // 2:], x[..., :x.shape[-1] // 2]), -1), "a b 4")
case("windows", lambda x: x.unfold(1, 2, 1).sum(-1), "a b")
case("window partition", lambda x: x.view(
    x.shape[0], x.shape[1] // 2, 2, 2, 2, 3).permute(
        0, 1, 3, 2, 4, 5).contiguous().view(-1, 2, 2, 3), "a b 4 3")
case("diagonal", lambda x: x.diagonal(0, 1, 2) + 1, "a b b")
case("select first and last", lambda x: x[:, 0] + x[:, -1], "a b 2")
case("shift", lambda x: x[:, 1:] - x[:, :-1], "a b")
case("tril", lambda x: x.tril(), "a b")
case("causal mask", lambda x: torch.ones(
    x.shape[1], x.shape[1], dtype=torch.bool).triu(1)[None] | (x > 2),
    "a b b")
case("causal mask of arange", lambda x: (
    torch.arange(x.shape[1])[None] <= torch.arange(x.shape[1])[:, None]),
    "a b")
case("meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij"), "a", "b")
case("one as a size", lambda x: x.new_ones(x.shape[0], 1) * x, "a b")
case("flat, strided", lambda x: x.t().flatten() + x.flatten(), "a b")
case("permuted sum", lambda x, y: (x.permute(2, 0, 1) + y).reshape(3, -1),
     "a b 3", "a b")
case("channels last", lambda x: x.to(
    memory_format=torch.channels_last).permute(0, 2, 3, 1).reshape(
        x.shape[0], -1, 3) * 2, "a 3 b c")
case("is_contiguous", lambda x: x.sum() + (
    2 if x.transpose(0, 1).is_contiguous() else 3), "a b")
case("view after a sum", lambda x: (x.transpose(1, 2) + 1).transpose(
    1, 2).view(-1, 3), "a b 3")
case("as_strided", lambda x: x.as_strided(
    (x.shape[0], 2), (x.shape[1], 1)) + 1, "a b")

# --- layers

model("Conv1d", lambda: nn.Conv1d(3, 4, 3, padding=1), "a 3 b")
model("Conv1d, strided", lambda: nn.Conv1d(3, 4, 2, stride=2), "a 3 b")
model("Conv2d", lambda: nn.Conv2d(3, 4, 3, padding=1), "a 3 b c")
model("Conv2d, grouped", lambda: nn.Conv2d(4, 4, 1, groups=4), "a 4 b c")
model("ConvTranspose2d", lambda: nn.ConvTranspose2d(3, 2, 2, stride=2),
      "a 3 b c")
case("max_pool2d", lambda x: F.max_pool2d(x, 2), "a 3 b c")
case("max_pool2d, padded", lambda x: F.max_pool2d(x, 3, 2, 1), "a 3 b c")
case("avg_pool2d", lambda x: F.avg_pool2d(x, 2), "a 3 b c")
case("max_pool1d", lambda x: F.max_pool1d(x, 2), "a 3 b")
case("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, 1), "a 3 b c")
case("adaptive_avg_pool2d of (2, 3)", lambda x: F.adaptive_avg_pool2d(
    x, (2, 3)), "a 3 b c")
case("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 2), "a 3 b")
case("interpolate, nearest", lambda x: F.interpolate(x, scale_factor=2.0),
     "a 3 b c")
case("interpolate, bilinear", lambda x: F.interpolate(
    x, size=(4, 5), mode="bilinear", align_corners=False), "a 3 b c")
case("interpolate, linear", lambda x: F.interpolate(
    x, scale_factor=2, mode="linear", align_corners=True), "a 3 b")
case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), "a 4 b c")
case("layer_norm", lambda x: F.layer_norm(x, (4,)), "a b 4")
case("layer_norm of two", lambda x: F.layer_norm(x, x.shape[1:]), "a b 4")
case("rms_norm", lambda x: F.rms_norm(x, (4,)), "a b 4")
model("GroupNorm", lambda: nn.GroupNorm(2, 4), "a 4 b c")
model("BatchNorm1d", lambda: nn.BatchNorm1d(4), "a 4 b")
model("BatchNorm2d", lambda: nn.BatchNorm2d(4), "a 4 b c")
model("InstanceNorm2d", lambda: nn.InstanceNorm2d(4), "a 4 b c")
case("normalize", lambda x: F.normalize(x, dim=-1), "a b 3")
model("Embedding", lambda: nn.Embedding(5, 4), "i:a b")
case("embedding with a mask", lambda i, w: F.embedding(i, w) * (
    i != 0)[..., None], "i:a b", "3 4")
model("EmbeddingBag", lambda: nn.EmbeddingBag(5, 4), "i:a b")
model("LSTM", lambda: Outputs(nn.LSTM(3, 4, batch_first=True)), "a b 3")
model("LSTM of two layers", lambda: Outputs(
    nn.LSTM(3, 4, 2, bidirectional=True)), "a b 3")
model("GRU", lambda: Outputs(nn.GRU(3, 4, batch_first=True)), "a b 3")
model("RNN", lambda: Outputs(nn.RNN(3, 4, batch_first=True)), "a b 3")
model("LSTMCell", lambda: Outputs(nn.LSTMCell(3, 4)), "a 3")
model("MultiheadAttention", lambda: Outputs(
    nn.MultiheadAttention(4, 2, batch_first=True), need_weights=False),
    "a b 4", "a c 4", "a c 4")
model("MultiheadAttention with weights", lambda: Outputs(
    nn.MultiheadAttention(4, 2)), "b a 4", "c a 4", "c a 4")
model("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(
    4, 2, 8, batch_first=True), "a b 4")
model("TransformerDecoderLayer", lambda: nn.TransformerDecoderLayer(
    4, 2, 8, batch_first=True), "a b 4", "a c 4")
model("attention written out", Attention, "a b 8", "m:a b")
case("sdpa", lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
     "a 2 b 4", "a 2 c 4", "a 2 c 4")
case("sdpa, causal", lambda q, k: F.scaled_dot_product_attention(
    q, k, k, is_causal=True), "a 2 b 4", "a 2 b 4")
case("sdpa with a mask", lambda q, k, m: F.scaled_dot_product_attention(
    q, k, k, attn_mask=m[:, None, None]), "a 2 b 4", "a 2 c 4", "m:a c")
case("sdpa with a bias", lambda q, k, m: F.scaled_dot_product_attention(
    q, k, k, attn_mask=m), "a 2 b 4", "a 2 c 4", "b c")
case("sdpa of groups", lambda q, k: F.scaled_dot_product_attention(
    q, k, k, enable_gqa=True), "a 4 b 4", "a 2 c 4")
case("dropout in evaluation", lambda x: F.dropout(x, training=False), "a b")
case("glu", lambda x: F.glu(x), "a b 4")
case("cross_entropy", lambda x, i: F.cross_entropy(
    x.reshape(-1, 3), i.reshape(-1)), "a b 3", "i:a b")
case("mse_loss", lambda x, y: F.mse_loss(x, y), "a b", "a b")
case("kl_div", lambda x, y: F.kl_div(x, y, reduction="sum"), "a b", "a b")

# --- indices

case("gather", lambda x, i: x.gather(1, i), "a 3", "i:a b")
case("gather of the last", lambda x, i: x[
    torch.arange(x.shape[0]), i] + 1, "a 3 b", "i:a")
case("index of two", lambda x, i, j: x[i, j], "3 3 b", "i:a", "i:a")
case("index of a matrix", lambda x, i: x[i], "3 b", "i:a c")
case("index after a slice", lambda x, i: x[:, i], "b 3 c", "i:a")
case("index with a new dim", lambda x, i: x[i[:, None], i[None]], "3 3", "i:a")
case("index_select", lambda x, i: x.index_select(1, i), "b 3", "i:a")
case("scatter", lambda x, i: torch.zeros(x.shape[0], 3).scatter(1, i, x),
     "a b", "i:a b")
case("scatter_add", lambda x, i: torch.zeros(3, x.shape[1]).scatter_add(
    0, i, x), "a b", "i:a b")
case("index_add", lambda x, i: torch.zeros(3, x.shape[1]).index_add(0, i, x),
     "a b", "i:a")
case("index_put", lambda x, i, y: x.clone().index_put((i,), y), "3 b", "i:a",
     "a b")
case("one_hot", lambda i: F.one_hot(i, 3), "i:a b")
case("boolean mask", lambda x, m: x[m] * 2, "a b 2", "m:a b")
case("boolean mask assigned", lambda x, m: _assigned(x, m), "a b", "m:a b")
case("nonzero", lambda m: m.nonzero() + 1, "m:a b")
case("take_along_dim", lambda x: x.take_along_dim(x.argsort(1), 1), "a b")
case("a row assigned", lambda x, y: _row_assigned(x, y), "a b", "b")
case("masked_select", lambda x, m: x.masked_select(m).sum(), "a b", "m:a b")
case("bucketize", lambda x, y: torch.bucketize(x, y), "a b", "c")

# --- along a dim

case("softmax", lambda x: x.softmax(-1), "a b")
case("log_softmax", lambda x: x.log_softmax(0), "a b")
case("cumsum", lambda x: x.cumsum(1), "a b")
case("cumsum of a mask", lambda m: (m.cumsum(1) * m).long() - 1, "m:a b")
case("logsumexp", lambda x: x.logsumexp(1), "a b")
case("sum and mean", lambda x: x.sum(0) + x.mean(0), "a b")
case("var", lambda x: x.var(-1, unbiased=False), "a b")
case("std", lambda x: x.std(0), "a b")
case("norm", lambda x: x.norm(dim=-1, keepdim=True), "a b")
case("masked mean", lambda x, m: (x * m[..., None]).sum(1) / m.sum(
    1, keepdim=True).clamp(min=1), "a b 2", "m:a b")
case("amax", lambda x: x.amax(1, keepdim=True) + x, "a b")
case("max of a dim", lambda x: x.max(1), "a b")
case("argmax", lambda x: x.argmax(-1), "a b")
case("topk", lambda x: x.topk(1), "a b")
case("topk of the size", lambda x: x.topk(x.shape[1] // 2), "a b")
case("sort", lambda x: x.sort(-1, descending=True), "a b")
case("all and any", lambda m: m.all(1) | m.any(1), "m:a b")
case("prod", lambda x: x.prod(1), "a b")
case("median", lambda x: x.median(1), "a b")
case("diff", lambda x: x.diff(dim=1), "a b")
case("quantile", lambda x: x.quantile(0.5, dim=1), "a b")
case("histogram of indices", lambda i: torch.bincount(i, minlength=3), "i:a")
case("combinations", lambda x: torch.combinations(x), "a")
case("combinations of three", lambda x: torch.combinations(x, 3), "a")
case("combinations with replacement",
     lambda x: torch.combinations(x, 2, with_replacement=True), "a")
case("linalg.norm", lambda x: torch.linalg.norm(x, dim=(1, 2)), "a b 3")
case("fft", lambda x: torch.fft.rfft(x, n=4).abs(), "a b")
case("vmap over rows", lambda x, y: torch.vmap(torch.dot)(x, y), "a b", "a b")

# --- numbers of sizes

case("max of sizes", lambda x, y: x.new_zeros(
    max(x.shape[0], y.shape[0])), "a", "b")
case("min of sizes", lambda x, y: x[:min(x.shape[0], y.shape[0])], "a", "b")
case("max of a list", lambda x, y: x.new_ones(
    max([x.shape[0], y.shape[0], 3])), "a", "b")
case("max, padded", lambda x, y: F.pad(
    x, (0, max(0, y.shape[0] - x.shape[0]))), "a", "b")
case("scaled by a size", lambda x: x / x.shape[1] ** 0.5, "a b")
case("arange of a size", lambda x: torch.arange(
    x.shape[1]).expand(x.shape[0], -1) + x, "a b")
case("positions", lambda x: torch.arange(x.shape[1])[None].repeat(
    x.shape[0], 1), "a b")
case("sinusoids", lambda x: torch.cat([
    (torch.arange(x.shape[1])[:, None] * torch.arange(2)).sin(),
    (torch.arange(x.shape[1])[:, None] * torch.arange(2)).cos()], -1)[None]
    + x, "a b 4")
case("full of a size", lambda x: torch.full(
    (x.shape[0], 1), x.shape[1]), "a b")
case("mean by hand", lambda x: x.sum() / x.numel(), "a b")
case("ratio", lambda x: x.reshape(x.shape[0] // 2, 2, -1), "a b")
case("a branch on equality", lambda x, y: x.sum() + (
    1 if x.shape[0] == y.shape[0] else 2), "a", "b")
case("a branch on one", lambda x: x + 1 if x.shape[0] == 1 else x * 2, "a")
case("a branch on more", lambda x: x[-2:] if x.shape[0] > 2 else x, "a")
case("a loop over a static size", lambda x: sum(
    x[:, i] for i in range(x.shape[1])), "a 3 b")
case("linspace", lambda x: torch.linspace(0, 1, x.shape[0]) * x, "a")
case("grid_sample", lambda x, y: F.grid_sample(
    x, y, align_corners=False), "a 2 b 3", "a c 2 2")

# --- as users write them

case("a mask of neighbours", lambda x, m: _near(x, m), "a b 2", "m:a b")
case("a padding mask made additive", lambda x, m: x[:, None].expand(
    -1, x.shape[1], -1) + torch.zeros(m.shape).masked_fill(
        ~m, float("-inf"))[:, None].expand(m.shape[0], x.shape[1], m.shape[1]),
    "a b", "m:a b")
case("a mask of two", lambda m, k: (m[:, :, None] & k[:, None, :])[
    :, None].repeat(1, 2, 1, 1), "m:a b", "m:a c")
case("an expanded mask over heads", lambda x, m: torch.where(
    m[:, None, None, :].expand_as(x), x, torch.finfo(x.dtype).min).softmax(-1),
    "a 2 b c", "m:a c")
case("einsum of attention", lambda q, k, v: torch.einsum(
    "bhij,bjhd->bihd", torch.einsum("bihd,bjhd->bhij", q, k).softmax(-1), v),
    "a b 2 3", "a c 2 3", "a c 2 3")
case("einsum of a batch and a table", lambda x, w: torch.einsum(
    "bnd,hdk->bhnk", x, w), "a b 4", "2 4 3")
case("cat of a token", lambda x, t: torch.cat(
    [t.expand(x.shape[0], -1, -1), x], 1), "a b 3", "1 1 3")
case("cat of three", lambda x, y, z: torch.cat([x, y, z], -1), "a b", "a c",
     "a 2")
case("stack of unbound", lambda x: torch.stack(x.unbind(1)[::-1]), "a 3 b")
case("pad to a multiple", lambda x: F.pad(x, (0, -x.shape[1] % 4)).reshape(
    x.shape[0], -1, 4), "a b")
case("pad to another", lambda x, y: F.pad(x, (0, y.shape[1] - x.shape[1])) + y,
     "a b", "a c")
case("pad circular", lambda x: F.pad(x, (1, 1), mode="circular"), "a 2 b")
case("roll by half", lambda x: x.roll(x.shape[1] // 2, 1), "a b")
case("unfold of images", lambda x: F.unfold(x, 2, stride=2), "a 3 b c")
case("unfold with a step", lambda x: x.unfold(1, 3, 2).mean(-1), "a b")
case("avg_pool1d, padded", lambda x: F.avg_pool1d(x, 3, 1, 1), "a 2 b")
case("max_pool3d", lambda x: F.max_pool3d(x, 2), "a 2 b c 4")
case("adaptive_avg_pool2d of rows", lambda x: F.adaptive_avg_pool2d(
    x, (None, 2)), "a 2 b c")
model("Conv1d, dilated", lambda: nn.Conv1d(2, 3, 2, dilation=2), "a 2 b")
model("Conv1d, causal", lambda: nn.Sequential(
    nn.ConstantPad1d((2, 0), 0.0), nn.Conv1d(2, 2, 3, groups=2)), "a 2 b")
model("Conv3d", lambda: nn.Conv3d(2, 3, 2, padding=1), "a 2 b c 3")
model("Conv2d, unbatched", lambda: nn.Conv2d(2, 3, 2), "2 a b")
model("ConvTranspose1d", lambda: nn.ConvTranspose1d(2, 3, 3, stride=2,
      padding=1, output_padding=1), "a 2 b")
model("a residual block", lambda: nn.Sequential(
    nn.Conv2d(3, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)), "a 3 b c")
case("cummax", lambda x: x.cummax(1)[0], "a b")
case("logcumsumexp", lambda x: x.logcumsumexp(0), "a b")
case("gather of a sort", lambda x: x.gather(1, x.argsort(1)), "a b")
case("gather of expanded indices", lambda x, i: x.gather(
    1, i[..., None].expand(-1, -1, x.shape[2])), "a 3 b", "i:a c")
case("scatter_reduce", lambda x, i: torch.zeros(3).scatter_reduce(
    0, i, x, "amax"), "a", "i:a")
case("index_put of a row and a column", lambda x, i: x.clone().index_put(
    (torch.arange(i.shape[0]), i), torch.tensor(2.0)), "a 3", "i:a")
case("index_fill", lambda x: x.index_fill(0, torch.tensor([0]), 1.0), "a b")
case("topk, then gathered", lambda x, y: y.gather(
    1, x.topk(2, 1)[1][..., None].expand(-1, -1, y.shape[2])), "a b", "a b c")
case("searchsorted", lambda x, y: torch.searchsorted(x.sort()[0], y), "a", "b")
case("interpolate to another", lambda x, y: F.interpolate(
    x, size=y.shape[-2:]) + y, "a 2 b c", "a 2 d 4")
case("interpolate to half", lambda x: F.interpolate(
    x, size=(x.shape[2] // 2, x.shape[3] // 2), mode="bilinear"), "a 2 b c")
case("batch_norm in training", lambda x: F.batch_norm(
    x, None, None, training=True), "a 2 b")
case("group_norm of a sequence", lambda x: F.group_norm(
    x.transpose(1, 2), 2).transpose(1, 2), "a b 4")
case("standardised", lambda x: (x - x.mean(1, keepdim=True)) / (
    x.std(1, keepdim=True) + 1e-5), "a b 2")
case("an rnn written out", lambda x: _rnn(x), "a 3 4")
case("a decoder written out", lambda x, w: _decode(x, w), "a b 4", "4 4")
case("max of two, sliced", lambda x, y: F.pad(x, (
    0, max(x.shape[1], y.shape[1]) - x.shape[1])), "a b", "a c")
case("min of two, added", lambda x, y: x[:, :min(x.shape[1], y.shape[1])]
     + y[:, :min(x.shape[1], y.shape[1])], "a b", "a c")
case("min with a constant", lambda x: x[:, :min(x.shape[1], 3)], "a b")
case("max with a constant", lambda x: x.new_zeros(max(1, x.shape[0])), "a")
case("a size clamped", lambda x: x[:, max(0, x.shape[1] - 2):], "a b")
case("sum of many sizes", lambda x, y: torch.arange(
    x.shape[0] + y.shape[0] * 2), "a", "b")
case("broadcast of three", lambda x, y, z: x + y * z, "a 1 b", "c 1", "a c b")
case("broadcast of any two, twice", lambda x, y: (x + y) * (x - y), "a b",
     "c b")
case("in place on a slice", lambda x, y: _slice_added(x, y), "a b", "a")
case("in place on a view", lambda x: _view_doubled(x), "a b 2")
case("in place after a reshape", lambda x: _reshape_filled(x), "a b 2")
case("in place after contiguous", lambda x: _contiguous_filled(x), "a b")
case("a linear attention", lambda q, k, v: torch.einsum(
    "bld,bdm->blm", q.softmax(-1), torch.einsum(
        "bld,blm->bdm", k.softmax(1), v)),
    "a b 3", "a c 3", "a c 2")
case("alibi", lambda x: x + (-(torch.arange(x.shape[-1]) - torch.arange(
    x.shape[-2])[:, None]).abs()) * torch.tensor([0.5, 0.25])[:, None, None],
    "a 2 b c")
case("rope", lambda x: x * (torch.arange(x.shape[1])[:, None] * 0.1).cos()
     + torch.cat([-x[..., 1:], x[..., :1]], -1)
     * (torch.arange(x.shape[1])[:, None] * 0.1).sin(), "a b 2")
case("mean pooling", lambda x, m: (x * m.unsqueeze(-1).expand(x.size())).sum(1)
     / m.sum(1, keepdim=True).clamp(min=1e-9), "a b 3", "m:a b")
case("last token", lambda x, m: x[torch.arange(x.shape[0]), m.sum(-1) - 1],
     "a b 3", "m:a b")
case("tensor_split", lambda x: x.tensor_split(3, 1)[1], "a b")
case("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), "a 1 b c")
case("complex", lambda x: torch.view_as_real(torch.view_as_complex(x) ** 2),
     "a b 2")
case("fft of a sequence", lambda x: torch.fft.fft(x, dim=1).real, "a b")
case("irfft of rfft", lambda x: torch.fft.irfft(
    torch.fft.rfft(x), n=x.shape[1]), "a b")


def _near(x, mask):
    """Means over the neighbours that the mask has."""
    n = x.shape[1]
    near = (torch.arange(n)[:, None] - torch.arange(n)).abs() <= 1
    return (mask[:, None] & near[None]).expand(x.shape[0], n, n).float() @ x


def _rnn(x):
    state, states = x.new_zeros(x.shape[0], x.shape[2]), []
    for t in range(x.shape[1]):
        state = torch.tanh(x[:, t] + state)
        states.append(state)
    return torch.stack(states, 1), state


def _decode(x, w):
    found = [x[:, :1]]
    for _ in range(2):
        found.append(torch.cat(found, 1).mean(1, keepdim=True) @ w)
    return torch.cat(found, 1)


def _slice_added(x, y):
    result = x.clone()
    result[:, :1] += y[:, None]
    return result


def _view_doubled(x):
    result = x * 1
    result.view(-1, 2).mul_(2)
    return result


def _reshape_filled(x):
    """Fills a copy, or the tensor itself where the reshape is a view."""
    result = x * 1
    result.transpose(0, 1).reshape(-1, 2)[:1].fill_(7.0)
    return result


def _contiguous_filled(x):
    result = x * 1
    other = result.t().contiguous()
    other.add_(1)
    return result + other.t()


def _assigned(x, mask):
    result = x.clone()
    result[mask] = 0.0
    return result


def _row_assigned(x, row):
    result = x.clone()
    result[0] = row
    return result
