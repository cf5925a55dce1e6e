"""The command `proviso`: answers, exit statuses, JSON, and clear errors."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(
    os.environ.get("PROVISO_COMMAND", ROOT / "build" / "bin" / "proviso"))

SIZE = ["--symbol", "s0 in [2, int_oo]"]
EIGHTS = ["--assume", "Eq(Mod(s0, 8), 0)"]
FOURS = ["--assume", "Eq(Mod(s0, 4), 0)"]


@pytest.fixture(scope="module")
def run():
    if not COMMAND.exists():
        pytest.skip(f"{COMMAND} is not built (./dev build makes it)")

    def call(*words):
        return subprocess.run([str(COMMAND), *map(str, words)],
                              capture_output=True, text=True, timeout=120)

    return call


def test_yes_names_the_fact_used(run):
    done = run("prove", *SIZE, *EIGHTS, "Eq(Mod(s0, 4), 0)")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "yes"
    assert "  by  Eq(Mod(s0, 8), 0)" in lines


def test_the_converse_is_unknown_with_a_counterexample(run):
    done = run("prove", *SIZE, *FOURS, "Eq(Mod(s0, 8), 0)", "--json")
    assert done.returncode == 2, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "unknown"
    answer = json.loads(lines[-1])
    value = int(answer["counterexample"]["s0"])
    assert value >= 2 and value % 4 == 0 and value % 8 != 0
    assert f"  counterexample  s0 = {value}" in lines


def test_no_exits_with_one(run):
    done = run("prove", *SIZE, "s0 < 2")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "no")


def test_json_is_the_last_line_and_has_the_promised_keys(run):
    done = run("prove", *SIZE, *EIGHTS, "--json", "Eq(Mod(s0, 4), 0)")
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["answer"] == "yes"
    assert answer["facts"] == ["Eq(Mod(s0, 8), 0)"]
    assert answer["counterexample"] is None
    assert isinstance(answer["tier"], str) and answer["us"] >= 0


def test_a_zero_divisor_makes_the_answer_unknown(run):
    done = run("prove", "--symbol", "u0 in [0, 4]", "Eq(u0//u0, 1)")
    assert done.returncode == 2
    assert "u0 = 0" in done.stdout


def test_contradictory_facts_are_not_used(run):
    done = run("prove", "--symbol", "s0 in [2, 9]", "--assume", "s0 > 9",
               "s0 > 5", "--json")
    assert done.returncode == 3
    assert done.stdout.startswith("contradictory facts: ")
    assert json.loads(done.stdout.splitlines()[-1])["answer"] is None


def test_without_z3_the_native_tiers_answer(run):
    done = run("prove", "--tiers", "native", *SIZE, *EIGHTS, "Eq(Mod(s0, 2), 0)")
    assert done.returncode == 0


def test_machine_integers_are_an_option(run):
    question = "s0 <= 9223372036854775807"
    assert run("prove", *SIZE, question).returncode == 2
    assert run("prove", *SIZE, "--int64", question).returncode == 0


def test_a_question_may_begin_with_a_sign(run):
    assert run("prove", *SIZE, "-s0 < 0").returncode == 0
    assert run("prove", *SIZE, "--", "--s0 > 1").returncode == 0


def test_bounds_and_simplify(run):
    done = run("bounds", "--symbol", "s0 in [2, 31]", "s0//2 + 1")
    assert (done.returncode, done.stdout) == (0, "[2, 16]\n")
    done = run("simplify", "--as", "torch", "s0 + s0 - 2*s0")
    assert (done.returncode, done.stdout) == (0, "0\n")
    done = run("simplify", "--as", "srepr", "s0 + s0")
    assert done.stdout == ("Mul(Integer(2), Symbol('s0', "
                           "nonnegative=True, integer=True))\n")
    done = run("simplify", "--as", "smtlib", "--json", "u0 + u0")
    assert json.loads(done.stdout.splitlines()[-1]) == {"expr": "(* 2 u0)"}


@pytest.mark.parametrize("words,hint", [
    (["prove"], "expected one expression"),
    (["prove", "s0 +"], "column 5"),
    (["prove", "s0 + 1"], "expected a boolean"),
    (["prove", "s0 < 1", "--symbol"], "needs a value"),
    (["prove", "s0 < 1", "--symbol", "s0 2"], "expected 'in'"),
    (["prove", "s0 < 1", "--symbol", "s0 in [3, 2]"], "the range is empty"),
    (["prove", "s0 < 1", "--assume", "s0 + 1"], "boolean"),
    (["prove", "s0 < 1", "--fast"], "unknown option '--fast'"),
    (["prove", "(" * 5000], "nesting deeper"),
    (["bounds", "s0 < 1"], "expected an integer expression"),
    (["simplify", "--as", "latex", "s0"], "choose torch, python"),
    (["replay", "/no/such/file.shapelog"], "cannot read"),
    (["decide"], "expected one or more files"),
    (["guess"], "unknown command 'guess'"),
    ([], "usage: proviso"),
])
def test_bad_input_exits_with_three_and_a_sentence(run, words, hint):
    done = run(*words)
    assert done.returncode == 3
    assert hint in done.stderr
    assert done.stdout == ""


def test_help_and_version(run):
    done = run("--help")
    assert done.returncode == 0
    for word in ("prove", "bounds", "simplify", "replay", "decide", "--symbol"):
        assert word in done.stdout
    assert "--assume" in run("prove", "--help").stdout
    assert run("--version").stdout.startswith("proviso ")


SESSION = """# a small session
symbol s0 backed hint 8 range [2, int_oo]
symbol zf0 backed hint 0.5 range [-oo, oo]
range zf0 [1.0e-12, oo]
ask guard s0 <= 512 ; truth open ; peer guarded True 3us
assume s0 <= 512
range s0 [2, 512]
ask static s0 <= 600 ; truth valid ; peer True 1us
ask static Eq(s0, 1) ; truth refuted ; peer False 1us
ask guard s0 ; truth value ; peer guarded 8 1us
ask static s0 <= 9223372036854775807 ; truth valid ; peer True 1us
"""


def test_replay_counts_answers_against_the_truth(run, tmp_path):
    path = tmp_path / "small.shapelog"
    path.write_text(SESSION)
    done = run("replay", path, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert (counts["asks"], counts["decided"], counts["open"]) == (4, 3, 1)
    assert counts["wrong"] == 0


def test_replay_prints_a_wrong_answer(run, tmp_path):
    path = tmp_path / "wrong.shapelog"
    path.write_text(SESSION.replace("600 ; truth valid", "600 ; truth refuted"))
    done = run("replay", path)
    assert done.returncode == 1
    assert "WRONG" in done.stdout and "answered yes" in done.stdout
    assert f"{path}:8" in done.stdout


def test_replay_goes_on_after_a_bad_line(run, tmp_path):
    path = tmp_path / "bad.shapelog"
    path.write_text("nonsense here\n" + SESSION)
    done = run("replay", path, "--json")
    assert done.returncode == 3
    assert "expected symbol, range, assume or ask" in done.stdout
    assert json.loads(done.stdout.splitlines()[-1])["decided"] == 3


def test_decide_reads_both_kinds_of_files(run, tmp_path):
    facts = tmp_path / "facts.txt"
    facts.write_text(
        "# comment\n"
        "L1|linear|s0:2.. s1:2..|s0 + s1 == 10|s0 <= 8|valid|-\n"
        "L2|linear|u0:..||u0 > 8|independent|-\n"
        "L3|linear|u0:0..3||u0 > 3 and u0 < 9|refuted|-\n")
    probe = tmp_path / "probe.jsonl"
    probe.write_text(json.dumps({
        "group": "range", "symbols": {"u0": "unbacked int"},
        "facts": ["u0 >= 3"], "ask": "u0 > 2", "truth": "valid"}) + "\n")
    done = run("decide", facts, probe, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert (counts["asks"], counts["decided"], counts["open"]) == (4, 3, 1)


def test_what_went_wrong_once_is_right(run):
    """tests/regress: each question decided or open, each contradiction found."""
    files = sorted((ROOT / "tests" / "regress").glob("*.txt"))
    assert files
    done = run("decide", *files, "--tiers", "native", "--reasons", "--json")
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["wrong"] == counts["errors"] == 0, done.stdout
    assert counts["reasons"] == {"checked": counts["decided"],
                                 "not_enough": 0}, done.stdout
    assert counts["decided"] == counts["decidable"] > 0, done.stdout
    assert counts["open_shown"] == counts["open"] > 0, done.stdout
    assert counts["vacuous_found"] == counts["vacuous"] > 0, done.stdout


def test_replay_counts_first_and_repeated_questions(run, tmp_path):
    log = tmp_path / "a.shapelog"
    log.write_text(
        "# shapelog 1\n"
        "symbol s0 backed hint 4 range [2, int_oo]\n"
        "symbol zuf0 unbacked range [-oo, oo]\n"
        "ask guard s0 >= 2 ; truth valid ; peer True 10us\n"
        "ask guard s0 >= 2 ; truth valid ; peer True 10us\n"
        "assume Eq(Mod(s0, 4), 0)\n"
        "ask guard Ne(s0, 5) ; truth valid ; peer unknown 20us\n"
        "ask guard Eq(s0, 8) ; truth open ; peer guarded False 20us\n"
        "ask guard s0*2 ; truth value ; peer 8 1us\n")
    done = run("replay", log, "--tiers", "native", "--reasons", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert (counts["asks"], counts["decidable"], counts["decided"]) == (4, 3, 3)
    assert counts["reasons"] == {"checked": 2, "not_enough": 0}
    assert counts["open_shown"] == 1 and counts["z3_calls"] == 0
    assert counts["distinct"] == {"decidable": 2, "decided": 2}
    assert counts["peer_us_sum"] == 60
    for key in ("median", "p90", "p99", "max", "sum"):
        assert counts["first_us"][key] >= 0


@pytest.mark.parametrize("text,point,value", [
    ("s0 - 2*u0//3 + 1", {"s0": 7, "u0": 5}, 5),
    ("PythonMod(u0, 3) + CeilDiv(s0, 2)", {"s0": 7, "u0": -5}, 5),
    ("Max(u0, 3) - Min(s0, u0)**2", {"s0": 7, "u0": 4}, -12),
    ("Where(u0 < 3, s0, u0)", {"s0": 7, "u0": 2}, 7),
    ("Where(u0 < 3, s0, u0)", {"s0": 7, "u0": 4}, 4),
    ("~((u0 < 3) & Eq(s0, 7)) | (u0 > 1)", {"s0": 7, "u0": 1}, False),
    ("ModularIndexing(s0, 2, 3)", {"s0": 11, "u0": 1}, 2),
])
def test_sympy_reads_srepr_as_torch_does(run, text, point, value):
    """As torch.export.load does: sympify with PyTorch's functions."""
    sympy = pytest.importorskip("sympy")
    functions = pytest.importorskip("torch.utils._sympy.functions")
    names = {name: getattr(functions, name) for name in (
        "FloorDiv", "ModularIndexing", "Where", "PythonMod", "Mod", "CleanDiv",
        "CeilDiv", "LShift", "RShift", "PowByNatural", "ToFloat")}
    printed = run("simplify", "--as", "srepr", text).stdout
    expr = sympy.sympify(printed, locals=names)
    symbols = {symbol.name: symbol for symbol in expr.free_symbols}
    assert symbols["s0"].is_nonnegative and symbols["s0"].is_positive is None
    assert expr.subs({s: point[n] for n, s in symbols.items()}) == value


