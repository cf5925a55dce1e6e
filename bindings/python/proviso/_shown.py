"""Whether a text of a size is only shown: printed, logged, warned of, or the
message of an error that ends the program.

    if is_only_shown(frame):  # which asks for the text, f"{x.shape[0]}"

The text is followed from the instruction that asks for it: through f-strings
and the methods of str, the frame's own variables and what a function returns to
its caller.  Whatever else takes it (a comparison, a dict, an attribute, a
function that is not known) may let it decide something.
"""

import logging
import sys
import types
import warnings

from proviso import _branches
from proviso._branches import _Null, _Stop, _Unknown

_MOST_STEPS = 2000  # of one function
_MOST_BACK = 60  # instructions that compute what the text is passed to
_MOST_CALLERS = 20


class _Text:
    """A text that a size is part of, or an error that says it."""


class _Texts:
    """A list or a tuple of such."""


class _Method:
    """A method of such a text, which gives another one."""


_TAINTED = (_Text, _Texts, _Method)
_SPEAKS = (print, warnings.warn,
           *(getattr(logging, name) for name in (
               "debug", "info", "warning", "error", "critical", "exception")))
_WRITES = (str, repr, format, ascii)
_COLLECTS = (list, tuple)
_OF_TEXTS = frozenset("join format ljust rjust center strip lstrip rstrip "
                      "upper lower title capitalize replace".split())
# What takes this many values and gives one, or none: of texts it may decide.
_TAKERS = {"COMPARE_OP": (2, 1), "CONTAINS_OP": (2, 1), "IS_OP": (2, 1),
           "BINARY_SUBSCR": (2, 1), "UNARY_NOT": (1, 1),
           "UNARY_NEGATIVE": (1, 1), "UNARY_INVERT": (1, 1),
           "UNARY_POSITIVE": (1, 1), "GET_ITER": (1, 1),
           "STORE_ATTR": (2, 0), "STORE_SUBSCR": (3, 0), "STORE_GLOBAL": (1, 0),
           "STORE_DEREF": (1, 0), "LOAD_CLOSURE": (0, 1)}
_BUILDERS = ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_SLICE",
             "BUILD_STRING")
_MAPS = ("BUILD_MAP", "BUILD_CONST_KEY_MAP")


def is_only_shown(frame):
    return _is_shown_by(frame, None, _MOST_CALLERS)


def _is_shown_by(frame, inner, callers):
    """inner: the code of the function that gave the frame the text; None where
    Python itself asked for it."""
    flow = _Flow(frame, inner)
    return flow.is_shown() and (not flow.is_returned
                                or _caller_shows(frame, callers - 1))


def _caller_shows(frame, callers):
    caller = frame.f_back
    if (caller is None or callers == 0
            or caller.f_code.co_name == _branches._OUTERMOST):
        return False
    name = caller.f_globals.get("__name__") or ""
    if name == "torch":  # the message of a check, which only a failure has
        return caller.f_code.co_name.startswith("_check")
    return (name.partition(".")[0] == logging.__name__
            or caller.f_globals is vars(warnings)
            or _is_shown_by(caller, frame.f_code, callers))


