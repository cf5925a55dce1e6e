"""Which module of the program each operator is of, and how modules whose
calling convention is to be kept were called."""

import contextlib
import types

import torch
from torch.utils import _pytree as pytree

from proviso import _proviso

_id = id  # while tracing, builtins.id refuses traced tensors
_function = torch.nn.Module.__call__
# The same, for calls while its code is ours.
_call = types.FunctionType(_function.__code__, _function.__globals__,
                           _function.__name__, _function.__defaults__,
                           _function.__closure__)
_under_way = []  # of the traces of this process, innermost last


def named_modules(module, name=""):
    """[(name, module)] of it and all below, a shared one by each name: what
    .named_modules(remove_duplicate=False) yields through a generator a level."""
    found = [(name, module)]
    for key, child in module._modules.items():
        if child is not None:
            found += named_modules(child, f"{name}.{key}" if name else key)
    return found


class ModuleCalls:
    """The calls of a program's modules while it is traced."""

    def __init__(self, root, preserved=()):
        self.names = []  # of submodules, in order
        self._known = {}  # by a module's id: its names, and its type's
        if root is not None:
            for name, module in named_modules(root):
                if _id(module) not in self._known:
                    kind = type(module)
                    self._known[_id(module)] = (
                        [], f"{kind.__module__}.{kind.__qualname__}")
                self._known[_id(module)][0].append(name)
                if name:
                    self.names.append(name)
        self._open = [""]
        self._specs = {}  # {call: (structure of the inputs, of the outputs)}
        self._preserved = frozenset(preserved)
        for name in preserved:
            if name not in self.names:
                known = ", ".join(self.names) or "none"
                raise ValueError(
                    "export: preserve_module_call_signature: the program has "
                    f"no submodule {name!r}; its submodules are: {known}")

    @contextlib.contextmanager
    def watched(self):
        # Another attribute would cost each subclass of Module its caches.
        _under_way.append(self)
        _function.__code__ = _WATCHED
        try:
            yield
        finally:
            _under_way.pop()
            if not _under_way:
                _function.__code__ = _call.__code__

    def write(self, program):
        """The module_call_graph of a finished program."""
        program.set_module_names(
            self.names,
            {call: tuple(map(pytree.treespec_dumps, specs))
             for call, specs in self._specs.items()})

    def run(self, module, args, kwargs):
        known = self._known.get(_id(module))
        if known is None:
            return _call(module, *args, **kwargs)
        names, kind = known
        name = names[0] if len(names) == 1 else self._name_here(names)
        if name in self._preserved:
            return self._run_preserved(name, kind, module, args, kwargs)
        return self._run(name, kind, module, args, kwargs)

    def _name_here(self, names):
        """Of a shared module: the name below the module that calls it."""
        outer = self._open[-1] + "."
        return next((n for n in names if n.startswith(outer)), names[0])

    def _run(self, name, kind, module, args, kwargs):
        _proviso.enter_module(name, kind)
        self._open.append(name)
        try:
            return _call(module, *args, **kwargs)
        finally:
            self._open.pop()
            _proviso.exit_module()

    def _run_preserved(self, name, kind, module, args, kwargs):
        count = _proviso.calls_of(name)
        call = f"{name}@{count}" if count else name
        leaves, in_spec = pytree.tree_flatten((args, kwargs))
        _note(call, False, leaves)
        result = self._run(name, kind, module, args, kwargs)
        leaves, out_spec = pytree.tree_flatten(result)
        _note(call, True, leaves)
        self._specs[call] = (in_spec, out_spec)
        return result

    def keep(self, call, signature, inputs, outputs):
        """A call that another program's signature tells."""
        _note(call, False, inputs)
        _note(call, True, outputs)
        self._specs[call] = (signature.in_spec, signature.out_spec)


def _note(call, outputs, leaves):
    for leaf in leaves:
        if not isinstance(leaf, _VALUES):
            raise TypeError(
                f"export: preserve_module_call_signature: '{call}' "
                f"{'returns' if outputs else 'gets'} {leaf!r} of "
                f"{type(leaf)}; signatures hold tensors, numbers, strings "
                "and None")
    _proviso.note_module_call(call, outputs, leaves)


_VALUES = (torch.Tensor, int, float, bool, str, type(None), torch.SymInt,
           torch.SymFloat, torch.SymBool)


def _watched_call(self, *args, **kwargs):
    # Other threads call their modules as ever.
    if not _under_way or not _proviso.is_tracing():
        return _call(self, *args, **kwargs)
    return _under_way[-1].run(self, args, kwargs)


def _watched_code():
    scope = {}
    # As code of torch it is no frame of the user's.
    exec(compile("""
def _wrapped_call_impl(self, *args, **kwargs):
    from proviso import _modules
    return _modules._watched_call(self, *args, **kwargs)
""", torch.__file__, "exec"), scope)
    return scope["_wrapped_call_impl"].__code__


_WATCHED = _watched_code()
