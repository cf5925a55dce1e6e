"""`proviso explain`: the command, on texts in the wordings of PyTorch 2.1 to
2.13.  Programs and paths are made up."""

import json
import os
import pathlib
import random
import re
import subprocess
import time

import proviso
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("PROVISO_COMMAND", ROOT / "build/bin/proviso")


def run(text, *options):
    if isinstance(text, str):
        text = text.encode()
    return subprocess.run([COMMAND, "explain", "-", "--json", *options],
                          input=text, capture_output=True, timeout=60)


def errors(text):
    done = run(text)
    assert done.returncode == 0, done.stderr
    last = done.stdout.decode("utf-8").rstrip("\n").split("\n")[-1]
    answer = json.loads(last)
    assert set(answer) == {"errors"}
    for one in answer["errors"]:
        assert list(one) == ["kind", "conditions", "code", "file", "line",
                             "names"]
    return answer["errors"]


def guard(expression, sizes="u0", version="2.6"):
    if version < "2.2":
        return (
            "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: "
            "It appears that you're trying to get a value out of symbolic "
            "int/float whose value is data-dependent (and thus we do not know "
            "the true value.)  The expression we were trying to evaluate is "
            f"{expression} (unhinted: {expression}).  Scroll up to see where "
            "each of these data-dependent accesses originally occurred.\n")
    return (
        "torch._dynamo.exc.UserError: Could not guard on data-dependent "
        f"expression {expression} (unhinted: {expression}).  (Size-like "
        f"symbols: {sizes})\n\n")


def user(code, function="forward", line=41):
    return ("from user code:\n"
            f'   File "/srv/app/net.py", line {line}, in {function}\n'
            f"    {code}\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack\n")


