"""What a .pt2 file may hold before torch.export.load sees it.

torch evaluates the texts of expressions and guards as Python, writes names into
Python, imports what nests the inputs, unpickles examples, and opens compiled
libraries: of a file that somebody else wrote, each runs whatever it likes.  Here
texts must be arithmetic, types imported already, pickles of tensors and of types
that you registered, and there are no libraries.  Names, which torch writes into
Python, too, are checked with the rest of the program (check_program).
"""

import ast
import enum
import io
import json
import re
import sys
import types

import torch
from torch.utils import _pytree as pytree

from proviso import _proviso
from proviso._errors import Error
from proviso._growth import Measured, TooMuch, growth

_MODEL = "models/model.json"
_LIBRARIES = "data/aotinductor/"
_EXAMPLES = "data/sample_inputs/model.pt"
_FOLDERS = {"data/weights/": "model_weights_config.json",
            "data/constants/": "model_constants_config.json"}

_SHOWN = 200  # characters of a text that an error shows
_TRUST = "; where you trust it: load(f, trusted=True)"


class _Refused(ValueError):
    pass


# --- texts

_FUNCTIONS = frozenset("""
Symbol Integer Float Rational Add Mul Pow Mod Max Min Abs Sum Eq Ne Lt Le Gt Ge
Equality Unequality StrictLessThan LessThan StrictGreaterThan GreaterThan And Or
Not Xor Equivalent ITE Piecewise ExprCondPair Where FloorDiv ModularIndexing
PythonMod CleanDiv CeilDiv CeilToInt FloorToInt LShift RShift PowByNatural
FloatPow FloatTrueDiv IntTrueDiv IsNonOverlappingAndDenseIndicator TruncToFloat
TruncToInt RoundToInt RoundDecimal ToFloat Identity BitwiseFn_bitwise_and
BitwiseFn_bitwise_or BitwiseFn_bitwise_xor floor ceiling max min abs int float
round bool
""".split()) | frozenset(
    f"OpaqueUnaryFn_{name}" for name in
    "sqrt cos cosh sin sinh tan tanh asin acos atan exp log asinh log2".split())
_CONSTANTS = frozenset(
    "L oo zoo nan int_oo inf true false True False None pi E".split())
_SYMBOL = re.compile(r"[a-z]{1,4}[0-9]+\Z")
_MATH = frozenset(
    "floor ceil trunc sqrt isnan inf nan log log2 exp sin cos tan".split())
_SYMBOLIC = frozenset(
    f"_sym_{name}" for name in
    "sqrt cos cosh sin sinh tan tanh asin acos atan log2".split())
_LONGEST, _LARGEST = 100_000, 2 ** 64
_NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare,
          ast.Call, ast.Name, ast.Constant, ast.Subscript, ast.Attribute,
          ast.keyword, ast.IfExp, ast.Tuple, ast.List, ast.operator,
          ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)


def _root(node):
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _attribute_is_plain(node):
    if isinstance(node.value, ast.Name) and node.value.id == "math":
        return node.attr in _MATH
    if isinstance(node.value, ast.Name) and node.value.id == "torch":
        return node.attr.startswith("sym_") or node.attr in _SYMBOLIC
    # A field of a dataclass, which nothing calls: L['batch'].lengths.size()
    return _root(node) == "L" and not node.attr.startswith("_")


def _call_is_plain(node):
    """Of what has a name: (f if c else g)() is called as well as f()."""
    function = node.func
    if isinstance(function, ast.Name):
        return function.id in _FUNCTIONS or _names_function(node)
    if not isinstance(function, ast.Attribute):
        return False
    if _root(function) == "L":
        return function.attr in ("size", "stride", "storage_offset")
    return (isinstance(function.value, ast.Name)
            and function.value.id in ("math", "torch"))


