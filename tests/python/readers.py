"""Every .pt2 of ours is read by every reader, and gives what eager gives.

    python tests/python/readers.py [--only NAME] [--from SOURCE ...] [--every N]

A program is exported and saved.  Its readers are `proviso check` and `run`,
proviso.load, torch.export.load, the decompositions of both, and what both write
again of what they read.  `examine` says where one raises, refuses sizes that
the program takes, or gives something else than eager.
"""

import argparse
import copy
import logging
import os
import pathlib
import re
import sys
import tempfile
import traceback
import warnings

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
_HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "models")]

import torch  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import op_samples  # noqa: E402
import proviso  # noqa: E402
from reader_programs import Case  # noqa: E402

ROOT = _HERE.parents[1]
COMMAND = pathlib.Path(
    os.environ.get("PROVISO_COMMAND", ROOT / "build" / "bin" / "proviso-pt2"))


def close(found, expected):
    if isinstance(expected, torch.Tensor):
        return (isinstance(found, torch.Tensor)
                and found.shape == expected.shape
                and found.dtype == expected.dtype
                and torch.allclose(found.detach(), expected.detach(), rtol=1e-4,
                                   atol=1e-4, equal_nan=True))
    if isinstance(expected, float):
        return type(found) is float and (
            found == expected or abs(found - expected) < 1e-9 * abs(expected)
            or (found != found and expected != expected))
    return type(found) is type(expected) and found == expected


def same(found, expected):
    found, expected = pytree.tree_leaves(found), pytree.tree_leaves(expected)
    return len(found) == len(expected) and all(map(close, found, expected))


def same_types(found, expected):
    """Of a program that draws numbers: `run` is a process with a seed of its
    own."""
    def types(values):
        return [(v.shape, v.dtype) if isinstance(v, torch.Tensor) else type(v)
                for v in pytree.tree_leaves(values)]

    return types(found) == types(expected)


# What `check` says of files that are right: of a branch of the program's own,
# and of what the program asserts itself.
_TRUE = ("right if the model's own code asks for it",
         "Runtime assertion failed for expression")


def _of_python(error):
    """Whether the command lacks an operator that a Python library defines
    (transformers' grouped_mm_fallback)."""
    found = re.search(r"torch\.ops\.(\w+)\.\S+\): there is no such operator",
                      error)
    return bool(found) and found[1] not in ("aten", "prims", "higher_order")


class Refused(Exception):
    """A reader ran and raised."""


def call(function, inputs):
    """The result, and the inputs' tensors after the call.  What a module does to
    an object that holds them (a cache of keys and values) is no part of an
    exported program, ours or torch's: its results are."""
    args, kwargs = copy.deepcopy(inputs)
    leaves = pytree.tree_leaves((args, kwargs))
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            result = function(*args, **kwargs)
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}".strip()) from error
    return result, leaves


def _input_tensors(program):
    """What torch's program knows of the tensors that the caller gives."""
    nodes = [n for n in program.graph.nodes if n.op == "placeholder"]
    specs = program.graph_signature.input_specs
    return [node.meta["val"] for node, spec in zip(nodes, specs)
            if spec.kind.name == "USER_INPUT"
            and isinstance(node.meta.get("val"), torch.Tensor)]


def torch_saved(program, path):
    torch.export.save(program, path)
    return path