# (needed case, text, kind, conditions): docs of the threads are in the names.
CASES = [
    ("S02", guard("Eq(256*u0, 256)"), "needed_check", ["Ne(u0, 1)"]),
    ("S03", guard("Eq(1, u6) | Eq(96*u6, 0)", "u6"), "needed_check",
     ["u6 >= 2"]),
    ("S04", guard("4*u1 > 4000", "u1"), None, ["u1 <= 1000"]),
    ("S06 proved", "runtime_assert u0 + 5 <= 512 [guard added] (a.py:1 in f)\n"
     + guard("507 - u0 >= 0"), "implied", None),
    ("S06", "runtime_assert u0 + 5 <= 512 [guard added] (a.py:1 in f)\n"
     + guard("Eq(507 - u0, 0)"), "needed_check", ["u0 <= 506"]),
    ("S10", guard("Eq(u77 - 1, 1)", "u77"), "needed_check", ["Ne(u77, 2)"]),
    ("S13", guard("u0 > 4096", "none")
     + user("if seq_len > self.original_max_position_embeddings:"),
     "real_branch", ["u0 <= 4096"]),
    ("S14", guard("Ne(u0, 589824)", "none"), "needed_check",
     ["Eq(u0, 589824)"]),
    ("V01", "runtime_assert u0 + u1 + u2 > 1 [guard added] (a.py:1 in f)\n"
     + guard("Eq(u0 + u1 + u2, 0)", "none"), "implied", None),
    ("V02", "runtime_assert u1 < u2 [guard added] (a.py:1 in f)\n"
     + guard("u1 <= u2", "none"), "implied", None),
    ("V10", "runtime_assert u0 >= 1 [guard added] (a.py:1 in f)\n"
     + guard("256*u0 >= 256"), "implied", None),
    ("old wording", guard("Eq(i0, 0)", version="2.1"), "needed_check",
     ["Ne(i0, 0)"]),
    ("negative index", guard("u0 < 0", "none"), "needed_check", ["u0 >= 0"]),
    ("a size is not negative", guard("u0 < 0"), "implied", None),
    ("tensor's truth", guard("Eq(u0, 1)", "none")
     + user("if self.enabled[0] == 1:"), "real_branch", None),
    ("a count", "create_unbacked_symint u0 [0, 100] (a.py:1 in f)\n"
     + guard("Eq(u0, 0)", "none") + user("if n == 0: return x"),
     "needed_check", ["u0 >= 1"]),
    ("a truth value", "create_unbacked_symbool u0 [0, 1] (a.py:1 in f)\n"
     + guard("Eq(u0, 0)", "none") + user("if not found: return x"),
     "real_branch", None),
    ("an operator's question", guard("Eq(u0, 1)")
     + user("return (x * y).sum(0)"), "needed_check", ["Ne(u0, 1)"]),
    ("refusal", guard("u0 > 50") + user("if n > 50: raise ValueError(n)"),
     "needed_check", ["u0 <= 50"]),
    ("assertion", guard("Eq(Mod(u0, 4), 0)") + user("assert n % 4 == 0"),
     "needed_check", ["Eq(Mod(u0, 4), 0)"]),
    ("loop", "Could not extract specialized integer from data-dependent "
     "expression u0 (unhinted: u0).  (Size-like symbols: u0)\n\n"
     + user("for t in range(n): h = step(h, y[t])"), "real_branch", []),
    ("an operator wants a number", "Could not extract specialized integer from "
     "data-dependent expression u0 (unhinted: u0).  (Size-like symbols: none)\n"
     "\n" + user("return F.one_hot(index, n)"), "bug_in_op", []),
    ("control flow", "torch._dynamo.exc.UserError: Dynamic control flow is not "
     "supported at the moment. Please use functorch.experimental.control_flow."
     "cond to explicitly capture the control flow.\n" + user("if x.sum() > 0:"),
     "real_branch", []),
    ("false check", "RuntimeError: Expected cond to be True, but got False. "
     "(Could this error message be improved?)\n", "contradiction", None),
    ("empty range", "torch.utils._sympy.value_ranges.ValueRangeError: Invalid "
     "ranges [5:3]\n", "contradiction", None),
    ("contradictory facts", "runtime_assert u0 > 5 [guard added] (a.py:1 in f)\n"
     "runtime_assert u0 < 3 [guard added] (a.py:2 in f)\n"
     + guard("Eq(u0, 9)", "none"), "contradiction", None),
    ("no kernel", "torch._subclasses.fake_tensor.DataDependentOutputException: "
     "aten.equal.default\n", "bug_in_op", []),
    ("lost symbol", "torch._dynamo.exc.InternalTorchDynamoError: "
     "PendingUnbackedSymbolNotFound: Pending unbacked symbols {zuf1} not in "
     "returned outputs\n", "bug_in_op", []),
    ("compiler", "torch._inductor.exc.InductorError: LoweringException: "
     "GuardOnDataDependentSymNode: Could not guard on data-dependent expression "
     "u0 >= 2 (unhinted: u0 >= 2).  (Size-like symbols: u0)\n", "bug_in_op",
     ["u0 >= 2"]),
    ("assertion of the compiler", "Traceback (most recent call last):\n"
     '  File "/x/site-packages/torch/_inductor/ir.py", line 3, in f\n'
     "    assert not free\nAssertionError\n", "bug_in_op", []),
    ("constant dim", "Constraints violated (batch)! For more information, run "
     "with TORCH_LOGS=\"+dynamic\".\n  - Not all values of batch = L['x'].size()"
     "[0] in the specified range batch <= 64 are valid because batch was "
     "inferred to be a constant (6).\nSuggested fixes:\n  batch = 6\n",
     "dim_spec", ["Eq(batch, 6)"]),
    ("marked dim", "torch.fx.experimental.symbolic_shapes."
     "ConstraintViolationError: Constraints violated (L['x'].size()[0])! For "
     "more information\n  - You marked L['x'].size()[0] as dynamic but your "
     "code specialized it to be a constant (5). If you're using mark_dynamic, "
     "either remove it or use maybe_mark_dynamic.\n", "dim_spec",
     ["L['x'].size()[0] == 5"]),
    ("multiple", "Constraints violated (W)! For more information\n  - Not all "
     "values of W = L['x'].size()[3] in the specified range 2 <= W <= 512 "
     "satisfy the generated guard Eq(Mod(L['x'].size()[3], 16), 0).\n"
     "Suggested fixes:\n  _W = Dim('_W', max=32)\n  W = 16*_W\n", "dim_spec",
     ["Eq(Mod(W, 16), 0)"]),
    ("suggestions alone", "Constraints violated (a, b)!\nSuggested fixes:\n"
     "  _a = Dim('_a', min=1, max=8)\n  a = 4*_a\n  b = a + 1\n", "dim_spec",
     ["a >= 4", "a <= 32", "Eq(Mod(a, 4), 0)", "Eq(b, a + 1)"]),
    ("a break within the phrase", "<class 'x.GuardOnDataDependentSymNode'>: "
     "Could not guard on\ndata-dependent expression u0 > 5 (unhinted: u0 > 5)."
     "  (Size-like symbols: none)\n" + user("if n > 5:"), "real_branch",
     ["u0 <= 5"]),
    ("as strings of Python", 'why = ("GuardOnDataDependentSymNode: Could not "\n'
     '       "guard on data-dependent expression u8 < 0` in slice_forward")\n',
     None, ["u8 >= 0"]),
    ("a value that is broken off", "Could not extract specialized integer\n"
     "   from data-dependent expression u192 + u197 + ...\n", "bug_in_op", []),
    ("retold", "dynamo: `Could not guard on Eq(u0, 7)` again\n", "needed_check",
     ["Eq(u0, 7)"]),
    ("retold in part", "Could not guard on it, and gave up\n" + guard("u0 > 5",
     "none"), None, ["u0 >= 6"]),
    ("a page", "<pre><code>Could not guard on data-dependent expression u0 &gt;="
     " 5 (unhinted: u0 &gt;= 5).  (Size-like symbols: none)\n\nCaused by: if n "
     "&gt;= 5:  # net.py:9 in forward (tensor.py:1 in f)\n</code></pre>\n",
     "real_branch", ["u0 <= 4"]),
    ("typeset", "\u201cCould not guard on\u00a0data-dependent expression\u00a0"
     "u0\u00a0\u2264 5 (unhinted: u0\u00a0\u2264 5).  (Size-like symbols: none)"
     "\u201d\n", "needed_check", ["u0 <= 5"]),
    ("typeset dims", "Constraints violated (b)!\n  \u2022 Not all values of b = "
     "L[\u2018x\u2019].size()[0] in the specified range b &lt;= 64 satisfy the "
     "generated guard Eq(Mod(L[&#39;x&#39;].size()[0], 2), 0).\n", "dim_spec",
     ["Eq(Mod(b, 2), 0)"]),
    ("dims in a comment", "#   ConstraintViolationError: Constraints violated "
     "(L['x'].size()[0])!\n#     - You marked L['x'].size()[0] as dynamic but "
     "your code\n#       specialized it to be a constant (2).\n#\n", "dim_spec",
     ["L['x'].size()[0] == 2"]),
    ("dims without a heading", "  - Not all values of L['x'].size()[0] in the "
     "specified range\n    128 <= L['x'].size()[0] <= 512 satisfy the generated "
     "guard\n    (L['x'].size()[0] % 64) == 0.\n  - ... satisfy the generated "
     "guard L['x'].size()[0] == (64*(L['x'].size()[0] // 64)).\n", "dim_spec",
     ["L['x'].size()[0] % 64 == 0"]),
    ("fixes of further dims", "Constraints violated (b, h)!\n  - Not all values "
     "of b in the specified range b <= 99 satisfy the generated guard L['x']."
     "size()[0] <= 2\n  - solving the guards for b resulted in a specialized "
     "value of 1.\nSuggested fixes:\n  b = 1\n  h = 22\n", "dim_spec",
     ["Eq(b, 1)", "Eq(h, 22)"]),
    ("one or none", guard("Eq(Min(4, u0 + 1) - Min(4, u0), 1)"), "needed_check",
     ["u0 <= 3"]),
    ("a quotient", guard("Eq(u0//387, 1)"), "needed_check",
     ["Ne((u0//387), 1)"]),
    ("equal dims", "Constraints violated (b)!\n  - The values of a = L['x']."
     "size()[0] and b = L['y'].size()[0] must always be equal.\n", "dim_spec",
     ["Eq(a, b)"]),
]


