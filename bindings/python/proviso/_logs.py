"""What a trace learns, while it learns it.

    PROVISO_LOGS=dynamic             every event on stderr
    PROVISO_LOGS_GUARD='Eq(s2, s4)'  the whole stack where that guard arises
    PROVISO_SHAPELOG=folder          each trace as folder/N-NAME.shapelog, which
                                     `proviso replay` asks again
    proviso.set_logs(dynamic=True)   the first two, at run time
    proviso.add_log_callback(f)      f(event) for each proviso Event
"""

import itertools
import os
import pathlib
import re
import traceback
from typing import Callable, Optional

from proviso import _proviso
from proviso._program import Event, SourceLocation

_callbacks = []
_numbers = itertools.count()


def set_logs(*, dynamic: Optional[bool] = None,
             guard: Optional[str] = None) -> None:
    """dynamic: print every event on stderr, as PROVISO_LOGS=dynamic does.
    guard: print the stack where this condition becomes a guard; "" for none.
    What is not given stays as it is."""
    was_dynamic, was_guard = _proviso.logs()
    _proviso.set_logs(was_dynamic if dynamic is None else dynamic,
                      was_guard if guard is None else guard)


def add_log_callback(callback: Callable[[Event], None]) -> None:
    """callback(event) is called for each event of each trace from now on.
    event.to_json() is one line for machines."""
    if not callable(callback):
        raise TypeError(
            f"add_log_callback: expected a function, got {callback!r}")
    _callbacks.append(callback)
    _proviso.set_log_callback(_call_all)


def remove_log_callback(callback: Callable[[Event], None]) -> None:
    """Undoes add_log_callback."""
    if callback not in _callbacks:
        raise ValueError(f"remove_log_callback: {callback!r} was not added")
    _callbacks.remove(callback)
    _proviso.set_log_callback(_call_all if _callbacks else None)


def _call_all(kind, subject, text, where):
    event = Event(kind, text, SourceLocation(*where), subject)
    for callback in list(_callbacks):
        callback(event)


def _stack():
    """The stack up to the trace, without this file."""
    frames = [f for f in traceback.extract_stack() if f.filename != __file__]
    return "".join(traceback.format_list(frames)).rstrip()


_proviso.set_log_stack(_stack)


def save_shapelog(session, mod) -> None:
    """Where PROVISO_SHAPELOG says, if it does."""
    folder = os.environ.get("PROVISO_SHAPELOG")
    if not folder:
        return
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "_", getattr(mod, "__name__", type(mod).__name__))
    path /= f"{os.getpid()}-{next(_numbers)}-{name}.shapelog"
    path.write_text(session.shapelog())

