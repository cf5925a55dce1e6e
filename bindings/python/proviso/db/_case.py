"""A case: a program, its inputs, and what it shows."""

import inspect
import textwrap
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch

_CASES: Dict[str, "Case"] = {}


@dataclass(frozen=True)
class Case:
    name: str
    module: type
    args: Callable[[], Tuple[Any, ...]]
    kwargs: Callable[[], Dict[str, Any]]
    tags: Tuple[str, ...]
    dynamic_shapes: Callable[[], Any]
    # Further inputs, each (args, kwargs), that the exported program takes.
    extra: Callable[[], List[Tuple[Any, ...]]]
    # Inputs that it must refuse.
    refused: Callable[[], List[Tuple[Any, ...]]]
    advice: Optional[str] = field(default=None)

    @property
    def description(self) -> str:
        return inspect.cleandoc(self.module.__doc__)

    @property
    def source(self) -> str:
        return textwrap.dedent(inspect.getsource(self.module))

    def make(self) -> torch.nn.Module:
        return self.module()


def case(name, args, *, kwargs=dict, tags=(), dynamic_shapes=lambda: None,
         extra=list, refused=list, advice=None):
    """Registers the class below it.  Inputs are functions, so that every run
    has its own."""
    def register(module):
        if name in _CASES:
            raise ValueError(f"two cases are called {name}")
        _CASES[name] = Case(name, module, args, kwargs, tuple(tags),
                            dynamic_shapes, extra, refused, advice)
        return module
    return register


def all_cases() -> List[Case]:
    return [_CASES[name] for name in sorted(_CASES)]


def with_tag(tag: str) -> List[Case]:
    known = sorted({t for c in all_cases() for t in c.tags})
    if tag not in known:
        raise KeyError(f"no case has the tag '{tag[:200]}'; tags: "
                       f"{', '.join(known)}")
    return [c for c in all_cases() if tag in c.tags]


def get(name: str) -> Case:
    if name not in _CASES:
        raise KeyError(f"no case '{name[:200]}'; `proviso db list` names them")
    return _CASES[name]
