"""A slice of random_programs.py, which runs as long as one likes."""

import os

import random_programs


def test_a_program_equals_eager_or_is_refused():
    count = int(os.environ.get("PROVISO_TEST_PROGRAMS", "150"))
    seed = int(os.environ.get("PROVISO_TEST_SEED", "7"))
    outcome = random_programs.Outcome()
    for i in range(count):
        program = random_programs.Program(seed * 1000003 + i)
        random_programs.examine(program, outcome)
    print(f"seed {seed}: {outcome}")
    assert outcome.wrong == []
    assert outcome.on_path_accepted >= 0.99 * outcome.on_path, str(outcome)
    assert outcome.accepted > outcome.tuples / 20


def test_what_torch_export_takes_and_is_right_about_is_taken():
    outcome = random_programs.Outcome()
    for i in range(int(os.environ.get("PROVISO_TEST_PROGRAMS", "40"))):
        random_programs.examine(random_programs.Program(i), outcome, peer=True)
    assert outcome.wrong == [] and outcome.peer_right_refused == []
    assert outcome.peer_right > 100, str(outcome)