def test_facts_are_kept_in_a_file(run, tmp_path):
    done = run("facts", *SIZE, *EIGHTS)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "facts.txt"
    path.write_text(done.stdout)
    assert run("facts", "--context", path).stdout == done.stdout
    done = run("prove", "--context", path, "Eq(Mod(s0, 4), 0)")
    assert done.stdout == run("prove", *SIZE, *EIGHTS,
                              "Eq(Mod(s0, 4), 0)").stdout
    more = run("bounds", "--context", path, "--assume", "s0 < 20", "s0")
    assert more.stdout == "[8, 16]\n"


@pytest.mark.parametrize("text, error", [
    ("proviso context 1\nassume s0 > \nend\n", "line 2, column 8: expected"),
    ("proviso context 1\n", "line 2, column 1: expected 'end'"),
])
def test_a_file_that_holds_no_facts_is_refused(run, tmp_path, text, error):
    path = tmp_path / "facts.txt"
    path.write_text(text)
    done = run("prove", "--context", path, "s0 > 1")
    assert done.returncode == 3 and error in done.stderr
    done = run("prove", "--context", tmp_path / "none.txt", "s0 > 1")
    assert done.returncode == 3 and "cannot read" in done.stderr
    path.write_text("proviso context 1\nend\n")
    done = run("prove", "--context", path, "--int64", "s0 > 1")
    assert done.returncode == 3 and "leave --tiers and --int64" in done.stderr
