"""The command `proviso`: answers, exit statuses, JSON, and clear errors."""

import json
import os
import pathlib
import shutil
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
    # No range shows these: a proof does.
    done = run("prove", "--assume", "u0 + u1 > 2*u2", "--assume", "u0 <= u2",
               "--assume", "u0 + 3*u1 <= 4*u2", "u0 > 3")
    assert done.returncode == 3
    assert done.stdout.startswith("contradictory facts: ")


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


def test_a_question_names_what_was_declared(run):
    done = run("prove", *SIZE, "ss0 >= 2")
    assert done.returncode == 3
    assert "unknown symbol 'ss0'" in done.stderr
    done = run("prove", *SIZE, "--assume", "k == 2*s0", "k >= 4")
    assert done.returncode == 0, done.stderr
    assert run("prove", "k >= k - 1").returncode == 0


def test_help_and_version(run):
    done = run("--help")
    assert done.returncode == 0
    for word in ("prove", "bounds", "simplify", "replay", "decide", "--symbol"):
        assert word in done.stdout
    assert all(line[2:].strip().count("  ") for line in done.stdout.split(
        "commands:\n")[1].split("\n\n")[0].splitlines())
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
    assert done.returncode == 3 and "leave --tiers, --int64" in done.stderr
    done = run("prove", "--context", path, "--option", "budget=5", "s0 > 1")
    assert done.returncode == 3 and "leave --tiers, --int64" in done.stderr


def test_a_file_of_facts_keeps_the_options_of_its_command(run, tmp_path):
    done = run("facts", *SIZE, "--option", "budget=77", "--limit", "zeros=3")
    assert "option budget 77\n" in done.stdout
    assert "option limit.zeros 3\n" in done.stdout


# --- operating it


