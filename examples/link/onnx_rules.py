"""Rules of ONNX's operators for symbolic shapes (onnx_shapes.py).

    shapes = Shapes(model.graph)
    shapes.shapes["y"]            # [N, ((H + 1)//2)*((W + 1)//2), 8]
    shapes.findings               # what an operator needs and is not proved

A method an operator; the name of one is the operator's in small letters.  What
is not here is unknown from there on.
"""

import math

from onnx import helper, numpy_helper

from proviso import Context, Max

_SAME_SHAPE = {"Relu", "Sigmoid", "Tanh", "Erf", "Softmax", "Cast", "Identity",
               "BatchNormalization", "LRN", "Dropout", "Clip", "LeakyRelu"}
_BROADCAST = {"Add", "Sub", "Mul", "Div", "Pow", "Sum"}


class Shapes:
    """The shape of each value, and the numbers in those that are shapes."""

    def __init__(self, graph):
        self.context = Context()
        self.shapes, self.numbers, self.findings = {}, {}, []
        for tensor in graph.initializer:
            self._note(tensor.name, numpy_helper.to_array(tensor))
        for value in graph.input:
            dims = value.type.tensor_type.shape.dim
            self.shapes.setdefault(value.name, [self._dim(d) for d in dims])
        for node in graph.node:
            self._visit(node)

    def _note(self, name, array):
        self.shapes[name] = [self._expr(d) for d in array.shape]
        if array.dtype == "int64" and array.ndim <= 1:
            self.numbers[name] = list(
                map(self._expr, array.reshape(-1).tolist()))

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
            rule = self._same
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
            self.findings.append((node.name, answer.verdict,
                                  self.context.simplify(condition),
                                  answer.counterexample))
            if answer.verdict == "unknown":  # what follows may rely on it
                self.context.assume(condition, origin=f"checked: {node.name}")

    def _same(self, node, attributes, x, *_):
        return x

    def _elementwise(self, node, attributes, a, b, *more):
        if more:
            a, b = self._elementwise(node, attributes, a, b), more[0]
            return self._elementwise(node, attributes, a, b, *more[1:])
        rank = max(len(a), len(b))
        a = [self._expr(1)] * (rank - len(a)) + a
        b = [self._expr(1)] * (rank - len(b)) + b
        for x, y in zip(a, b):
            self._require((x == y) | (x == 1) | (y == 1), node)
        return [y if x.constant == 1 else x if y.constant == 1 else Max(x, y)
                for x, y in zip(a, b)]

    def _matmul(self, node, attributes, a, b):
        self._require(a[-1] == b[-2], node)
        batch = self._elementwise(node, attributes, a[:-2], b[:-2])
        return [*batch, a[-2], b[-1]]

    def _gemm(self, node, attributes, a, b, *_):
        a = a[::-1] if attributes.get("transA") else a
        b = b[::-1] if attributes.get("transB") else b
        self._require(a[1] == b[0], node)
        return [a[0], b[1]]

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

    def _constant(self, node, attributes):
        self._note(node.output[0], numpy_helper.to_array(attributes["value"]))
        return self.shapes[node.output[0]]

    def _constantofshape(self, node, attributes, _):
        return self.numbers.get(node.input[0])

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

    def _flatten(self, node, attributes, x):
        axis, one = attributes.get("axis", 1), self._expr(1)
        return [math.prod(part, start=one) for part in (x[:axis], x[axis:])]

    def _unsqueeze(self, node, attributes, x, *_):
        axes = attributes.get("axes") or [
            i.constant for i in self.numbers[node.input[1]]]
        rank, result = len(x) + len(axes), list(x)
        for axis in sorted(axis % rank for axis in axes):
            result.insert(axis, self._expr(1))
        return result

    def _conv(self, node, attributes, x, w, *_):
        self._require(x[1] == w[1] * attributes.get("group", 1), node)
        return self._windows(attributes, [x[0], w[0]], x[2:], w[2:])

    def _maxpool(self, node, attributes, x):
        return self._windows(attributes, x[:2], x[2:],
                             map(self._expr, attributes["kernel_shape"]))

    _averagepool = _maxpool

    def _globalaveragepool(self, node, attributes, x):
        return [*x[:2], *[self._expr(1)] * (len(x) - 2)]

    def _windows(self, attributes, first, sizes, kernels):
        """How often a kernel fits into each size, with borders."""
        rank = len(sizes)
        strides, dilations = (attributes.get(name, [1] * rank)
                              for name in ("strides", "dilations"))
        pads = attributes.get("pads", [0] * 2 * rank)
        padding = attributes.get("auto_pad", b"NOTSET").decode()
        result = list(first)
        for i, (size, kernel) in enumerate(zip(sizes, kernels)):
            stride = strides[i]
            if padding.startswith("SAME"):
                result.append((size + stride - 1) // stride)
                continue
            border = pads[i] + pads[i + rank] if padding == "NOTSET" else 0
            rest = size + border - dilations[i] * (kernel - 1) - 1
            if attributes.get("ceil_mode"):
                rest = rest + stride - 1
            result.append(rest // stride + 1)
        return result
