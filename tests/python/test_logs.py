"""Events, logs, shapelogs and explanations of guards."""

import contextlib
import json
import math
import os
import pathlib
import pty
import subprocess
import sys

import pytest
import torch

import proviso
from proviso import Dim


def program(x, y):
    z = x + y
    return z.view(-1, 2, 4)


ARGS = torch.ones(6, 4), torch.ones(6, 4)
AUTO = ({0: Dim.AUTO}, {0: Dim.AUTO})


def export():
    return proviso.export(program, ARGS, dynamic_shapes=AUTO)


def in_a_process(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c",
         "import torch, proviso\nfrom proviso import Dim\n"
         "def program(x, y):\n    return (x + y).view(-1, 2, 4)\n"
         "def export():\n    return proviso.export(program, (torch.ones(6, 4), "
         "torch.ones(6, 4)), dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))\n"
         + code],
        env={**os.environ, **environment}, capture_output=True, text=True,
        check=True)
    return done.stderr


def test_the_log_has_the_tutorials_lines():
    text = in_a_process("export()", PROVISO_LOGS="dynamic")
    for line in ("create_symbol s0 = 6 for L['x'].size()[0] [2, int_oo]",
                 "eval Eq(s0, s1) [guard added] at <string>:4",
                 "set_replacement s1 = s0 (solve) VR[2, int_oo]",
                 "eval Eq(Mod(s0, 2), 0) [guard added] at <string>:4"):
        assert line in text, text
    assert "\033" not in text  # no colour: stderr is no terminal


def test_logs_are_switched_at_run_time():
    text = in_a_process("export()\nproviso.set_logs(dynamic=True)\nexport()\n"
                        "proviso.set_logs(dynamic=False)\nexport()")
    assert text.count("create_symbol s0 ") == 1


def test_the_stack_where_a_guard_arises():
    text = in_a_process("export()", PROVISO_LOGS_GUARD="Eq(s0, s1)")
    assert text.count("[proviso] ") == 1
    assert 'File "<string>", line 4, in program' in text
    assert 'File "<string>", line 6, in export' in text


def test_callbacks_get_events_for_machines():
    seen = []
    proviso.add_log_callback(seen.append)
    try:
        ep = export()
    finally:
        proviso.remove_log_callback(seen.append)
    export()
    assert seen == ep.events
    record, = [json.loads(e.to_json()) for e in seen
               if e.subject == "Eq(Mod(s0, 2), 0)"]
    assert record["event"] == "eval"
    assert record["file"].endswith("test_logs.py") and record["line"] == 21
    assert record["code"] == "return z.view(-1, 2, 4)"
    with pytest.raises(ValueError, match="was not added"):
        proviso.remove_log_callback(seen.append)
    with pytest.raises(TypeError, match="expected a function"):
        proviso.add_log_callback(3)


def on_a_terminal(**environment):
    """What a trace prints where stderr is a terminal."""
    ours, theirs = pty.openpty()
    code = ("import torch, proviso\nproviso.export(lambda x: x.view(-1, 2), "
            "(torch.ones(6),), dynamic_shapes=({0: proviso.Dim.AUTO},))")
    clean = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    subprocess.run([sys.executable, "-c", code], check=True, stderr=theirs,
                   env={**clean, "PROVISO_LOGS": "dynamic", **environment})
    os.close(theirs)
    text = b""
    with contextlib.suppress(OSError):  # the terminal is gone: its end
        while part := os.read(ours, 4096):
            text += part
    os.close(ours)
    return text.decode()


def test_a_terminal_gets_colour_unless_told_not_to():
    text = on_a_terminal()
    assert "[proviso] \033[32mcreate_symbol\033[0m s0 = 6" in text
    assert "[proviso] \033[33meval\033[0m Eq(Mod(s0, 2), 0)" in text
    text = on_a_terminal(NO_COLOR="1")
    assert "[proviso] create_symbol s0 = 6" in text and "\033" not in text


