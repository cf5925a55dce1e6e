"""Symbolic shapes through an ONNX graph, beside onnx's own shape inference.

    python onnx_shapes.py [MODEL.onnx]      # needs proviso and onnx

Dimensions keep their meaning: a convolution gives (H + 1)//2, a concatenation
a + b, a Reshape by Shape -> Gather -> Concat what it was written for.  Where
onnx invents a new name (unk__3), an equation is known here, so that two
dimensions merge and a reshape is proved.
"""

import math
import sys

import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

from proviso import Context, Max

_SAME_SHAPE = {"Relu", "Sigmoid", "Tanh", "Erf", "Softmax", "Cast", "Identity"}
_BROADCAST = {"Add", "Sub", "Mul", "Div", "Pow"}


class Shapes:
    """The shape of each value, and the numbers in those that are shapes."""

    def __init__(self, graph):
        self.context = Context()
        self.shapes, self.numbers, self.findings = {}, {}, []
        for tensor in graph.initializer:
            array = numpy_helper.to_array(tensor)
            self.shapes[tensor.name] = [self._expr(d) for d in array.shape]
            if array.dtype == "int64" and array.ndim <= 1:
                self.numbers[tensor.name] = list(
                    map(self._expr, array.reshape(-1).tolist()))
        for value in graph.input:
            dims = value.type.tensor_type.shape.dim
            self.shapes.setdefault(value.name, [self._dim(d) for d in dims])
        for node in graph.node:
            self._visit(node)

    def _expr(self, number):
        return self.context.expr(number)

    def _dim(self, dim):
        if dim.HasField("dim_value"):
            return self._expr(dim.dim_value)
        name = dim.dim_param or f"unnamed_{len(self.context)}"
        self.context.declare(name, 1, None, origin="a size of an input")
        return self.context.symbol(name)

    def _visit(self, node):
        rule = getattr(self, f"_{node.op_type.lower()}", None)
        if node.op_type in _SAME_SHAPE:
            rule = lambda node, attributes, x, *_: x  # noqa: E731
        elif node.op_type in _BROADCAST:
            rule = self._elementwise
        if rule is None or not all(
                name in self.shapes for name in node.input if name):
            return  # unknown from here on, as are its users
        attributes = {a.name: helper.get_attribute_value(a)
                      for a in node.attribute}
        result = rule(node, attributes, *[self.shapes[name]
                                          for name in node.input if name])
        if result is not None:
            self.shapes[node.output[0]] = [
                self.context.simplify(size) for size in result]

    def _require(self, condition, node):
        answer = self.context.ask(condition)
        if answer.verdict != "yes":
            self.findings.append((node.name, answer.verdict, condition,
                                  answer.counterexample))
            if answer.verdict == "unknown":  # what follows may rely on it
                self.context.assume(condition, origin=f"checked: {node.name}")

    def _elementwise(self, node, attributes, a, b):
        rank = max(len(a), len(b))
        a = [self._expr(1)] * (rank - len(a)) + a
        b = [self._expr(1)] * (rank - len(b)) + b
        for x, y in zip(a, b):
            self._require((x == y) | (x == 1) | (y == 1), node)
        return [Max(x, y) for x, y in zip(a, b)]

    def _matmul(self, node, attributes, a, b):
        self._require(a[-1] == b[-2], node)
        batch = self._elementwise(node, attributes, a[:-2], b[:-2])
        return [*batch, a[-2], b[-1]]

    def _transpose(self, node, attributes, x):
        order = attributes.get("perm", range(len(x) - 1, -1, -1))
        return [x[i] for i in order]

    def _concat(self, node, attributes, *parts):
        if all(name in self.numbers for name in node.input):
            self.numbers[node.output[0]] = [
                n for name in node.input for n in self.numbers[name]]
        axis, result = attributes["axis"] % len(parts[0]), list(parts[0])
        for part in parts[1:]:
            for i, (x, y) in enumerate(zip(result, part)):
                if i != axis:
                    self._require(x == y, node)
            result[axis] = result[axis] + part[axis]
        return result

    def _shape(self, node, attributes, x):
        self.numbers[node.output[0]] = list(x)
        return [self._expr(len(x))]

    def _gather(self, node, attributes, x, index):
        data, at = (self.numbers.get(name) for name in node.input)
        if data and at and all(i.constant is not None for i in at):
            self.numbers[node.output[0]] = [data[i.constant] for i in at]
        axis = attributes.get("axis", 0) % len(x)
        return [*x[:axis], *index, *x[axis + 1:]]

    def _reshape(self, node, attributes, x, _):
        wanted = self.numbers.get(node.input[1])
        if wanted is None or attributes.get("allowzero"):
            return None
        sizes = [x[i] if w.constant == 0 else w for i, w in enumerate(wanted)]
        count = math.prod(x, start=(one := self._expr(1)))
        if not any(w.constant == -1 for w in sizes):
            self._require(math.prod(sizes, start=one) == count, node)
            return sizes
        known = math.prod([s for s in sizes if s.constant != -1], start=one)
        self._require(count % known == 0, node)
        return [count // known if s.constant == -1 else s for s in sizes]

    def _conv(self, node, attributes, x, w, *_):
        if attributes.get("auto_pad", b"NOTSET") != b"NOTSET":
            return None
        self._require(x[1] == w[1] * attributes.get("group", 1), node)
        rank = len(x) - 2
        stride, dilation = (attributes.get(name, [1] * rank)
                            for name in ("strides", "dilations"))
        pad = attributes.get("pads", [0] * 2 * rank)
        return [x[0], w[0], *(
            (x[i + 2] + pad[i] + pad[i + rank]
             - dilation[i] * (w[i + 2] - 1) - 1) // stride[i] + 1
            for i in range(rank))]


def example():
    """Two towers of an image model, joined and flattened."""
    node, f32 = helper.make_node, TensorProto.FLOAT

    def weights(name, *dims):
        return helper.make_tensor(name, f32, dims, [0.0] * math.prod(dims))

    def numbers(name, *values):
        return helper.make_tensor(name, TensorProto.INT64, [len(values)],
                                  values)

    conv = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    nodes = [
        node("Conv", ["x", "w1"], ["a"], name="conv_a", **conv),
        node("Conv", ["x", "w2"], ["b"], name="conv_b", **conv),
        node("Add", ["a", "b"], ["sum"], name="residual"),
        node("Concat", ["a", "b"], ["both"], name="join", axis=1),
        node("Shape", ["both"], ["shape"], name="shape"),
        node("Gather", ["shape", "first_two"], ["head"], name="head"),
        node("Concat", ["head", "rest"], ["flat_shape"], name="to", axis=0),
        node("Reshape", ["both", "flat_shape"], ["flat"], name="flatten"),
        node("Transpose", ["flat"], ["tokens"], name="turn", perm=[0, 2, 1]),
        node("MatMul", ["tokens", "w3"], ["y"], name="project"),
    ]
    graph = helper.make_graph(
        nodes, "towers",
        [helper.make_tensor_value_info("x", f32, ["N", 3, "H", "W"])],
        [helper.make_tensor_value_info("y", f32, None)],
        [weights("w1", 4, 3, 3, 3), weights("w2", 4, 3, 3, 3),
         weights("w3", 8, 8), numbers("first_two", 0, 1), numbers("rest", -1)])
    return helper.make_model(graph)


def theirs_of(model):
    inferred = shape_inference.infer_shapes(model, data_prop=True).graph
    return {value.name: [d.dim_param or d.dim_value or "?" for d in
                         value.type.tensor_type.shape.dim]
            for value in [*inferred.value_info, *inferred.output]}


def main():
    is_example = len(sys.argv) < 2
    model = example() if is_example else onnx.load(sys.argv[1])
    ours, theirs = Shapes(model.graph), theirs_of(model)
    for name, sizes in ours.shapes.items():
        if name in theirs:
            print(f"{name}: {sizes}   onnx: {theirs[name]}")
    for name, verdict, condition, point in ours.findings:
        print(f"{name}: {condition} is {verdict}, e.g. not at {point}")
    expected = ["N", "((H + 1)//2)*((W + 1)//2)", 8]
    right = not is_example or not ours.findings and all(
        ours.context.equivalent(x, y) == "yes"
        for x, y in zip(ours.shapes["y"], expected))
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