def _names_function(node):
    """Function('OpaqueUnaryFn_sqrt'), which torch writes of what it read."""
    return (node.func.id == "Function" and len(node.args) == 1
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value in _FUNCTIONS)


def _name_is_known(name):
    return (name in _FUNCTIONS or name in _CONSTANTS or name in
            ("math", "torch", "Function") or _SYMBOL.match(name))


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_sequence(node):
    """Text, lists and all the sizes of a tensor: multiplied, they are
    repeated."""
    if isinstance(node, ast.IfExp):
        return _is_sequence(node.body) or _is_sequence(node.orelse)
    if isinstance(node, ast.BoolOp):
        return any(map(_is_sequence, node.values))
    if isinstance(node, ast.Call):
        return (isinstance(node.func, ast.Attribute) and not node.args
                and node.func.attr in ("size", "stride"))
    return _is_text(node) or isinstance(node, (ast.Tuple, ast.List))


def _reads_text(node):
    """Text is a name or a key: SymPy would evaluate it elsewhere."""
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id in (
            "Symbol", "Float", "Function")
        return any(map(_is_text, [k.value for k in node.keywords])) or (
            not named and any(map(_is_text, node.args)))
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(map(_is_text, node.elts))
    return False


def _is_plain(node):
    if isinstance(node, Measured):
        return True
    if not isinstance(node, _NODES) or _reads_text(node):
        return False
    if isinstance(node, ast.Name):
        return _name_is_known(node.id)
    if isinstance(node, ast.Attribute):
        return _attribute_is_plain(node)
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, int) or abs(node.value) < _LARGEST
    if isinstance(node, ast.Call):
        return _call_is_plain(node)
    return True


class _NotPlain(ValueError):
    pass


def _tree_of(text):
    """Of a text that is plain."""
    return _plain(ast.parse(text.strip(), mode="eval").body)


def _plain(tree):
    if not all(map(_is_plain, ast.walk(tree))):
        raise _NotPlain
    return tree


# A call and its arguments, each of at most four brackets in each other.
_COMPOSED = re.compile(r"(Add|Mul|Mod|FloorDiv|Eq|Ne|Lt|Le|Gt|Ge)\((.*)\)")
_ARGUMENT = r"[^()]"
for _ in range(4):
    _ARGUMENT = rf"(?:[^()]|\({_ARGUMENT}*\))"
_ARGUMENT = re.compile(rf"([A-Za-z]\w*\({_ARGUMENT}*\))(?:, |\Z)")
_LEVELS = 3  # of calls whose arguments are looked at one by one


class _SharedParts:
    """Trees of texts that have parts in common, each part read once: of the sums
    of a loop each is the one before with a term more."""

    def __init__(self):
        self._parts = {}
        self._sum = None  # the last one

    def tree_of(self, text):
        tree = self._tree(text, _LEVELS)
        if text.startswith("Add("):
            self._parts[text] = Measured(tree)
            self._sum = text
        return tree

    def _tree(self, text, levels):
        call = _COMPOSED.fullmatch(text) if levels else None
        try:
            parts = call and self._arguments(call, text, levels)
        except (SyntaxError, _NotPlain):  # brackets in quotes, or no argument
            parts = None
        if not parts:
            return _tree_of(text)
        return ast.Call(ast.Name(call[1], ast.Load()), parts, [])

    def _arguments(self, call, text, levels):
        """Measured; None where one of them is no call."""
        start = len(call[1]) + 1
        parts = []
        if self._sum and text.startswith(self._sum[:-1] + ", "):
            parts.append(self._parts[self._sum])
            start = len(self._sum) + 1
        while start < len(text) - 1:
            argument = _ARGUMENT.match(text, start, len(text) - 1)
            if not argument:
                return None
            parts.append(self._part(argument[1], levels - 1))
            start = argument.end()
        return parts

    def _part(self, text, levels):
        if text not in self._parts:
            tree = self._tree(text, levels)
            if not isinstance(tree, ast.Call):  # Symbol('('), Symbol(')')
                raise _NotPlain
            self._parts[text] = Measured(tree)
        return self._parts[text]


