"""What hangs on a truth value that Python asks for, read from the instructions
of the frame that asks.

    asking = Asking(sys._getframe(1))
    asking.demand         # assert n > 3, or: if n <= 3: raise ValueError("few")
    asking.only_speaks()  # if n > 512: warnings.warn(f"{n} is long")
    asking.compared()     # x.shape == y.shape: one condition for all sizes

`only_speaks` follows both ways from the branch until they meet.  On the way
values may be read, formatted, and printed, logged or warned of; whatever else
stands there may change the program, and ends the way.
"""

import dis
import functools
import inspect
import itertools
import logging
import operator
import types
import warnings

import torch

_OUTERMOST = "_run_program"  # of the program that is traced (_export.py)
_MOST_STEPS = 1000  # on all ways of a branch
_MOST_BACK = 60  # instructions that compute the two sides of a comparison


class _Stop(Exception):
    """What stands here may do more than read and speak."""


class _Unknown:
    """A value that is not computed."""


class _Error:
    """An exception that is made to be raised."""

    def __init__(self, text):
        self.text = text


class _Null:
    """What the interpreter pushes below a callable."""


_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
_PLAIN = (bool, int, float, str, type(None), torch.dtype, torch.device)
_SEQUENCES = (tuple, list, torch.Size)

_SPEAKS = (warnings.warn, print)
_READS = (len, str, repr, type)
_LOGS = frozenset("debug info warning warn error critical log warning_once "
                  "info_once warning_advice".split())
_OF_TENSORS = frozenset("shape size dim ndim numel dtype device".split())
# Attributes that are found without running code of Python.
_FUNCTIONS = (types.FunctionType, types.MethodDescriptorType,
              types.WrapperDescriptorType, functools._lru_cache_wrapper)


@functools.lru_cache(256)
def _instructions_of(code):
    found = list(dis.get_instructions(code))
    return found, {one.offset: i for i, one in enumerate(found)}


@functools.lru_cache(256)
def _handlers_of(code):
    """Where an error does not simply leave the function: (first, end)."""
    found, index = _instructions_of(code)
    handlers = []
    for entry in dis._parse_exception_table(code):
        # `finally` and `with` raise it again before anything else.
        first = next(one.opname for one in found[index[entry.target]:]
                     if one.opname in ("CHECK_EXC_MATCH", "POP_EXCEPT",
                                       "RERAISE"))
        if (first != "RERAISE"
                and found[index[entry.target]].opname == "PUSH_EXC_INFO"):
            handlers.append((entry.start, entry.end))
    return handlers


def _catches_at(code, offset):
    return any(start <= offset < end for start, end in _handlers_of(code))


class Asking:
    def __init__(self, frame):
        self._frame = frame
        self._code, self._index = _instructions_of(frame.f_code)
        self._at = self._index.get(frame.f_lasti)

    @functools.cached_property
    def demand(self):
        """(the value without which the program ends in an error, what the
        error says); None where the program goes on either way, or may catch
        the error."""
        jump = self._at
        if jump is None or not _is_branch(self._code[jump]):
            return None
        if self._code[jump].opname.endswith("NONE"):
            return None
        ways = _Ways(self._frame, self._code, self._index)
        when_jumping = self._code[jump].opname.endswith("IF_TRUE")
        for at, value in ((self._target(jump), when_jumping),
                          (jump + 1, not when_jumping)):
            error = ways.error_of(at)
            if error is not None and not self._catches():
                return not value, error.text
        return None

    def _catches(self):
        frame = self._frame
        while frame is not None and frame.f_code.co_name != _OUTERMOST:
            if _catches_at(frame.f_code, frame.f_lasti):
                return True
            frame = frame.f_back
        return False

    def only_speaks(self):
        """Whether both ways from here meet, and nothing but warnings depends
        on the value."""
        jump = self._at
        if jump is not None and self._code[jump].opname in ("COMPARE_OP",
                                                            "CONTAINS_OP"):
            jump += 1
            while self._code[jump].opname == "EXTENDED_ARG":
                jump += 1
        if jump is None or not _is_branch(self._code[jump]):
            return False
        ways = _Ways(self._frame, self._code, self._index)
        return ways.meet(jump) is not None

    def compared(self):
        """Of two sequences of sizes that are compared: whether all are equal,
        as a bool or a condition.  None where something else is asked."""
        if self._at is None:
            return None
        asked = self._code[self._at]
        if asked.opname != "COMPARE_OP" or asked.argval not in ("==", "!="):
            return None
        return _all_equal(*(self._operands() or (None, None)))

    def _operands(self):
        """The two values that the instruction takes, computed again."""
        for first in range(self._at - 1, max(-1, self._at - _MOST_BACK), -1):
            ways = _Ways(self._frame, self._code, self._index)
            try:
                stack = ways.run(first, self._at)
            except (_Stop, IndexError):
                stack = None
            if stack is not None and len(stack) == 2:
                return stack
            if self._code[first].is_jump_target:
                return None  # another way leads here
        return None

    def _target(self, jump):
        return self._index[self._code[jump].argval]


