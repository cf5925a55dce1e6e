"""Which modules are no code of the user's."""

import functools
import os
import sys

_PACKAGES = {"torch", "proviso", "numpy"}.union(sys.stdlib_module_names)
_PYTHON = os.path.dirname(os.__file__) + os.sep


def is_library(name):
    """Whether the module of this name is torch's, ours or Python's."""
    package = str(name).partition(".")[0]
    return package in _PACKAGES and not _is_namesake(package)


@functools.cache
def _is_namesake(package):
    """Whether this is a user's package, called as one of Python's is."""
    if package not in sys.stdlib_module_names:
        return False
    path = getattr(sys.modules.get(package), "__file__", None)
    return bool(path) and not path.startswith(_PYTHON)


@functools.cache
def is_installed(name):
    """Whether the module of this name is no code of the user's."""
    path = getattr(sys.modules.get(name), "__file__", None) or ""
    return is_library(name) or "site-packages" in path.split(os.sep)
