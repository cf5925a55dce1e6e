"""Iterators that a program holds and advances: self.count = itertools.count().

    before = position(iterator)
    ...
    if not is_at(iterator, before):
        again = renewed(before)  # another one, where that one was

What __reduce__ says is all there is of an iterator; those that it goes over,
and lists that it keeps, are taken apart too.
"""

import collections
import itertools
import types

_At = collections.namedtuple("_At", "make arguments state")
_List = collections.namedtuple("_List", "items itself")
_Running = collections.namedtuple("_Running", "line names values")

GENERATOR = types.GeneratorType
TYPES = tuple(kind for kind in vars(itertools).values()
              if isinstance(kind, type)) + tuple(
    {type(iter(empty)) for empty in (
        [], (), {}, {}.keys(), {}.values(), {}.items(), set(), "", b"",
        bytearray(), range(0), range(1 << 70), reversed([]), reversed({}))}
) + (enumerate, zip, map, filter, reversed)
_PLAIN = (int, float, bool, str, bytes, range)


def position(value):
    """None where the iterator does not say."""
    if isinstance(value, GENERATOR):
        return _position_of_generator(value)
    try:
        return _taken_apart(value)
    except TypeError:
        return None


def _position_of_generator(generator):
    frame = generator.gi_frame
    if frame is None:
        return _Running(None, (), ())
    names = frame.f_locals
    return _Running(frame.f_lasti, tuple(names), tuple(names.values()))


def _taken_apart(value):
    if isinstance(value, TYPES):
        make, arguments, *state = value.__reduce__()
        return _At(make, _taken_apart(arguments),
                   tuple(map(_taken_apart, state)))
    if type(value) is tuple:
        return tuple(map(_taken_apart, value))
    if type(value) is list:
        return _List(tuple(value), value)
    return value


def is_at(value, before):
    return _is_same(position(value), before)


def _is_same(a, b):
    if a is b or type(a) is type(b) and type(a) in _PLAIN:
        return a is b or a == b
    if type(a) is not type(b) or not isinstance(a, tuple):
        return False
    if isinstance(a, _List):
        return _is_same(a.items, b.items)
    return len(a) == len(b) and all(map(_is_same, a, b))


def renewed(before):
    """None of a generator, which nothing takes back."""
    return None if isinstance(before, _Running) else _put_together(before)


def _put_together(value):
    if isinstance(value, _At):
        iterator = value.make(*map(_put_together, value.arguments))
        for state in value.state:
            if state is not None:
                iterator.__setstate__(_state_of(state))
        return iterator
    if isinstance(value, _List):
        return value.itself  # which it goes over
    if type(value) is tuple:
        return tuple(map(_put_together, value))
    return value


def _state_of(state):
    """With lists of its own, to which the iterator appends."""
    if isinstance(state, tuple) and not isinstance(state, (_At, _List)):
        return tuple(map(_state_of, state))
    if isinstance(state, _List):
        return list(state.items)
    return _put_together(state)
