"""A slice of undefined_programs.py, which runs as long as one likes."""

import os

import pytest
import torch

import proviso
import undefined_programs


def test_a_program_raises_where_eager_raises():
    count = int(os.environ.get("PROVISO_TEST_PROGRAMS", "24"))
    seed = int(os.environ.get("PROVISO_TEST_SEED", "7"))
    outcome = undefined_programs.Outcome()
    for i in range(count):
        program = undefined_programs.Program(seed * 1000003 + i)
        undefined_programs.examine(program, outcome, peer=i % 8 == 0)
    print(f"seed {seed}: {outcome}")
    assert outcome.wrong == [] and outcome.broken == []
    assert outcome.traced > count / 2, str(outcome)
    assert outcome.raised > outcome.points / 5, str(outcome)
    # Decisions on sizes are guards, also those of a branch of cond.
    assert len(outcome.refused) < outcome.points / 20, str(outcome)


def test_a_program_that_drops_the_operation_is_told():
    """The comparison sees what it is there to see."""
    program = undefined_programs.Program(1)
    program.plain = lambda x, i: (x, i[0].item() // i[1].item())
    outcome = undefined_programs.Outcome()
    for point in ((2, 3, 0, 1), (2, 3, 1, 1), (2, 3, 2, 1)):
        undefined_programs._compare(
            program, "careless",
            lambda x, i: (x, i[0].item() if i[1] < 2 else 0), point, outcome)
    assert outcome.wrong == [(1, "careless", (2, 3, 0, 1)),
                             (1, "careless", (2, 3, 2, 1))]
    assert outcome.raised == 1 and outcome.refused == []


@pytest.mark.parametrize("limit", [2**63 - 1, 2**63, 2**70])
def test_data_is_compared_with_integers_of_any_size(limit):
    def program(x, i):
        n = i.item()
        torch._check(n < limit)
        torch._check(n != -limit)
        return x + 1 if n <= limit else x

    ep = proviso.export(program, (torch.ones(2), torch.tensor(4)))
    for value in (-5, 2**63 - 2):
        found = ep.module()(torch.ones(2), torch.tensor(value))
        assert torch.equal(found, torch.full((2,), 2.))
    ep.run_decompositions()