def _fault_of(text, tree_of=_tree_of):
    """Why a text is not arithmetic on symbols and sizes, as torch and we write
    it; None where it is."""
    shown = repr(text[:_SHOWN]) if isinstance(text, str) else repr(text)[:_SHOWN]
    if not isinstance(text, str) or len(text) > _LONGEST:
        return f"{shown} is no expression of less than {_LONGEST} characters"
    try:
        growth(tree_of(text))
    except TooMuch as error:
        return f"{shown} would take torch long to read: {error}"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (f"{shown} is not arithmetic on sizes, and torch would run it as "
                "Python")
    return None


def _check_text(text):
    fault = _fault_of(text)
    if fault:
        raise _Refused(fault + _TRUST)


def check_written(texts):
    """What save() writes, load() reads."""
    tree_of = _SharedParts().tree_of
    for text in texts:
        fault = _fault_of(text, tree_of)
        if fault:
            raise ValueError("ExportedProgram.save: load() would refuse the "
                             f"file: {fault}")


# --- how inputs nest

_SPECS = ("in_spec", "out_spec")
_FACTORIES = ("list", "dict", "set", "int", "float", "str", "tuple")


def _parsed(text):
    """What json.loads makes of it, white space and all; None of other text."""
    try:
        return json.loads(text)
    except ValueError:
        return None
    except RecursionError:
        raise _Refused(f"{text[:_SHOWN]!r} is nested too deeply") from None


def _check_spec(text):
    """How inputs nest.  torch imports what the JSON in it names, and calls what
    it finds there; types read more of it, JSON within JSON, as they like."""
    stack = [text]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            stack.append(_parsed(value))
        elif isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            if "__enum__" in value:
                _check_enum(value)
            if any(key.startswith("default_factory") for key in value):
                _check_factory(value)
            if value.get("type") == "collections.namedtuple":
                _check_named_tuple(value.get("context"))
            stack.extend(value)
            stack.extend(value.values())


def _check_enum(value):
    """A member of an enum that is there: nothing is imported for it, nor asked
    of a module that imports when it is asked."""
    shown = repr(value)[:_SHOWN]
    if (set(value) != {"__enum__", "fqn", "name"}
            or not isinstance(value["fqn"], str)
            or not isinstance(value["name"], str)):
        raise _Refused(f"{shown} is no member of an enum")
    module, _, path = value["fqn"].partition(":")
    kind = sys.modules.get(module)
    if not isinstance(kind, types.ModuleType):
        raise _Refused(f"'{module[:_SHOWN]}' is not imported: import what "
                       "defines the types of the inputs")
    for name in path.split("."):
        kind = vars(kind).get(name) if hasattr(kind, "__dict__") else None
    if (not isinstance(kind, type) or not issubclass(kind, enum.Enum)
            or value["name"] not in kind.__members__):
        raise _Refused(f"{shown} is no member of an enum in '{module}'")


def _check_factory(value):
    """Of a defaultdict."""
    if (value.get("default_factory_module") != "builtins"
            or value.get("default_factory_name") not in _FACTORIES):
        made = repr(value.get("default_factory_name"))[:_SHOWN]
        raise _Refused(f"a defaultdict that makes {made}{_TRUST}")


def _check_named_tuple(context):
    kind = (pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE.get(context)
            if isinstance(context, str) else None)
    if not pytree.is_namedtuple_class(kind):
        raise _Refused(f"{repr(context)[:_SHOWN]} is no named tuple that is "
                       "registered: import what defines the types of the inputs")


def _listed(value, field):
    """Of an object of any form: torch lets it hold more than we know."""
    found = value.get(field)
    if found is not None and not isinstance(found, list):
        raise _Refused(f"{_MODEL}: {field} is no list: "
                       f"{repr(found)[:_SHOWN]}")
    return found or []


