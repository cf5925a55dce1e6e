"""A fork while another thread holds the locks of proviso.torch leaves a child
that answers.  A program of its own: pytest's process has threads of torch's,
which may hold locks of theirs.

    python tests/python/fork_while_bound.py
"""

import os
import signal
import threading

from torch.fx.experimental import symbolic_shapes

import proviso.torch
from proviso.torch import _binding, _shape_env

held, done = threading.Event(), threading.Event()


def hold():
    with _binding._lock, _shape_env._making:
        held.set()
        done.wait(0.5)


other = threading.Thread(target=hold)
other.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)  # a child that waits for ever fails the test
    proviso.torch.enable()
    found = symbolic_shapes.ShapeEnv()
    os._exit(0 if _shape_env.companion(found) is not None else 1)
done.set()
other.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert not proviso.torch.is_enabled()
print("answered")