def branches(x, y):
    a = x[:5] if x.shape[0] > 7 else x[y.shape[0] // 2:]
    a = a * 2 if x.shape[0] <= 8 and x.shape[0] * 2 >= 6 else a
    b = torch.cat([y, y]).reshape(-1, 2)
    return a, b if x.shape[0] * y.shape[0] <= 40 else b + 1


def splits(x, y):
    parts = x.split(x.shape[0] // 2 + 1)
    return parts[0], y.unfold(0, 3, 2), torch.sym_max(x.shape[0], 4)


def counts(x, y):
    found = x.nonzero()
    torch._check(found.shape[0] >= 2)
    rest = y.reshape(-1).masked_select(y.reshape(-1) > 0)
    return found[1:], rest.unsqueeze(0).expand(2, -1)


def numbers(x, y):
    u = y.sum().to(torch.int64).item()
    torch._check(u >= 3)
    torch._check(u <= x.shape[0] * 9)
    return x.new_zeros(u), x * (u // 2), math.floor(u / 3)


@pytest.mark.parametrize("traced", [branches, splits, counts, numbers])
def test_a_recorded_trace_is_replayed(tmp_path, traced):
    """`proviso replay` answers every question as the trace did."""
    command = pathlib.Path(proviso.__file__).parents[2] / "bin" / "proviso"
    assert command.exists(), "the command is not built (./dev build makes it)"
    ep = proviso.export(traced, ARGS, dynamic_shapes=AUTO)
    path = tmp_path / "trace.shapelog"
    path.write_text(ep.shapelog())
    asked = [line.split(" ; ")[1] for line in path.read_text().splitlines()
             if line.startswith("ask ")]
    decided = sum(truth != "truth hard" for truth in asked)
    assert decided >= 2
    done = subprocess.run([command, "replay", "--json", path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    total = json.loads(done.stdout.splitlines()[-1])
    assert total["asks"] == len(asked)
    assert (total["decidable"], total["decided"], total["wrong"]) == (
        decided, decided, 0), done.stdout


def test_a_replay_notices_a_changed_answer(tmp_path):
    command = pathlib.Path(proviso.__file__).parents[2] / "bin" / "proviso"
    ep = proviso.export(branches, ARGS, dynamic_shapes=AUTO)
    log = ep.shapelog()
    assert "truth valid" in log
    path = tmp_path / "changed.shapelog"
    path.write_text(log.replace("truth valid", "truth refuted", 1))
    done = subprocess.run([command, "replay", path], capture_output=True)
    assert done.returncode == 1


def test_a_trace_is_recorded_where_the_environment_says(tmp_path):
    in_a_process("export()", PROVISO_SHAPELOG=str(tmp_path / "logs"))
    path, = (tmp_path / "logs").iterdir()
    assert path.name.endswith("-program.shapelog")
    assert path.read_text() == export().shapelog()


def test_a_guard_is_explained():
    ep = export()
    equal, even = ep.guards
    text = proviso.explain_guard(ep, even)
    assert text == (
        "Eq(Mod(s0, 2), 0), that is x.size()[0] % 2 == 0\n"
        f"  needed at {__file__}:21 in `return z.view(-1, 2, 4)`\n"
        "  holds for the example: x.size()[0] = 6\n"
        "  fails for instance for: x.size()[0] = 1")
    assert proviso.explain_guard(ep, "Eq(s0, s1)").startswith("Eq(s0, s1), ")
    with pytest.raises(ValueError, match="no guard Eq\\(s0, 7\\)"):
        proviso.explain_guard(ep, "Eq(s0, 7)")


def test_a_guard_has_every_line_that_needs_it():
    def lines(x):
        a = x.view(-1, 2, 4)
        b = x.view(2, -1)
        c = x.view(-1, 2, 2, 2)
        return a, b, c if x.shape[0] % 2 == 0 else b

    ep = proviso.export(lines, (torch.ones(6, 4),),
                        dynamic_shapes=({0: Dim.AUTO},))
    guard, = ep.guards
    assert guard.condition == "Eq(Mod(s0, 2), 0)"
    assert [o.code for o in guard.origins] == [
        "a = x.view(-1, 2, 4)", "c = x.view(-1, 2, 2, 2)",
        "return a, b, c if x.shape[0] % 2 == 0 else b"]
