"""Where a check can stand in a program, and what a line there calls a number.

    def forward(self, x, m):
        y = x[m]
        n = y.shape[0]
        if n > 20: ...             # asks for u0

A check on u0 stands before the line that asks, and calls u0 `n` (or
`y.shape[0]`): names bound above that line, or what the line itself reads of
them (`x[m].shape[0]`, `m.item()`).  A check on sizes of inputs alone stands
first in `forward`, and speaks of its parameters.
"""

import ast
import functools
import inspect
import keyword
import linecache
import re
from dataclasses import dataclass
from typing import Any, List, Tuple

import torch

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
# Of containers and objects, so many children and so deep.
_MOST_CHILDREN, _MOST_DEPTH = 64, 2
# Of the expressions of one statement.
_MOST_EXPRESSIONS = 32


@dataclass
class Place:
    """A line to insert a check before, and what it can speak of."""

    file: str
    line: int
    words: List[Tuple[str, Any]]  # ("x.shape[0]", number), the best first
    has_torch: bool               # whether `torch` is torch there


# --- the text of a function

@functools.lru_cache(maxsize=64)
def _parsed(text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _function(code, module_globals=None):
    """The syntax of a function's code; a module's for code of a module; None
    where the source is not there."""
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, module_globals)
    tree = _parsed("".join(lines)) if lines else None
    if tree is None or code.co_name == "<module>":
        return tree
    for node in ast.walk(tree):
        if (isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                and node.name == code.co_name
                and code.co_firstlineno in (node.lineno, _first_line(node))):
            return node
    return None


def _first_line(node):
    """With its decorators."""
    return min([node.lineno] + [d.lineno for d in
                                getattr(node, "decorator_list", ())])


_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _statement_at(function, line):
    """The innermost statement around `line` that a check can be inserted
    before.  None where the function has no such statement."""
    found = None
    body = function.body
    while body:
        statement = next((s for s in body if _first_line(s) <= line
                          <= s.end_lineno), None)
        if statement is None:
            return found
        is_first = not isinstance(statement, (ast.ExceptHandler,
                                              ast.match_case))
        starts_line = (found is None
                       or _first_line(found) != _first_line(statement))
        if is_first and starts_line and _stands_alone(function, statement):
            found = statement
        if isinstance(statement, _SCOPES):
            return found
        body = [child for field in _BODIES
                for child in getattr(statement, field, ())]
    return found


def _stands_alone(function, statement):
    """Not an `elif`, the body after a colon, or the rest of a line."""
    line = _first_line(statement)
    if line == function.lineno if hasattr(function, "lineno") else False:
        return False
    for node in ast.walk(function):
        for field in _BODIES:
            children = getattr(node, field, None)
            if not isinstance(children, list) or statement not in children:
                continue
            if (field == "orelse" and isinstance(node, ast.If)
                    and isinstance(statement, ast.If)
                    and statement.col_offset == node.col_offset):
                return False  # elif
            if children[0] is statement:
                return getattr(node, "lineno", 0) != line
            before = children[children.index(statement) - 1]
            return before.end_lineno < line
    return True


def _names_bound_before(function, line):
    """The names that a statement above `line` gives a value, and parameters."""
    names = set()
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        a = function.args
        for argument in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg,
                         a.kwarg):
            if argument is not None:
                names.add(argument.arg)
    for node in ast.walk(function):
        if getattr(node, "lineno", line) < line:
            names |= _named_by(node)
    return names


def _named_by(node):
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    named = (ast.FunctionDef, ast.ClassDef, ast.MatchAs, ast.MatchStar)
    return {node.name} if isinstance(node, named) and node.name else set()


def _names_bound_in(statement):
    return {name for node in ast.walk(statement) for name in _named_by(node)}


# --- what a line can speak of

def _numbers(text, value, depth=_MOST_DEPTH):
    """(text, symbolic number) of what a name holds."""
    if isinstance(value, _SYMBOLIC):
        yield text, value
    elif isinstance(value, torch.Tensor):
        for d, size in enumerate(value.shape):
            if isinstance(size, torch.SymInt):
                yield f"{text}.shape[{d}]", size
    elif depth:
        for suffix, child in _children(value):
            yield from _numbers(text + suffix, child, depth - 1)


def _children(value):
    if isinstance(value, (list, tuple)):
        pairs = [(f"[{i}]", child) for i, child in enumerate(value)]
    elif isinstance(value, dict):
        pairs = [(f"[{key!r}]", child) for key, child in value.items()
                 if type(key) in (str, int)]
    else:
        held = getattr(value, "__dict__", None)
        pairs = [("." + name, child) for name, child in held.items()
                 if isinstance(name, str) and name.isidentifier()
                 and isinstance(child, (*_SYMBOLIC, torch.Tensor))
                 ] if type(held) is dict else []
    return pairs[:_MOST_CHILDREN]


# --- what a function reads

# Methods that read a tensor and change nothing.
_READS = {"size", "numel", "nelement", "item", "dim", "tolist"}


def _read_by(function, statement, bound):
    """[(text, expression)] of what the statement, without its body, and those
    above it read of names in `bound` and do not change; its own first."""
    found = {}
    above = [node for node in ast.walk(function)
             if isinstance(node, ast.stmt) and not isinstance(node, _SCOPES)
             and node.lineno < _first_line(statement)]
    for one in (statement, *reversed(above)):
        for node in _own_expressions(one):
            if (isinstance(node, (ast.Attribute, ast.Subscript, ast.Call))
                    and _only_reads(node, bound)):
                found.setdefault(ast.unparse(node), node)
        if len(found) >= _MOST_EXPRESSIONS:
            break
    return list(found.items())[:_MOST_EXPRESSIONS]


