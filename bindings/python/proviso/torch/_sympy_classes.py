"""What SymPy's and torch's expression classes are called in Proviso."""

import sympy
from torch.utils._sympy import functions

from proviso import _core

_OF_SYMPY = {
    sympy.Symbol: "Symbol",
    sympy.Integer: "Integer",
    type(sympy.S.Zero): "Integer",
    type(sympy.S.One): "Integer",
    type(sympy.S.NegativeOne): "Integer",
    type(sympy.true): "true",
    type(sympy.false): "false",
    sympy.Add: "Add",
    sympy.Mul: "Mul",
    sympy.Pow: "Pow",
    sympy.Abs: "Abs",
    sympy.Mod: "PythonMod",
    sympy.Eq: "Eq",
    sympy.Ne: "Ne",
    sympy.Lt: "Lt",
    sympy.Le: "Le",
    sympy.Gt: "Gt",
    sympy.Ge: "Ge",
    sympy.And: "And",
    sympy.Or: "Or",
    sympy.Not: "Not",
    sympy.Piecewise: "Piecewise",
}

# Of these the class and the operator (sym/op.h) have one name.
_OF_TORCH = (
    "CeilDiv",
    "CleanDiv",
    "FloorDiv",
    "Identity",
    "IsNonOverlappingAndDenseIndicator",
    "LShift",
    "Max",
    "Min",
    "Mod",
    "ModularIndexing",
    "PowByNatural",
    "PythonMod",
    "RShift",
    "Where",
    "BitwiseFn_bitwise_and",
    "BitwiseFn_bitwise_or",
    "BitwiseFn_bitwise_xor",
)


def register():
    """Tells the extension the table.  Calling it again changes nothing."""
    classes = dict(_OF_SYMPY)
    for name in _OF_TORCH:
        if hasattr(functions, name):
            classes[getattr(functions, name)] = name
    _core.set_sympy(classes, sympy.true, sympy.false, sympy.Integer)
