"""The playground's command, in Node, beside the native one: the same answers.

    playground.py build/bin/proviso build-wasm/bin/proviso.js
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = ["--symbol", "s0 in [2, int_oo]", "--symbol", "n in [1, 4096]",
         "--symbol", "u0 in [0, int_oo]", "--symbol", "i in [0, 63]",
         "--assume", "s0 % 8 == 0", "--assume", "u0 < n"]
QUESTIONS = ["s0 % 4 == 0", "s0 % 16 == 0", "s0 < 2", "u0*s0 + s0 <= n*s0",
             "Eq((n + 7)//8*8 - n, 7)", "1//0 == 1", "n +", "u0 % i == 0",
             "2**(64*n) > 2**64", "Eq(s0*s0, 2*n*n)"]
EXPRESSIONS = ["(s0 + 7)//8*8", "(32*n + i)//64*64 + (32*n + i) % 64",
               "Max(i, 0) + Min(i, 64)", "s0//0"]


def commands():
    for question in QUESTIONS:
        yield ["prove", *SIZES, "--tiers", "native", "--json", question]
    for expression in EXPRESSIONS:
        yield ["simplify", *SIZES, "--tiers", "native", expression]
        yield ["bounds", *SIZES, "--tiers", "native", expression]


def without_times(lines):
    return [json.loads(line) | {"us": 0} if line.startswith("{") else line
            for line in lines]


def native(program, words):
    done = subprocess.run([program, *words], text=True, capture_output=True)
    return (done.stdout + done.stderr).splitlines(), done.returncode


def main(program, playground):
    words = list(commands())
    done = subprocess.run(
        ["node", ROOT / "docs/site/playground.js", playground,
         *map(json.dumps, words)], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(words), done.stdout + done.stderr
    wrong = 0
    for asked, answer in zip(words, answers):
        lines, status = native(program, asked)
        if (without_times(answer["out"]), answer["status"]) != (
                without_times(lines), status):
            wrong += 1
            print(f"{asked}: {answer} in the page, {lines} natively")
    print(f"playground: {len(words) - wrong} of {len(words)} answers as the "
          "command's")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