@pytest.mark.parametrize("name,text,kind,conditions", CASES,
                         ids=[case[0] for case in CASES])
def test_kind_and_conditions(name, text, kind, conditions):
    (answer,) = errors(text)
    if kind is not None:
        assert answer["kind"] == kind
    if conditions is not None:
        assert answer["conditions"] == conditions


def test_the_same_through_every_prefix():
    text = guard("Eq(256*u0, 256)") + user("y = x.view(-1)")
    plain = errors(text)
    for prefix in [
            "[rank3]: ", "[rank0]:E1213 16:58:36.372000 165 torch/a.py:23] [0/0] ",
            "(EngineCore_DP0 pid=3112) ERROR 12-15 12:35:11 [core.py:866] ",
            "(VllmWorker rank=1 pid=9) ERROR 05-27 11:47:57 [core.py:396] ",
            "2025-12-15T20:35:11.0000000Z ", "[2023-12-09 15:28:05,619] [5/0_1] "
            "torch._guards: [ERROR] ", "vllm-1  | ", "E       ", "> ",
            "[1;36m(APIServer pid=1)[0;0m ", "Aug 19 18:34:27 host vllm[8727]: ", "\x1b[1;36m(APIServer pid=1)"
            "\x1b[0;0m ", "2025-07-01 10:00:00,123 - vllm.engine - ERROR - "]:
        prefixed = "".join(prefix + line for line in text.splitlines(True))
        assert errors(prefixed) == plain, prefix
        assert errors(prefixed.replace("\n", "\r\n")) == plain, prefix