class Examination:
    """One program through every reader; what broke is in `complaints`."""

    def __init__(self, case, folder, command=True):
        self.case, self.folder = case, pathlib.Path(folder)
        self.command = command
        self.complaints = []
        self._peer = None

    def complain(self, step, what):
        self.complaints.append(f"{self.case.name}: {step}: {what}")

    def attempt(self, step, make, peer=None):
        """What make() gives, or None after a complaint.  A step of torch's
        that fails for torch's own program too is torch's."""
        try:
            return make()
        except Exception as error:
            if self.case.may_fail and isinstance(
                    error, proviso.DataDependentError):
                return None
            if peer is not None and self._fails_for_peer(peer):
                return None
            trace = traceback.format_exc().splitlines()
            self.complain(step, f"{type(error).__name__}: {error}".strip()
                          + ("\n" + "\n".join(trace[-12:])
                             if os.environ.get("TRACE") else ""))
            return None

    def _fails_for_peer(self, step):
        try:
            if self._peer is None:
                args, kwargs = self.case.inputs(*self.case.sizes[0])
                self._peer = torch.export.export(
                    self.case.module(), args, kwargs, strict=False,
                    dynamic_shapes=self.case.shapes)
            step(self._peer)
            return False
        except Exception:
            return True

    def _fixed_by_torch(self, inputs):
        """Whether torch's own program, decomposed, refuses them too: of pieces
        it keeps the lengths that the example has."""
        return self._fails_for_peer(lambda peer: call(
            self.runner(peer.run_decompositions()), inputs))

    def run(self):
        args, kwargs = self.case.inputs(*self.case.sizes[0])
        ep = self.attempt("export", lambda: self.case.export(args, kwargs))
        if ep is None:
            return self.complaints
        self.points = list(self._points(ep))
        if not self.points and not self.case.may_fail:
            self.complain("module", "takes no sizes of the case")
        self.read(ep, "")
        return self.complaints

    def _points(self, ep):
        """(sizes, inputs, what eager gives) where the program takes them."""
        for i, sizes in enumerate(self.case.sizes):
            inputs = self.case.inputs(*sizes)
            try:
                expected = call(self.case.module(), inputs)
            except Refused as error:
                if i == 0 and not self.case.may_fail:
                    self.complain("eager", error)
                continue
            try:
                found = call(self.runner(ep), inputs)
            except Refused as error:
                if i == 0 and not self.case.may_fail:
                    self.complain("module", error)
                continue
            if not same(found, expected):
                self.complain("module", f"differs from eager at {sizes}")
                continue
            yield sizes, inputs, expected

    def runner(self, program):
        """The callable; its state is afterwards as before."""
        run = program.module()
        if not self.case.stateful:
            return run

        def restoring(*args, **kwargs):
            state = [*run.parameters(), *run.buffers()]
            before = [tensor.detach().clone() for tensor in state]
            try:
                return pytree.tree_map_only(
                    torch.Tensor, lambda t: t.detach().clone(),
                    run(*args, **kwargs))
            finally:
                with torch.no_grad():
                    for tensor, old in zip(state, before):
                        tensor.copy_(old)

        return restoring

    # --- the readers
    def load(self, path):
        return proviso.load(path, trusted=self.case.trusted)

    def refuses_to_save(self, ep, path):
        """What torch's format cannot hold is not written, and the error says
        what to write instead."""
        try:
            ep.save(path)
        except Exception as error:
            if self.case.unsaved in str(error):
                return
            self.complain("save", f"another error: {error}")
        else:
            self.complain("save", "writes what torch does not read")

    def read(self, ep, by, again=True):
        path = self.folder / f"ours{by}.pt2".replace(" ", "_")
        if self.case.unsaved:
            return self.refuses_to_save(ep, path)
        if self.attempt(f"{by}save", lambda: (ep.save(path), 1)) is None:
            return
        self.read_file(path, f"{by}", again)

    def read_file(self, path, by, again):
        if self.command:
            self.read_by_command(path, by)
        def peer(program):
            return torch.export.load(
                torch_saved(program, self.folder / "peer.pt2"))

        # What torch writes, and does not read again, is torch's.
        loaded = self.attempt(f"{by}proviso.load", lambda: self.load(path),
                              peer if "torch.export.save" in by else None)
        theirs = self.attempt(f"{by}torch.export.load",
                              lambda: torch.export.load(path), peer)
        self.compare(f"{by}proviso.load", self.load, loaded)
        self.compare(f"{by}torch.export.load", torch.export.load, theirs)
        if not again:
            return
        if loaded is not None:
            self.read(loaded, f"{by}proviso.load > ", False)
            ours = self.attempt(f"{by}proviso.load > run_decompositions",
                                loaded.run_decompositions, self._decomposes)
            if ours is not None:
                self.compare_program(
                    f"{by}proviso.load > run_decompositions", ours)
                self.read(ours, f"{by}proviso.load > decomposed > ", False)
        if theirs is not None:
            self.resave(theirs, f"{by}torch.export.load > ")
            core = self.attempt(f"{by}torch.export.load > run_decompositions",
                                theirs.run_decompositions, self._decomposes)
            if core is not None:
                self.core = core
                self.compare_program(
                    f"{by}torch.export.load > run_decompositions", core, True)
                self.resave(core, f"{by}torch.export.load > decomposed > ")

    @staticmethod
    def _decomposes(peer):
        return torch.export.save(peer.run_decompositions(), "/dev/null")

    def resave(self, theirs, by):
        path = self.folder / "theirs.pt2"
        name = f"{by}torch.export.save"

        def peer(program):
            if "decomposed" in by:
                program = program.run_decompositions()
            return torch.export.load(
                torch_saved(program, self.folder / "peer.pt2"))

        if self.attempt(name, lambda: torch_saved(theirs, path), peer):
            self.read_file(path, f"{name} > ", False)

    def compare_program(self, step, program, is_torch=False):
        run = self.runner(program)
        for sizes, inputs, expected in self.points:
            self._compare(step, run, sizes, inputs, expected, is_torch)

    def compare(self, step, load, program):
        if program is None:
            return
        self.compare_program(step, program, load is torch.export.load)

    def _compare(self, step, run, sizes, inputs, expected, is_torch):
        try:
            found = call(run, inputs)
        except Refused as error:
            # torch refuses what it guesses to be at least 2, and makes an
            # assertion of it where a size from data equals an input's.
            small = (is_torch or "decompos" in step) and any(
                isinstance(s, int) and s < 2 for s in sizes)
            # Its decompositions fix sizes (`reshape(6, -1)`).
            fixed = "decompos" in step and "Guard failed" in str(error)
            if not small and not fixed and not (
                    is_torch and "decompos" in step
                    and self._fixed_by_torch(inputs)):
                self.complain(step, f"refuses {sizes}: {error}")
            return
        if not same(found, expected) and not (
                "torch.export.load > run_decompositions" in step
                and self.fixed(inputs)):
            self.complain(step, f"differs from eager at {sizes}")

    def fixed(self, inputs):
        """Whether a size is none that torch's decomposition was made for: its
        own module does not check what it fixed."""
        nodes = _input_tensors(self.core)
        leaves = op_samples.tensors_in(inputs)
        return any(size != wanted.node.expr
                   for leaf, value in zip(leaves, nodes)
                   for size, wanted in zip(leaf.shape, value.shape)
                   if isinstance(wanted, torch.SymInt)
                   and wanted.node.expr.is_Integer)

    # --- the command
    def read_by_command(self, path, by):
        checked = self.tool("check", path)
        if _of_python(checked.stderr):
            return
        # What torch decomposes keeps none of its guards: they are missing.
        bad = ("wrong", "not traced") + ("missing",) * ("torch.export.load > "
                                                        "decomposed" not in by)
        lines = [line for line in checked.stdout.splitlines()
                 if line.startswith(bad) and not any(map(line.count, _TRUE))]
        if lines or checked.returncode not in (0, 1):
            self.complain(f"{by}check", "; ".join(lines) or checked.stderr)
        for sizes, inputs, (expected, _) in self.points[-1 if by else -2:]:
            flat = pytree.tree_leaves(inputs)
            torch.save(flat, self.folder / "in.pt")
            done = self.tool("run", path, self.folder / "in.pt",
                             self.folder / "out.pt")
            if done.returncode != 0:
                fixed = "decomposed" in by and "Guard failed" in done.stderr
                if "torch.export.load > decomposed" not in by and not fixed:
                    self.complain(f"{by}run",
                                  f"at {sizes}: {done.stderr.strip()}")
                return
            found = torch.load(self.folder / "out.pt", weights_only=False)
            alike = same if not self.case.random else same_types
            if not alike(list(found), expected):
                self.complain(f"{by}run", f"differs from eager at {sizes}")

    @staticmethod
    def tool(*words):
        import subprocess
        return subprocess.run([str(COMMAND), *map(str, words)],
                              capture_output=True, text=True, timeout=120)


