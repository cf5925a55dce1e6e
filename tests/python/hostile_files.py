"""What tests/python/test_hostile_*.py do to the files of model_files.py."""

from test_pt2_reading import tool

X = {"as_tensor": {"name": "x"}}
S77 = "Symbol('s77', positive=True, integer=True)"
# torch writes these into Python between quotes.
RUNS = """' or open("made", "w") or '"""


def nodes(archive, target):
    found = [n for n in archive.graph["nodes"] if target in n["target"]]
    assert found, target
    return found


def body_of(node):
    return next(i["arg"]["as_graph"]["graph"] for i in node["inputs"]
                if "as_graph" in i["arg"])


def dtype(code):
    def damage(archive):
        for given in nodes(archive, "aten.to.dtype")[0]["inputs"]:
            if given["name"] == "dtype":
                given["arg"] = code
    damage.__name__ = f"dtype_{code}"
    return damage


def calls(target, **arguments):
    """One node more: of this operator, on x and these integers."""
    def damage(archive):
        given = [("self", {"as_tensor": {"name": "x"}})]
        given += [(name, {"as_ints": v} if isinstance(v, list)
                   else {"as_int": v}) for name, v in arguments.items()]
        with_node(archive, target, *given)
    damage.__name__ = target
    return damage


def ends_well(command, path):
    """What it says; by no crash."""
    done = tool(command, path)
    assert "ended the process" not in done.stderr, done.stderr
    assert "std::" not in done.stderr and done.returncode >= 0, done.stderr
    return done.stdout + done.stderr


def with_node(archive, target, *arguments, result="made", count=1):
    graph = archive.graph
    entry = next(iter(graph["tensor_values"].values()))
    names = [result, *(f"{result}_{i}" for i in range(1, count))][:count]
    graph["tensor_values"].update(dict.fromkeys(names, entry))
    graph["nodes"].append({
        "target": f"torch.ops.{target}",
        "inputs": [{"name": name, "arg": value, "kind": 1}
                   for name, value in arguments],
        "outputs": [{"as_tensor": {"name": name}} for name in names],
        "metadata": {}})