class _Flow:
    def __init__(self, frame, inner):
        self._frame, self._inner = frame, inner
        self._code, self._index = _branches._instructions_of(frame.f_code)
        self._at = self._index_of(frame.f_lasti)
        self._stored = {one.argval for one in self._code
                        if one.opname in ("STORE_FAST", "STORE_DEREF")}
        self._variables = []  # that hold the text
        self._steps = 0
        self.is_returned = False

    def _index_of(self, offset):
        """Of the instruction there; that of a call has caches behind it."""
        while offset > 0 and offset not in self._index:
            offset -= 2
        return self._index.get(offset)

    def is_shown(self):
        if self._at is None or not self._is_shown_from(self._at):
            return False
        for name in self._variables:  # which grows
            for at, one in enumerate(self._code):
                if (one.argval == name and one.opname == "LOAD_FAST"
                        and not self._is_shown_from(at)):
                    return False
                if one.argval == name and one.opname in (
                        "LOAD_CLOSURE", "LOAD_DEREF"):
                    return False
        return True

    def _is_shown_from(self, at):
        """Whether what the instruction gives is; with as much before it as
        computes what takes the text."""
        for first in range(at, max(-1, at - _MOST_BACK), -1):
            try:
                if self._follow(first, at):
                    return True
            except (_Stop, IndexError):
                pass
            if self._code[first].is_jump_target:
                return False  # another way leads here
        return False

    def _follow(self, first, at):
        stack = []
        for place in range(first, at):
            self._execute(place, stack, at)
        self._ask(at, stack)
        todo = [(at + 1, stack)]
        while todo:
            place, stack = todo.pop()
            while _has_text(stack):
                self._steps += 1
                if self._steps > _MOST_STEPS:
                    return False
                one = self._code[place]
                if one.opname in ("RETURN_VALUE", "YIELD_VALUE"):
                    self._return(one, stack)
                    break
                if one.opname == "RAISE_VARARGS":
                    if self._catches(one):
                        return False
                    break
                if one.opname == "JUMP_FORWARD":
                    place = self._index[one.argval]
                elif _branches._is_branch(one):
                    _untainted(stack, 1)
                    todo.append((self._index[one.argval], list(stack)))
                    place += 1
                else:
                    self._execute(place, stack, at)
                    place += 1
        return True

    def _return(self, one, stack):
        """To the caller; a generator expression, to who asks for the next."""
        if one.opname == "YIELD_VALUE" and (
                self._frame.f_code.co_name != "<genexpr>"):
            raise _Stop
        self.is_returned = True

    def _catches(self, one):
        frame = self._frame
        return (_branches._catches_at(frame.f_code, one.offset)
                or frame.f_back is not None
                and _branches.Asking(frame.f_back)._catches())

    def _ask(self, at, stack):
        """Of the instruction that gives the text."""
        one = self._code[at]
        if at != self._at:
            stack.append(_Text)
        elif one.opname == "FORMAT_VALUE":
            _untainted(stack, 2 if one.arg & 4 else 1)
            stack.append(_Text)
        elif one.opname == "BINARY_OP" and one.argrepr in ("%", "+"):
            _untainted(stack, 2)
            stack.append(_Text)
        elif one.opname == "LIST_EXTEND":
            _untainted(stack, 1)
            stack[-one.arg] = _Texts
        elif one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if self._inner is None or self._inner.co_name != one.argval:
                raise _Stop
            _untainted(stack, 1)
            stack += [_Text] if one.opname == "LOAD_ATTR" else [_Null, _Method]
        elif one.opname in ("CALL", "CALL_FUNCTION_EX"):
            function, args = self._call(at, stack)
            if self._inner is not None and _code_of(function) is self._inner:
                stack.append(_Text)
            else:
                stack.append(_given(function, [_Text, *args]))
        else:
            raise _Stop

    def _execute(self, place, stack, at):
        one = self._code[place]
        name, arg = one.opname, one.arg
        if name in ("NOP", "EXTENDED_ARG", "PRECALL", "KW_NAMES", "RESUME"):
            return
        if name == "PUSH_NULL":
            stack.append(_Null)
        elif name == "LOAD_CONST":
            stack.append(one.argval)
        elif name == "LOAD_ASSERTION_ERROR":
            stack.append(AssertionError)
        elif name in ("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL"):
            if name == "LOAD_GLOBAL" and arg & 1:
                stack.append(_Null)
            stack.append(self._named(name, one.argval, at))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            value = _attribute(stack.pop(), one.argval)
            stack += [value] if name == "LOAD_ATTR" else [_Null, value]
        elif name in ("CALL", "CALL_FUNCTION_EX"):
            stack.append(_given(*self._call(place, stack)))
        elif name == "STORE_FAST":
            value = stack.pop()
            if _is_text(value) and value is not _Text:
                raise _Stop
            if value is _Text and one.argval not in self._variables:
                self._variables.append(one.argval)
        elif name == "POP_TOP":
            stack.pop()
        elif _branches._is_branch(one):  # to the next instruction
            _untainted(stack, 1)
        elif name == "FORMAT_VALUE":
            parts = _branches._popped(stack, 2 if arg & 4 else 1)
            stack.append(_Text if _has_text(parts) else _Unknown)
        elif name in _BUILDERS:
            parts = _branches._popped(stack, arg)
            text = _Text if name == "BUILD_STRING" else _Texts
            stack.append(text if _has_text(parts) else _Unknown)
        elif name in _MAPS:  # whose keys decide
            _untainted(stack, 2 * arg if name == "BUILD_MAP" else 1 + arg)
            stack.append(_Unknown)
        elif name == "LIST_APPEND":
            self._append(stack, arg)
        elif name == "LIST_EXTEND":
            items = stack.pop()
            if _is_text(items):
                stack[-arg] = _Texts
        elif name == "LIST_TO_TUPLE":
            pass
        elif name == "MAKE_FUNCTION":
            *parts, code = _branches._popped(stack, 1 + (arg & 15).bit_count())
            _untainted(parts, len(parts))
            stack.append(code)
        elif name == "BINARY_OP":
            stack.append(_joined(one, *_branches._popped(stack, 2)))
        elif name in _TAKERS:
            takes, gives = _TAKERS[name]
            _untainted(stack, takes)
            stack += [_Unknown] * gives
        else:
            raise _Stop

    def _append(self, stack, depth):
        """To the list of a comprehension, which its function returns."""
        value = stack.pop()
        if len(stack) >= depth:
            if _is_text(value):
                stack[-depth] = _Texts
        elif value is _Text and self._frame.f_code.co_name == "<listcomp>":
            self.is_returned = True
        elif _is_text(value):
            raise _Stop

    def _named(self, opname, name, at):
        """What was stored since is not known where a variable is read later."""
        frame = self._frame
        if opname != "LOAD_GLOBAL":
            if name in self._variables:
                return _Text
            if at != self._at and name in self._stored:
                return _Unknown
            return frame.f_locals.get(name, _Unknown)
        return frame.f_globals.get(name, frame.f_builtins.get(name, _Unknown))

    def _call(self, place, stack):
        """(function, arguments) that the call takes from the stack."""
        one = self._code[place]
        if one.opname == "CALL":
            args = _branches._popped(stack, one.arg)
            function, null = stack.pop(), stack.pop()
            if null is not _Null:
                function, args = null, [function, *args]
            names = self._keywords(place)
            if "file" in names and not _is_console(
                    args[len(args) - len(names) + names.index("file")]):
                args.append(_Null)
            return function, args
        args = _branches._popped(stack, 1 + (one.arg & 1))
        function, null = stack.pop(), stack.pop()
        if null is not _Null or one.arg & 1 and _has_text(args):
            raise _Stop
        return function, args

    def _keywords(self, place):
        for one in reversed(self._code[max(0, place - 3):place]):
            if one.opname == "KW_NAMES":
                return self._frame.f_code.co_consts[one.arg]
            if one.opname not in ("PRECALL", "EXTENDED_ARG"):
                return ()
        return ()


