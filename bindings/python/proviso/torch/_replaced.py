"""A function of torch that is another one while Proviso answers.

    _compile = Replaced("torch._dynamo.convert_frame", "_compile", _watching)
    _compile.bind(True)         # from now on, or from when it is imported
    _compile.bind(False)        # torch's own again

`_watching(original)` makes the other one; functools.wraps says whose it is.
A function that other code has bound to that name since is left alone.
"""

import sys

import proviso_autoload


class Replaced:
    def __init__(self, module, name, make):
        self.is_bound = False
        self._module, self._name, self._make = module, name, make
        self._waits = False
        self._ours = None

    def bind(self, wanted):
        self.is_bound = wanted
        if hasattr(sys.modules.get(self._module), self._name):
            self._put()
        elif wanted and not self._waits:
            self._waits = True
            proviso_autoload.after_import(self._module, self._put)

    def _put(self):
        module = sys.modules[self._module]
        found = getattr(module, self._name)
        if not self.is_bound:
            if self._ours is not None and found is self._ours:
                setattr(module, self._name, found.__wrapped__)
        elif self._ours is None or found is self._ours.__wrapped__:
            self._ours = self._make(found)
            setattr(module, self._name, self._ours)