def _check_model(model):
    for symbol in model.get("range_constraints") or ():
        if re.match("z?u", symbol) and len(symbol) > 10:  # torch counts to it
            raise _Refused(f"{symbol[:100]!r} is no symbol of a program")
    seen, stack = set(), [model]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        if not isinstance(value, dict):
            continue
        for spec in _SPECS:
            _check_spec(value.get(spec))
        texts = [value["expr_str"]] if "expr_str" in value else []
        for text in texts + _listed(value, "guards_code"):
            if not isinstance(text, str) or text not in seen:
                _check_text(text)
                seen.add(text)
        stack.extend(value.values())


# --- pickles

def _known_type(name):
    """A type of that name that a pytree may be made of, already imported."""
    module, _, attribute = name.rpartition(".")
    home = sys.modules.get(module)
    # Not asked with getattr: a module may import when it is asked.
    kind = (vars(home).get(attribute) if isinstance(home, types.ModuleType)
            else None)
    is_named_tuple = (isinstance(kind, type) and issubclass(kind, tuple)
                      and hasattr(kind, "_fields"))
    return kind if is_named_tuple or kind in pytree.SUPPORTED_NODES else None


def _check_pickle(data, name):
    if not data:
        return
    try:
        names = torch.serialization.get_unsafe_globals_in_checkpoint(
            io.BytesIO(data))
        known = {other: _known_type(other) for other in names}
        for other, kind in known.items():
            if kind is None:
                raise _Refused(f"{name} holds {other}, which is neither a "
                               f"tensor nor a type that you registered{_TRUST}")
        with torch.serialization.safe_globals(list(known.values())):
            torch.load(io.BytesIO(data), weights_only=True)
    except _Refused:
        raise
    except Exception as error:
        first = str(error).strip().split("\n")[0]
        raise _Refused(f"{name} cannot be read: {first[:_SHOWN]}") from None


def _check_tensors(archive, names, folder, config):
    if folder + config not in names:
        return
    for name, entry in json.loads(
            archive.record(folder + config))["config"].items():
        path = entry["path_name"]
        if not path.startswith(("weight_", "tensor_")):
            raise _Refused(f"'{name}' is a pickled object{_TRUST}")
        if entry["use_pickle"]:
            _check_pickle(archive.record(folder + path), folder + path)


# --- files

def check_file(data, allow, shown):
    """Raises ValueError unless what torch loads from these bytes computes nothing
    but the program, and the program is one that `proviso run` would run.  `shown`
    names the file."""
    try:
        archive = _proviso.Archive(data, shown)
        _check_archive(archive)
        archive.check_program(list(allow))
    except _Refused as error:
        raise ValueError(f"load: {shown}: {error}") from None
    except Error as error:  # which names the file
        raise ValueError(f"load: {error}") from None
    except Exception as error:
        first = str(error).strip().split("\n")[0]
        raise ValueError(f"load: {shown}: {first}") from error


def _check_archive(archive):
    names = set(archive.names())
    if _MODEL not in names:
        raise _Refused(f"there is no record {_MODEL}; save it with PyTorch "
                       "2.13's torch.export.save or with ours")
    if any(name.startswith(_LIBRARIES) for name in names):
        raise _Refused(f"it holds a compiled library{_TRUST}")
    for name in names:
        # torch loads every model, each with examples and pickles of its own.
        if name.startswith("models/") and name != _MODEL:
            raise _Refused(f"it holds another program, "
                           f"{name[:100]!r}{_TRUST}")
    archive.check_documents()
    _check_model(json.loads(archive.record(_MODEL)))
    if _EXAMPLES in names:
        _check_pickle(archive.record(_EXAMPLES), _EXAMPLES)
    for folder, config in _FOLDERS.items():
        _check_tensors(archive, names, folder, config)
