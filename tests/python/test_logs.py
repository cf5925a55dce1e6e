"""Events, logs, shapelogs and explanations of guards."""

import json
import os
import pathlib
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
    assert record["file"].endswith("test_logs.py") and record["line"] == 18
    assert record["code"] == "return z.view(-1, 2, 4)"
    with pytest.raises(ValueError, match="was not added"):
        proviso.remove_log_callback(seen.append)
    with pytest.raises(TypeError, match="expected a function"):
        proviso.add_log_callback(3)


def test_a_recorded_trace_is_replayed(tmp_path):
    command = pathlib.Path(proviso.__file__).parents[2] / "bin" / "proviso"
    if not command.exists():
        pytest.skip("the command is not built")
    in_a_process("export()", PROVISO_SHAPELOG=str(tmp_path / "logs"))
    path, = (tmp_path / "logs").iterdir()
    assert path.name.endswith("-program.shapelog")
    assert path.read_text() == export().shapelog()
    done = subprocess.run([command, "replay", "--json", path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    total = json.loads(done.stdout.splitlines()[-1])
    assert total["wrong"] == 0 and total["asks"] > 3, total


def test_a_guard_is_explained():
    ep = export()
    equal, even = ep.guards
    text = proviso.explain_guard(ep, even)
    assert text == (
        "Eq(Mod(s0, 2), 0), that is x.size()[0] % 2 == 0\n"
        f"  needed at {__file__}:18 in `return z.view(-1, 2, 4)`\n"
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