def _is_branch(instruction):
    return instruction.opname.startswith("POP_JUMP")


def _all_equal(a, b):
    if (type(a) not in _SEQUENCES or type(b) not in _SEQUENCES
            or (type(a) is list) != (type(b) is list)):
        return None
    if len(a) != len(b):
        return False
    result = True
    for x, y in zip(a, b):
        if not all(type(n) in (int, torch.SymInt) for n in (x, y)):
            return None
        same = x == y
        if same is True:
            continue
        if same is False:
            return False
        if same.node.hint is None:
            return None
        result = same if result is True else result & same
    return result


class _Ways:
    """Runs instructions that read and speak on the values of a frame."""

    def __init__(self, frame, code, index):
        self._frame, self._code, self._index = frame, code, index
        self._steps = 0

    def meet(self, jump):
        """The first instruction that both ways from a branch come to; None
        where there is none, or one of them does more before."""
        starts = self._index[self._code[jump].argval], jump + 1
        ways = [self._way(start) for start in starts]
        seen = set(), set()
        for places in itertools.zip_longest(*ways):
            for mine, others, at in zip(seen, reversed(seen), places):
                if at is None:
                    continue
                mine.add(self._key(at))
                if self._key(at) in others:
                    return at
        return None

    def run(self, at, end):
        """The stack after straight code."""
        stack = []
        while at < end:
            if _is_branch(self._code[at]) or "JUMP" in self._code[at].opname:
                raise _Stop
            self._execute(self._code[at], stack)
            at += 1
        return stack

    def _way(self, at):
        """The instructions before which the stack is as at first."""
        for at, stack in self._steps_from(at):
            if not stack:
                yield at

    def error_of(self, at):
        """What is raised at the end of a way that only reads."""
        for at, stack in self._steps_from(at):
            one = self._code[at]
            if one.opname == "JUMP_BACKWARD":
                return None
            if one.opname == "RAISE_VARARGS":
                raised = stack[-1] if one.arg == 1 and stack else None
                if isinstance(raised, type) and issubclass(raised, Exception):
                    return _Error("")
                return raised if isinstance(raised, _Error) else None
        return None

    def _steps_from(self, at):
        """Each instruction of a way, with the stack before it."""
        stack = []
        while at is not None and self._steps < _MOST_STEPS:
            self._steps += 1
            yield at, stack
            one = self._code[at]
            try:
                if _is_branch(one):
                    at = self._branch(at, stack.pop())
                elif one.opname in ("JUMP_FORWARD", "JUMP_BACKWARD"):
                    at = self._index[one.argval]
                else:
                    self._execute(one, stack)
                    at += 1
            except (_Stop, IndexError):
                return

    def _branch(self, at, value):
        name = self._code[at].opname
        if value is _Unknown or isinstance(value, _SYMBOLIC):
            return self.meet(at)
        if type(value) not in _PLAIN:
            raise _Stop
        if name.endswith("NONE"):
            jumps = (value is None) != name.endswith("NOT_NONE")
        else:
            jumps = bool(value) == name.endswith("IF_TRUE")
        return self._index[self._code[at].argval] if jumps else at + 1

    def _key(self, at):
        """Copies of `return None` are one place."""
        one = self._code[at]
        if (one.opname == "LOAD_CONST"
                and self._code[at + 1].opname == "RETURN_VALUE"):
            return "return", type(one.argval), one.argval
        return at

    def _execute(self, one, stack):
        name, arg = one.opname, one.argval
        if name in ("NOP", "EXTENDED_ARG", "PRECALL", "KW_NAMES", "RESUME"):
            return
        if name == "PUSH_NULL":
            stack.append(_Null)
        elif name == "LOAD_CONST":
            stack.append(arg)
        elif name in ("LOAD_FAST", "LOAD_DEREF", "LOAD_NAME"):
            stack.append(self._named(arg, self._frame.f_locals))
        elif name == "LOAD_GLOBAL":
            if one.arg & 1:
                stack.append(_Null)
            stack.append(self._named(arg))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            value = _attribute(stack.pop(), arg)
            stack += [value] if name == "LOAD_ATTR" else [_Null, value]
        elif name == "CALL":
            args = _popped(stack, arg)
            function, null = stack.pop(), stack.pop()
            if null is not _Null:
                function, args = null, [function, *args]
            stack.append(_called(function, args))
        elif name == "LOAD_ASSERTION_ERROR":
            stack.append(AssertionError)
        elif name == "POP_TOP":
            stack.pop()
        elif name == "FORMAT_VALUE":
            _popped(stack, 2 if one.arg & 4 else 1)
            stack.append(_Unknown)
        elif name == "BUILD_STRING":
            _popped(stack, arg)
            stack.append(_Unknown)
        elif name in ("BUILD_TUPLE", "BUILD_LIST"):
            values = _popped(stack, arg)
            stack.append(tuple(values) if name == "BUILD_TUPLE" else values)
        elif name == "LIST_APPEND":
            value = stack.pop()
            stack[-arg].append(value)
        elif name == "LIST_EXTEND":
            value = stack.pop()
            if type(value) not in _SEQUENCES:
                raise _Stop
            stack[-arg].extend(value)
        elif name == "LIST_TO_TUPLE":
            stack.append(tuple(stack.pop()))
        elif name == "BUILD_SLICE":
            stack.append(slice(*_popped(stack, arg)))
        elif name in _OPERATIONS:
            count, operation = _OPERATIONS[name]
            stack.append(operation(one, *_popped(stack, count)))
        else:
            raise _Stop

    def _named(self, name, *spaces):
        for space in (*spaces, self._frame.f_globals, self._frame.f_builtins):
            if name in space:
                return space[name]
        raise _Stop


