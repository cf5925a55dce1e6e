"""What was asked, who answered, and what differs."""

import dataclasses

from proviso import _core
from proviso.torch import _data_dependent, _differences


@dataclasses.dataclass(frozen=True)
class Difference:
    """A question that the two answer differently.

    kind: "disagree", "against the hint", "Proviso alone" or "torch alone".
    proviso, torch: the answers as text; "None" is unknown.
    """

    kind: str
    question: str
    proviso: str
    torch: str


@dataclasses.dataclass(frozen=True)
class Report:
    """Of this process since its start or `reset_report()`.

    questions, decided, unknown: what the mirrors were asked, in numbers.
    left_to_torch: {class of SymPy: count} of questions without a meaning in
    Proviso (floats, infinities); torch answered those.
    compared: {"same" or a difference's kind: count}; empty without verify.
    differences: each once.
    data_dependent: ((proviso.Diagnosis, times), ...) of questions about data
    that nothing decided, those included for which Dynamo broke the graph.
    """

    questions: int
    decided: int
    unknown: int
    left_to_torch: dict
    compared: dict
    differences: tuple
    data_dependent: tuple = ()

    def __str__(self):
        lines = [
            f"Proviso answered {self.questions} questions of ShapeEnv: "
            f"{self.decided} decided, {self.unknown} unknown"
        ]
        for name, count in sorted(self.left_to_torch.items()):
            lines.append(f"  left to torch: {count} with {name}")
        for kind, count in sorted(self.compared.items()):
            lines.append(f"  {kind}: {count}")
        for d in self.differences:
            lines.append(
                f"  {d.kind}: {d.question}: Proviso {d.proviso}, "
                f"torch {d.torch}"
            )
        for one, times in self.data_dependent:
            checks = " and ".join(one.code or one.conditions)
            lines.append(
                f"  not decided, {times} times: {one.question} at {one.file}:"
                f"{one.line}; {checks} would decide it"
            )
        return "\n".join(lines)


def report():
    """The `Report` of this process."""
    counts = _core.mirror_counts()
    return Report(
        questions=counts["questions"],
        decided=counts["decided"],
        unknown=counts["unknown"],
        left_to_torch=dict(counts["refused"]),
        compared=dict(_differences.counts),
        differences=tuple(Difference(*key) for key in _differences.found),
        data_dependent=tuple(
            (one, times) for one, times in _data_dependent.found.values()
        ),
    )


def reset_report():
    """Starts counting anew."""
    _core.reset_mirror_counts()
    _differences.reset()
    _data_dependent.reset()