def test_doctor_tests_itself(run):
    done = run("doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["failed"] == 0 and last["asked"] >= 15
    assert last["seconds"] < 1
    assert last["version"] in run("--version").stdout
    assert run("doctor", "now").returncode == 3


def test_the_options_are_the_solvers_table(run):
    done = run("options", "--json")
    assert done.returncode == 0
    known = json.loads(done.stdout.splitlines()[-1])
    assert known["budget"] == 10000 and "work_limit" in known
    question = ["prove", "--assume", "a < b", "--assume", "b < c", "a + 2 <= c"]
    assert run(*question).returncode == 0
    native = [*question, "--tiers", "native"]  # Z3 has a budget of its own
    assert run(*native, "--option", "work_limit=1").returncode == 2
    done = run(*question, "--option", "work=1")
    assert done.returncode == 3 and "budget" in done.stderr
    done = run(*question, "--option", "budget")
    assert done.returncode == 3 and "NAME=NUMBER" in done.stderr


def test_the_limits_are_the_tables(run):
    done = run("limits", "--json")
    assert done.returncode == 0
    *lines, last = done.stdout.splitlines()
    known = json.loads(last)
    fixed = known.pop("fixed")
    assert known["split_depth"] == 8 and fixed["product_terms"] == 64
    rows = {line.split()[0]: line for line in lines}
    for name, value in (known | fixed).items():
        assert rows[name].split()[1] == str(value)
        assert rows[name].endswith(" (fixed)") == (name in fixed)
    question = ["prove", *SIZE, "s0 > 1", "--limit"]
    assert run(*question, "split_depth=3").returncode == 0
    done = run(*question, "product_terms=3")
    assert done.returncode == 3 and "no limit is called" in done.stderr


TRACED = """
import proviso
context = proviso.Context(budget=20000)
n, m = context.symbol("n", "backed_size"), context.symbol("m")
context.declare(n, 1, 64)
context.assume(n % 8 == 0)
assert context.ask(n % 4 == 0).verdict == "yes"
assert context.ask_quick(n > 64) == "no"
context.bounds("n + m"), context.bounds("2*n"), context.multiple_of(3*n)
context.values("n//8"), context.values(n, 2), context.strided("2*n + 1")
with context.scope():
    context.assume(m <= n)
    context.simplify("Min(m, n)")
    other = context.clone()
other.assume(m == 3)
other.substitute("m + 1"), other.canonical("m*n"), other.bounds_quick("m")
context.ask(n >= 9)
proviso.Context().ask("n < 3")
"""


def test_replay_asks_again_what_a_program_asked(run, tmp_path):
    trace = tmp_path / "trace.log"
    python = os.environ.get("PROVISO_PYTHON", ROOT / ".venv/bin/python")
    subprocess.run([str(python), "-c", TRACED], check=True, timeout=120,
                   env={**os.environ, "PROVISO_TRACE": str(trace),
                        "PYTHONPATH": str(ROOT / "build/python")})
    lines = trace.read_text().splitlines()
    assert "@1 option budget 20000" in lines
    assert "@1 symbol n backed_size" in lines
    assert "@1 strided 2*n + 1 = [17, 129] 16*k + 1" in lines
    assert "@2 clone 1" in lines and "@1 push" in lines and "@1 pop" in lines
    assert "@3 pool 2" in lines
    done = run("replay", trace, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["asks"] == 4

    # What differs is said, with its line.
    trace.write_text(trace.read_text().replace("[17, 129]", "[17, 131]"))
    done = run("replay", trace)
    assert done.returncode == 3
    assert "[17, 129] 16*k + 1, and the trace says [17, 131]" in done.stdout
    trace.write_text(trace.read_text().replace("truth valid", "truth refuted"))
    assert run("replay", trace).returncode == 1


@pytest.mark.parametrize("line, words", [
    ("@0 push", "numbered from 1"),
    ("@x push", "expected a context's number"),
    ("@1 push", "no pool or clone line"),
    ("@1 clone 7", "no pool or clone line"),
    ("@1 pool 1\n@1 pop", "no push() is open"),
    ("@1 pool 1\n@1 option fast 1", "no option 'fast'"),
    ("@1 pool 1\n@1 symbol n size", "symbol NAME KIND"),
    ("@1 pool 1\n@1 guess n = 4", "no call 'guess'"),
    ("@1 pool 1\n@1 values n = 4", "values LIMIT EXPR"),
    ("@1 pool 1\n@1 assume n", "expected a boolean"),
    ("@1 pool 1\n@1 forget", "got 'forget'"),
])
def test_a_trace_that_was_changed_is_an_error_with_its_line(
        run, tmp_path, line, words):
    trace = tmp_path / "trace.log"
    trace.write_text(line + "\n")
    done = run("replay", trace)
    assert done.returncode == 3
    assert words in done.stdout and f"trace.log:{line.count(chr(10)) + 1}" in (
        done.stdout)


def test_a_trace_that_cannot_be_written_is_an_error(run, tmp_path):
    done = subprocess.run(
        [str(COMMAND), "prove", "a < a + 1"], capture_output=True, text=True,
        env={**os.environ, "PROVISO_TRACE": str(tmp_path / "no" / "file")})
    assert done.returncode == 3 and "PROVISO_TRACE" in done.stderr


def completed(words):
    """What bash offers for the last word."""
    script = subprocess.run([str(COMMAND), "completion", "bash"],
                            capture_output=True, text=True, check=True).stdout
    line = " ".join(f"'{w}'" for w in words)
    done = subprocess.run(
        ["bash", "-c", f"{script}\nCOMP_WORDS=({line}); "
         f"COMP_CWORD={len(words) - 1}; _proviso; "
         'printf "%s\\n" "${COMPREPLY[@]}"'],
        capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_and_values(run):
    assert completed(["proviso", "pr"]) == ["prove"]
    assert "completion" in completed(["proviso", ""])
    assert completed(["proviso", "prove", "--ass"]) == ["--assume"]
    assert completed(["proviso", "prove", "--li"]) == ["--limit"]
    assert completed(["proviso", "decide", "--tiers", ""]) == ["native", "all"]
    assert completed(["proviso", "decide", "--without", "lin"]) == [
        "linear-refutation"]
    assert completed(["proviso", "prove", "--option", "bud"]) == ["budget="]
    assert completed(["proviso", "prove", "--as", ""]) == [
        "torch", "python", "smtlib", "srepr"]
    assert completed(["proviso", "replay", "README"]) == ["README.md"]
    assert completed(["proviso", "completion", ""])[-2:] == ["bash", "zsh"]
    assert completed(["proviso", "prove", "--assume", ""]) == []


def test_zsh_has_each_command_and_option(run):
    script = run("completion", "zsh").stdout
    listed = run("--help").stdout.split("commands:")[1].split("options:")[0]
    for row in listed.splitlines():
        word = row.split()[0] if row.strip() else ""
        if word and not word.startswith("-") and row.startswith("  "):
            assert f"'{word}:" in script, word
    zsh = shutil.which("zsh")
    if zsh:
        subprocess.run([zsh, "-n"], input=script, text=True, check=True)
    assert run("completion").returncode == 3
    assert run("completion", "fish").returncode == 3