def _is_text(value):
    return type(value) is type and value in _TAINTED


def _has_text(values):
    return any(map(_is_text, values))


def _untainted(stack, count):
    if _has_text(_branches._popped(stack, count)):
        raise _Stop


def _code_of(function):
    if isinstance(function, types.CodeType):  # it was just made
        return function
    return getattr(getattr(function, "__func__", function), "__code__", None)


def _attribute(owner, name):
    if owner is _Text:
        if name in _OF_TEXTS:
            return _Method
        raise _Stop
    if _is_text(owner):
        raise _Stop
    try:
        return _branches._attribute(owner, name)
    except _Stop:
        return _Unknown


def _joined(one, a, b):
    if not _has_text((a, b)):
        return _Unknown
    is_format = a is _Text or type(a) is str
    if one.argrepr == "%" and is_format:
        return _Text
    if one.argrepr == "+" and a is not _Texts and b is not _Texts:
        return _Text
    if one.argrepr == "+=" and is_format and b is not _Texts:
        return _Text
    raise _Stop


def _given(function, args):
    """What a call gives, of arguments that are texts."""
    if function is _Method:
        return _Text
    if not _has_text(args):
        if function is logging.getLogger and all(
                type(name) is str for name in args):
            return function(*args)
        return _Unknown
    if any(a is _Null for a in args):  # print(.., file=..)
        raise _Stop
    if isinstance(function, type) and issubclass(function, BaseException):
        return _Text
    if any(function is known for known in _WRITES):
        return _Text
    if any(function is known for known in _COLLECTS):
        return _Texts
    if _is_spoken_by(function):
        return _Unknown
    if (isinstance(getattr(function, "__self__", None), str)
            and function.__name__ in _OF_TEXTS):
        return _Text
    raise _Stop


def _is_console(file):
    return file is None or file is sys.stdout or file is sys.stderr


def _is_spoken_by(function):
    if any(function is known for known in _SPEAKS):
        return True
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, logging.Logger):
        return name in _branches._LOGS
    return name == "write" and (owner is sys.stdout or owner is sys.stderr)