def _own_expressions(statement):
    """Outer ones first; none of the statements inside it."""
    waiting = [statement]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.expr):
            yield node
        waiting += [child for child in ast.iter_child_nodes(node)
                    if not isinstance(child, (ast.stmt, ast.ExceptHandler,
                                              ast.match_case))]


def _only_reads(node, bound):
    """Whether each part is a name of `bound`, a number, an item, an attribute,
    or a call that reads."""
    if isinstance(node, ast.Name):
        return node.id in bound
    if isinstance(node, ast.Call):
        function = node.func
        reads = (isinstance(function, ast.Attribute)
                 and function.attr in _READS
                 and _only_reads(function.value, bound))
        takes_len = isinstance(function, ast.Name) and function.id == "len"
        return not node.keywords and (reads or takes_len) and all(
            _only_reads(a, bound) for a in node.args)
    if isinstance(node, (ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple,
                         ast.UnaryOp)):
        return all(_only_reads(child, bound)
                   for child in ast.iter_child_nodes(node)
                   if isinstance(child, ast.expr))
    return isinstance(node, ast.Constant)


def _words_read(function, statement, bound, frame):
    """The numbers that a function reads, as it says them.  The trace, which
    has ended with an error, gives the same symbol for the same reading."""
    for text, node in _read_by(function, statement, bound):
        try:
            value = eval(compile(ast.Expression(node), "<check>", "eval"),
                         frame.f_globals, frame.f_locals)
        except Exception:  # it is what failed, perhaps
            continue
        yield from _numbers(text, value, depth=0)


def _items_read(statement, bound, frame):
    """The numbers in tensors that a statement reads as they are: `if found:`,
    `range(n)`."""
    for node in _own_expressions(statement):
        if (not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
                or not _only_reads(node, bound)):
            continue
        text = ast.unparse(node)
        try:
            value = eval(compile(ast.Expression(node), "<check>", "eval"),
                         frame.f_globals, frame.f_locals)
            if isinstance(value, torch.Tensor) and value.dim() == 0:
                yield from _numbers(f"{text}.item()", value.item())
        except Exception:
            continue


def _best_first(words):
    """Names before sizes, sizes before parts; else as they come.  len() last:
    for PyTorch it fixes the size."""
    def rank(word):
        text = word[0]
        return 0 if text.isidentifier() else (
            1 + text.count("[") + text.count("(")
            + 2 * text.startswith("self.") + 2 * text.startswith("len("))
    return sorted(words, key=rank)


def _is_name(name):
    return name.isidentifier() and not keyword.iskeyword(name)


def of_frame(frame, line):
    """The place before the statement that a frame is at; None where its file
    cannot be read or its code is no function's."""
    code = frame.f_code
    if code.co_name.startswith("<") and code.co_name != "<module>":
        return None
    function = _function(code, frame.f_globals)
    statement = function and _statement_at(function, line)
    if not statement:
        return None
    at = _first_line(statement)
    bound = _names_bound_before(function, at) | set(code.co_freevars)
    if isinstance(statement, ast.While):  # asked again, after its body
        bound -= _names_bound_in(statement)
    words = [word for name, value in list(frame.f_locals.items())
             if name in bound and _is_name(name)
             for word in _numbers(name, value)]
    known = {text for text, _ in words}
    words += [word for word in (*_words_read(function, statement, bound, frame),
                                *_items_read(statement, bound, frame))
              if word[0] not in known]
    torch_there = frame.f_locals.get("torch", frame.f_globals.get("torch"))
    return Place(code.co_filename, at, _best_first(words),
                 torch_there is torch)


# --- the entry

def _plain_function(callee):
    """The function whose body runs, behind decorators and partial()."""
    while isinstance(callee, functools.partial):
        callee = callee.func
    callee = inspect.unwrap(callee)
    return getattr(callee, "__func__", callee)


def input_words(leaves, fakes, function=None):
    """[("x.shape[0]", number)] of the inputs, as a function's body calls
    them."""
    keywords = _keyword_parameter(function)
    words = []
    for leaf, fake in zip(leaves, fakes):
        text = _in_body(leaf.source, *keywords)
        words += _numbers(text, fake, depth=0) if text else ()
    return words


def _keyword_parameter(function):
    """The parameters by name, and the name of **kwargs."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None, None
    extra = next((p.name for p in parameters.values()
                  if p.kind is inspect.Parameter.VAR_KEYWORD), None)
    return set(parameters), extra


def _in_body(source, names, extra):
    """x[0]['k'] of L['x'][0]['k']."""
    match = re.match(r"L\['(\w+)'\]", source)
    if match is None:
        return None
    name, rest = match.group(1), source[match.end():]
    if names is None or name in names:
        return name + rest
    return f"{extra}['{name}']{rest}" if extra else None


def of_entry(callee, leaves, fakes):
    """The first line of the program's own function; None where it has none."""
    function = _plain_function(callee)
    code = getattr(function, "__code__", None)
    if code is None or code.co_name.startswith("<"):
        return None
    syntax = _function(code, function.__globals__)
    if not isinstance(syntax, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    body = syntax.body
    if (len(body) > 1 and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)):
        body = body[1:]
    line = _first_line(body[0])
    if line <= syntax.lineno or not _stands_alone(syntax, body[0]):
        return None
    return Place(code.co_filename, line,
                 input_words(leaves, fakes, function),
                 function.__globals__.get("torch") is torch)
