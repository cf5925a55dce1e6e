"""python -m proviso.db list|run [NAME...] [--tag TAG] [--json] [--cpp PATH]"""

import argparse
import json
import subprocess
import sys

from proviso import db


def _parser():
    parser = argparse.ArgumentParser(
        prog="proviso db", description="Programs that must export: list them, "
        "or export and run them beside eager.")
    parser.add_argument("action", choices=("list", "run"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--tag", help="only cases with this tag")
    parser.add_argument("--json", action="store_true",
                        help="the last line is one JSON object")
    parser.add_argument("--cpp", metavar="PROGRAM",
                        help="the program that holds the C++ cases")
    return parser


def _selected(options):
    cases = [db.get(name) for name in options.names] or db.all_cases()
    if options.tag is None:
        return cases
    tagged = {case.name for case in db.with_tag(options.tag)}
    return [case for case in cases if case.name in tagged]


def _cpp_results(program, names):
    """{name: {"ok": bool} or {"why_not": text}} of the C++ cases."""
    if program is None:
        return {}
    done = subprocess.run([program, "--json", *names], capture_output=True,
                          text=True)
    lines = done.stdout.splitlines()
    if not lines:
        sys.exit(f"proviso db: {program} failed: {done.stderr.strip()}")
    return json.loads(lines[-1])


def _list(cases):
    for case in cases:
        print(f"{case.name:<32} {' '.join(case.tags)}")


def _cpp_line(result):
    if "why_not" in result:
        return f"not in C++: {result['why_not']}"
    if result["ok"]:
        return "in C++ too: equal to eager"
    return f"in C++: {result['error']}"


def _summary(results, cpp):
    expressible = {n: r for n, r in cpp.items() if "why_not" not in r}
    return {"python_ok": sum(r.ok for r in results),
            "python_total": len(results),
            "cpp_ok": sum(r["ok"] for r in expressible.values()),
            "cpp_total": len(expressible)}


def _run(cases, options):
    cpp = _cpp_results(options.cpp, [case.name for case in cases])
    results = []
    for case in cases:
        results.append(db.run(case))
        print(results[-1].report())
        if case.name in cpp:
            print(_cpp_line(cpp[case.name]) + "\n")
    summary = _summary(results, cpp)
    print("Python {python_ok} of {python_total}, C++ {cpp_ok} of "
          "{cpp_total}".format(**summary))
    if options.json:
        summary["cases"] = [r.as_dict() for r in results]
        summary["cpp_cases"] = cpp
        print(json.dumps(summary))
    failed = (summary["python_ok"] != summary["python_total"]
              or summary["cpp_ok"] != summary["cpp_total"])
    return 1 if failed else 0


def main(argv=None):
    options = _parser().parse_args(argv)
    try:
        cases = _selected(options)
    except KeyError as error:
        print(f"proviso db: {error.args[0]}", file=sys.stderr)
        return 3
    if options.action == "run":
        return _run(cases, options)
    _list(cases)
    if options.json:
        print(json.dumps({"cases": [
            {"name": c.name, "tags": list(c.tags)} for c in cases]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