def examine(case, folder, command=True):
    logging.disable(logging.WARNING)  # some of torch's are malformed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Examination(case, folder, command).run()
    finally:
        logging.disable(logging.NOTSET)


# --- programs from elsewhere

def alike(make):
    """Makes modules of the same weights."""
    def made():
        torch.manual_seed(0)
        return make()

    return made


def exportdb():
    from proviso import db
    for case in db.all_cases():
        points = [(case.args(), case.kwargs())] + [
            (args, {}) for args in case.extra()]
        yield Case(f"exportdb/{case.name}", alike(case.make),
                   lambda i, points=points: points[i], case.dynamic_shapes(),
                   [(i,) for i in range(len(points))], stateful=True)


def dde():
    """Programs whose sizes come from data, with each of their checks."""
    import importlib.util
    import linecache
    path = ROOT.parent / "shared" / "cases" / "dde_programs.py"
    if not path.exists():
        return
    spec = importlib.util.spec_from_file_location("dde_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, p in module.PROGRAMS.items():
        for i, checks in enumerate([[]] + p["cands"]):
            text = p["src"].strip()
            indent = next(line[:len(line) - len(line.lstrip())]
                          for line in text.splitlines() if "#CHECK" in line)
            text = text.replace(f"{indent}#CHECK", "\n".join(
                f"{indent}torch._check({c})" for c in checks))
            file = f"<dde {name} {i}>"
            linecache.cache[file] = (len(text), None,
                                     text.splitlines(True), file)
            space = dict(vars(module))
            exec(compile(text, file, "exec"), space)
            kind = type(name, (torch.nn.Module,), {"forward": space["forward"]})
            examples = [p["make"](k) for k in range(4)]
            yield Case(f"dde/{name}/{i}", kind,
                       lambda k, e=examples: (e[k], {}), p["dyn"],
                       [(k,) for k in range(4)], may_fail=True)


DRAWING = {"vit_mae"}  # a mask


def zoo():
    from zoo import ZOO
    for name, case in ZOO.items():
        yield Case(f"zoo/{name}", case.build,
                   lambda *size, case=case: ((), case.kwargs(size)),
                   case.shapes, [case.traced, *case.others],
                   trains=False, trusted=case.cached,
                   random=name in DRAWING)


def drawn(count, seed):
    from random_programs import AUTO, Program
    for i in range(count):
        program = Program(seed * 1000003 + i)
        if program.eager(program.inputs(*program.example)) is None:
            continue
        sizes = [program.example, (7, 4), (12, 9), (6, 6), (2, 5), (1, 3),
                 (0, 8)]
        spec = program.spec if program.promises(*program.example) else AUTO
        yield Case(f"random/{program.seed}", lambda run=program.run: run,
                   lambda n, m, p=program: (p.inputs(n, m), {}), spec, sizes,
                   refines=True, text=program.code)


class Recorder:
    """Of each test that pytest runs: what it exports, at its example."""

    def __init__(self, folder, command):
        self.folder, self.command = folder, command
        self.programs, self.complaints = 0, []

    def pytest_runtest_setup(self, item):
        export, self.name, self.count = proviso.export, item.nodeid, 0

        def recorded(mod, args, kwargs=None, **options):
            kept = (mod, args, kwargs or {})
            try:
                kept = copy.deepcopy(kept)
            except Exception:
                return export(mod, args, kwargs, **options)
            ep = export(mod, args, kwargs, **options)
            self.examine(ep, kept, options)
            return ep

        self._original, proviso.export = export, recorded

    def pytest_runtest_teardown(self, item):
        proviso.export = self._original

    def examine(self, ep, kept, options):
        mod, args, kwargs = kept
        self.programs += 1
        self.count += 1
        case = Recorded(f"{self.name.split('/')[-1]}#{self.count}",
                        lambda: copy.deepcopy(mod),
                        lambda: copy.deepcopy((tuple(args), kwargs)),
                        options.get("dynamic_shapes"), [()], stateful=True)
        case.program = ep
        with torch.random.fork_rng():
            found = examine(case, self.folder, self.command)
        self.complaints += found
        print("\n".join(found), end="\n" * bool(found), file=sys.__stdout__,
              flush=True)


class Recorded(Case):
    def export(self, args, kwargs):
        return self.program


def recorded(files, folder, command):
    import pytest
    recorder = Recorder(folder, command)
    pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "--tb=no",
                 *map(str, files)], plugins=[recorder])
    print(f"{recorder.programs} programs of tests")


def sources(count, seed):
    import reader_programs
    return {"own": reader_programs.own, "equal": reader_programs.equalities,
            "exportdb": exportdb, "dde": dde, "zoo": zoo,
            "random": lambda: drawn(count, seed)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--from", dest="places", nargs="*")
    parser.add_argument("--random", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1,
                        help="only each so many-th program of a source")
    parser.add_argument("--no-command", action="store_true")
    parser.add_argument("--tests", nargs="*", default=())
    parser.add_argument("--verbose", action="store_true",
                        help="name each program on stderr before it is read")
    options = parser.parse_args()
    programs = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.tests:
            return recorded(options.tests, folder, not options.no_command)
        for place, cases in sources(options.random, options.seed).items():
            if options.places and place not in options.places:
                continue
            for i, case in enumerate(cases()):
                if options.only not in case.name or i % options.every:
                    continue
                programs += 1
                if options.verbose:
                    print(place, case.name, file=sys.stderr, flush=True)
                found = examine(case, folder, not options.no_command)
                failed += bool(found)
                print("\n".join(found), end="\n" * bool(found), flush=True)
    print(f"{programs} programs, {failed} not read by all")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