def test_the_line_that_asks_is_the_place_where_the_stack_was_cut():
    (answer,) = errors(
        guard("Eq(u0, 1)", "none")
        + "Caused by: if mask.any():  # app/words.py:65 in next (x.py:9 in f)\n\n"
        + user("return self.stages(x)"))
    assert (answer["file"], answer["line"]) == ("app/words.py", 65)


def test_what_is_no_word_of_python_is_no_name():
    for words in ["y.shape[0", "y shape", "if", "y.2", "f(", "y[0]]", "'y"]:
        (answer,) = errors(
            guard("Eq(u0, 1)") + "(These suggested fixes were derived by "
            f"replacing `u0` with {words} in Eq(u0, 1) and its negation.)\n")
        assert answer["code"] == [], words
    for words in ["y.shape[0]", "x['a'].size(0)", "len(x)", "y[-1, 0]"]:
        (answer,) = errors(
            guard("Eq(u0, 1)") + "(These suggested fixes were derived by "
            f"replacing `u0` with {words} in Eq(u0, 1) and its negation.)\n")
        assert answer["code"] == [f"torch._check({words} != 1)"]


def test_names_are_taken_where_they_hold():
    text = (
        "create_env\n"
        "create_symbol s77 = 4 for L['img'].size()[0] [2, int_oo] (a.py:1 in f)\n"
        + guard("Ne(u3, s77)", "none") +
        "def forward(self, arg0_1):\n"
        "    # File: /srv/app/net.py:40 in forward, code: n = m.sum().item()\n"
        '    item: "Sym(u3)" = torch.ops.aten.item.default(sum_1)\n\n'
        + user("if n != img.shape[0]: raise ValueError('differ')"))
    (answer,) = errors(text)
    # The graph is printed before the error in real texts; names of another
    # function or of a later line are not taken.
    assert answer["names"]["s77"] == "img.shape[0]"
    assert answer["code"] == ["torch._check(n == img.shape[0])"]
    other = text.replace(":40 in forward", ":40 in helper")
    assert errors(other)[0]["code"] == []
    later = text.replace(":40 in forward", ":90 in forward")
    assert errors(later)[0]["code"] == []


def test_a_symbol_is_known_by_its_source_and_not_its_number():
    text = "".join(
        "create_env\n"
        f"create_symbol s0 = 4 for L['{name}'].size()[0] [2, int_oo] (a.py:1 in"
        f" f)\n" + guard("Eq(u0, s0)", "none") + user("y = a + b", line=line)
        for name, line in [("first", 3), ("second", 9)])
    one, two = errors(text)
    assert one["names"] == {"s0": "first.shape[0]"}
    assert two["names"] == {"s0": "second.shape[0]"}


def test_ranks_are_read_apart_and_said_once():
    text = guard("Eq(u0, 1)") + user("y = x.mean(0)")
    interleaved = []
    for line in text.splitlines(True):
        interleaved += [f"[rank{rank}]: {line}" for rank in range(4)]
    assert errors("".join(interleaved)) == errors(text)


