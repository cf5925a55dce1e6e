"""A ShapeEnv, pickled, is torch's own in the process that reads it, which may
not know Proviso: what Proviso decided goes along as guards.

    env.__reduce_ex__(4)      # torch's class by its name, and this state
    watch_graphs(guards_of)   # the same of the ShapeEnv of a pickled graph
"""

import copyreg
import importlib

from torch.fx.experimental import symbolic_shapes


class _TorchsName:
    """Pickled, it is what torch calls ShapeEnv in the process that reads it."""

    def __reduce__(self):
        return getattr, (_TorchsModule(), "ShapeEnv")


class _TorchsModule:
    def __reduce__(self):
        return importlib.import_module, (symbolic_shapes.__name__,)


def reduced(state):
    """What __reduce_ex__ gives of a ShapeEnv with these attributes."""
    return copyreg._reconstructor, (_TorchsName(), object, None), state


def watch_graphs(guards_of):
    """Graphs are pickled (for compile workers, compiled artifacts and their
    caches) with the attributes of their ShapeEnv, and put into one of the
    process that reads them.

    guards_of(env): the guards that go along; None for torch's own ShapeEnv."""
    from torch.fx import _graph_pickler

    data = _graph_pickler._ShapeEnvPickleData
    take = data.__init__
    if getattr(take, "of_proviso", False):
        return

    def __init__(self, env):
        take(self, env)
        guards = guards_of(env)
        if guards is not None:
            self.data["guards"] = guards

    __init__.of_proviso = True
    data.__init__ = __init__
