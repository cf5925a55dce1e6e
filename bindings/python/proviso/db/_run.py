"""Exports a case and compares it with eager."""

import copy
from dataclasses import dataclass
from typing import Optional

import torch
from torch.utils import _pytree as pytree

import proviso


@dataclass
class Result:
    case: object
    program: Optional[object] = None  # the ExportedProgram
    error: Optional[str] = None  # why the export failed
    equal: bool = False  # to eager, on the example
    extra_equal: bool = False  # to eager, on every extra input
    refused: bool = False  # every input that must be refused is
    detail: str = ""  # of the first difference

    @property
    def ok(self) -> bool:
        return (self.error is None and self.equal and self.extra_equal
                and self.refused)

    def report(self) -> str:
        lines = [f"=== {self.case.name}", self.case.description, "",
                 self.case.source]
        if self.error is not None:
            return "\n".join(lines + [f"export failed: {self.error}"])
        lines.append(str(self.program))
        lines.append("Guards:")
        lines += [f"    {guard}" for guard in self.program.guards] or [
            "    none"]
        lines += [f"    at run time: {check}"
                  for check in self.program.runtime_asserts]
        if self.case.advice:
            lines += ["", f"To make it more general: {self.case.advice}"]
        verdict = "equal to eager" if self.ok else f"DIFFERS: {self.detail}"
        count = 1 + len(self.case.extra())
        return "\n".join(lines + [
            "", f"{verdict} on {count} input{'s' * (count > 1)}", ""])

    def as_dict(self) -> dict:
        return {"name": self.case.name, "ok": self.ok, "error": self.error,
                "equal_to_eager": self.equal,
                "extra_inputs_equal": self.extra_equal,
                "tags": list(self.case.tags), "detail": self.detail}


def run(case) -> Result:
    torch.manual_seed(0)
    module = case.make()
    args, kwargs = case.args(), case.kwargs()
    result = Result(case)
    try:
        result.program = proviso.export(
            module, copy.deepcopy(args), copy.deepcopy(kwargs),
            dynamic_shapes=case.dynamic_shapes())
    except Exception as error:
        result.error = f"{type(error).__name__}: {error}"
        return result
    exported = result.program.module()
    result.equal = _agree(result, module, exported, args, kwargs)
    result.extra_equal = all(
        _agree(result, module, exported, extra, {}) for extra in case.extra())
    result.refused = all(_refuses(result, exported, bad)
                         for bad in case.refused())
    return result


def _agree(result, module, exported, args, kwargs) -> bool:
    """Same outputs, and the same changes to the inputs."""
    ours, theirs = copy.deepcopy((args, kwargs)), (args, kwargs)
    try:
        actual = exported(*ours[0], **ours[1])
        expected = copy.deepcopy(module)(*theirs[0], **theirs[1])
    except Exception as error:
        result.detail = f"{type(error).__name__}: {error}"
        return False
    return _same(result, (actual, ours), (expected, theirs))


def _same(result, actual, expected) -> bool:
    a, a_spec = pytree.tree_flatten(actual)
    b, b_spec = pytree.tree_flatten(expected)
    if a_spec != b_spec:
        result.detail = f"nested as {a_spec}, eager as {b_spec}"
        return False
    for x, y in zip(a, b):
        same = (torch.is_tensor(x) and x.dtype == y.dtype
                and torch.allclose(x, y) if torch.is_tensor(y) else x == y)
        if not same:
            result.detail = f"{x} is not {y}"
            return False
    return True


def _refuses(result, exported, args) -> bool:
    try:
        exported(*args)
    except Exception:
        return True
    result.detail = f"accepts {args}, which eager treats differently"
    return False