def test_an_unreadable_expression_is_said():
    done = run("Could not guard on data-dependent expression  (unhinted: ")
    assert b"could not be read, the first at line 1" in done.stdout


def test_a_page_is_written(tmp_path):
    page = tmp_path / "page.html"
    text = ("runtime_assert u0 >= 5 [guard added] (a.py:1 in f)\n"
            + guard("u0 >= 3") + user("if '<b>' & n >= 3:"))
    assert run(text, "--html", str(page)).returncode == 0
    html = page.read_text()
    assert "<svg" in html and "prefers-color-scheme: dark" in html
    assert "&lt;b&gt;" in html and "<b>" not in html
    assert "://" not in html and "src=" not in html


def all_texts():
    return [case[1] for case in CASES]


def test_no_text_is_too_much():
    random.seed(7)
    texts = all_texts()
    batches = []
    for _ in range(60):
        parts = [random.choice(texts) for _ in range(random.randint(1, 4))]
        cut = [part[random.randint(0, 30):random.randint(0, len(part))]
               for part in parts]
        noise = bytes(random.randrange(256)
                      for _ in range(random.randint(0, 60)))
        whole = bytearray("".join(cut).encode() + noise)
        for _ in range(random.randint(0, 9)):
            if whole:
                whole[random.randrange(len(whole))] = random.randrange(256)
        batches.append(bytes(whole))
    for batch in batches:
        errors(batch)


def mutant(pick, texts):
    """Words of texts, in places of others."""
    words = re.split(r"(\W)", pick.choice(texts))
    other = re.split(r"(\W)", pick.choice(texts))
    for _ in range(pick.randint(1, 4)):
        at = pick.randrange(len(words))
        words[at:at + pick.choice([0, 1, 1, 9])] = pick.choice(
            [[], [pick.choice(words)], [pick.choice(other)],
             other[pick.randrange(len(other)):][:20], ["&gt;"], ["\u201c"]])
    return "".join(words)


def test_code_of_any_text_is_python():
    pick = random.Random(11)
    texts = all_texts() + ["".join(
        guard(f"Eq(u{k}, s{k})", "none") + "(These suggested fixes were derived "
        f"by replacing `u{k}` with {words} or n, `s{k}` with img.shape[{k}] in "
        f"Eq(u{k}, s{k}) and its negation.)\n" + user("if n != 3:"))
        for k, words in enumerate(["y.shape[0]", "x['a'].size(1)", "len(y)"])]
    coded = 0
    for _ in range(3000):
        text = mutant(pick, texts)
        for error in proviso.explain(text).errors:
            for line in error.code + error.other_code:
                compile(line, text, "exec")
                coded += 1
                for word in re.findall(r"[A-Za-z_]\w*", line):
                    assert word in text or word in (
                        "torch", "_check", "shape", "Dim", "sym_not",
                        "sym_min", "sym_max"), (word, text)
    assert coded > 200


def test_what_is_deep_or_long_is_read():
    for expression in ["(" * 50000, "Eq(" * 3000 + "u0" + ", 0)" * 3000,
                       "u0 + " * 20000 + "1 > 0", "-" * 30000 + "u0 > 1",
                       "2**(2**(2**(2**u0))) > 1", "u0**99999999 > 1"]:
        errors(guard(expression))


def test_ten_thousand_lines_take_a_tenth_of_a_second():
    log = []
    for i in range(9960):
        log.append(
            "V1213 16:58:36.371000 1650 torch/fx/experimental/symbolic_shapes.py"
            f":8396] [0/0] eval Ne(u{i % 50}, {i}) [guard added] "
            "(/srv/app/net.py:3 in forward), for more info run with X\n"
            if i % 3 else
            '  File "/x/site-packages/torch/_dynamo/utils.py", line 3, in f\n'
            "    return fn(*args)\n")
    text = "".join(log) + guard("Eq(u0, 1)") + user("y = x.mean(0)")
    best = 1e9
    for _ in range(5):
        start = time.perf_counter()
        errors(text)
        best = min(best, time.perf_counter() - start)
    assert best < 1.0  # the machine may be busy; alone it takes 0.05