def _popped(stack, count):
    if len(stack) < count:
        raise _Stop
    values = stack[len(stack) - count:]
    del stack[len(stack) - count:]
    return values


def _attribute(owner, name):
    if isinstance(owner, torch.Tensor):
        if (type(owner) not in (torch.Tensor, torch.nn.Parameter)
                or name not in _OF_TENSORS):
            raise _Stop
        return getattr(owner, name)
    if isinstance(owner, types.ModuleType):
        found = vars(owner).get(name, _Null)
    elif owner is _Unknown:
        raise _Stop
    else:
        found = inspect.getattr_static(owner, name, _Null)
        if isinstance(found, _FUNCTIONS):
            return types.MethodType(found, owner)
    if found is _Null or (not isinstance(owner, types.ModuleType)
                          and hasattr(type(found), "__get__")):
        raise _Stop
    return found


def _called(function, args):
    if isinstance(function, type) and issubclass(function, Exception):
        has_text = len(args) == 1 and type(args[0]) is str
        return _Error(args[0] if has_text and function is not AssertionError
                      else "")
    if any(function is known for known in _SPEAKS + _READS):
        return _Unknown
    if ((function is tuple or function is list)
            and all(type(a) in _SEQUENCES for a in args)):
        return function(*args)
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, torch.Tensor) and name in _OF_TENSORS:
        return function(*args) if _Unknown not in map(type, args) and all(
            type(n) is int for n in args) else _Unknown
    if isinstance(owner, str) and name in ("format", "join"):
        return _Unknown
    if isinstance(owner, logging.Logger) and name in _LOGS:
        return _Unknown
    raise _Stop


# --- operations on plain values

def _is_plain(value):
    return type(value) in _PLAIN or type(value) in _SEQUENCES


def _computed(function, *values):
    """Of sizes and texts it is not computed: they are shown, no more."""
    if all(type(v) in _PLAIN for v in values):
        return function(*values)
    if all(v is _Unknown or _is_plain(v) or isinstance(v, _SYMBOLIC)
           for v in values):
        return _Unknown
    raise _Stop


_COMPARISONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt,
                "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _compare(one, a, b):
    return _computed(_COMPARISONS[one.argval], a, b)


def _is(one, a, b):
    if a is _Unknown or b is _Unknown:
        return _Unknown
    return (a is b) != bool(one.arg)


def _binary(one, a, b):
    if one.argrepr == "+" and all(type(v) in (tuple, torch.Size)
                                  for v in (a, b)):
        return tuple(a) + tuple(b)
    return _computed(lambda *_: _Unknown, a, b)


def _subscript(_, owner, index):
    if type(owner) not in _SEQUENCES or not (
            type(index) is int or isinstance(index, slice)):
        raise _Stop
    return owner[index]


_OPERATIONS = {
    "COMPARE_OP": (2, _compare),
    "IS_OP": (2, _is),
    "BINARY_OP": (2, _binary),
    "BINARY_SUBSCR": (2, _subscript),
    "UNARY_NOT": (1, lambda _, a: _computed(operator.not_, a)),
    "UNARY_NEGATIVE": (1, lambda _, a: _computed(operator.neg, a)),
}
