"""Symbolic shapes through ONNX graphs, beside onnx's own shape inference.

    python onnx_shapes.py [MODEL.onnx...]      # needs proviso and onnx

Dimensions keep their meaning: a convolution gives (H + 1)//2, a concatenation
a + b, a Reshape by Shape -> Gather -> Concat what it was written for.  Where
onnx invents a new name (unk__3), an equation is known here, so that two
dimensions merge and a reshape is proved.  Of each file, whose inputs get a
symbolic batch, height and width, it says how many extents each side knows: as
numbers or expressions, or as new names.  Without a file it takes an example,
and the networks that onnx's own tests have, where they are installed.
"""

import math
import pathlib
import sys

import onnx
from onnx import TensorProto, helper, shape_inference

from onnx_rules import Shapes


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


def freed(model):
    """The same with a symbolic batch, height and width."""
    weights = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        if value.name not in weights and len(dims) == 4:
            for i, name in ((0, "N"), (2, "H"), (3, "W")):
                dims[i].dim_param = name
    for value in [*model.graph.value_info, *model.graph.output]:
        value.type.tensor_type.ClearField("shape")
    return model


def theirs_of(model):
    inferred = shape_inference.infer_shapes(model, data_prop=True).graph
    return {value.name: [d.dim_param or d.dim_value or "?" for d in
                         value.type.tensor_type.shape.dim]
            for value in [*inferred.value_info, *inferred.output]
            if value.type.tensor_type.HasField("shape")}


def compare(name, model):
    """How many extents are known here, and to onnx."""
    ours, theirs = Shapes(model.graph), theirs_of(model)
    outputs = [output for node in model.graph.node for output in node.output]
    known = [size for output in outputs
             for size in ours.shapes.get(output, [])]
    inputs = {"N", "H", "W"}
    named = [d for output in outputs for d in theirs.get(output, [])
             if isinstance(d, int) or d in inputs]
    print(f"{name}: {len(outputs)} values; extents known here {len(known)}, "
          f"by onnx {len(named)}; conditions left {len(ours.findings)}")
    for node, verdict, condition, point in ours.findings[:3]:
        print(f"    {node}: {condition} is {verdict}, not at {point}")
    return len(known), len(named)


def run_example():
    model = example()
    ours, theirs = Shapes(model.graph), theirs_of(model)
    for name, sizes in ours.shapes.items():
        if name in theirs:
            print(f"{name}: {sizes}   onnx: {theirs[name]}")
    expected = ["N", "((H + 1)//2)*((W + 1)//2)", 8]
    return not ours.findings and all(
        ours.context.equivalent(x, y) == "yes"
        for x, y in zip(ours.shapes["y"], expected))


def main():
    tests = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    files = sys.argv[1:] or sorted(tests.glob("light/*.onnx"))
    right = bool(sys.argv[1:]) or run_example()
    for file in map(pathlib.Path, files):
        ours, theirs = compare(file.name, freed(onnx.load(file)))
        right = right and ours >= theirs
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
