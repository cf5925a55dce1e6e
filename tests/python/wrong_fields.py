"""Every field of a .pt2 file's JSON, with a value of each JSON type in its place,
through proviso.load: which reads the file, or says what is wrong with it in words
about the file.

    python tests/python/wrong_fields.py [--most=N] FILE.pt2...

--most: some N of the changes to each file, spread over all.  It prints what load
should have said better.
"""

import argparse
import io
import json
import pathlib
import random
import zipfile

import proviso

# Python's and PyTorch's own business.
INTERNALS = (
    "Traceback", "object has no attribute", "not subscriptable", "unhashable",
    "indices must be", "recursion depth", "KeyError", "_M_range_check",
    "INTERNAL ASSERT", "While executing", "alloc_cpu", "not iterable",
    "unexpected keyword", "Exceeds the limit", "std::")
LONGEST = 2000

VALUES = {"null": "null", "integer": "5", "string": '"x"', "list": "[]",
          "object": "{}", "true": "true", "half": "0.5",
          "5001 digits": "1" + "0" * 5000,
          "100000 deep": "[" * 100_000 + "]" * 100_000}
_HERE = "the value that is changed"


def _paths(value, path=()):
    yield path
    items = (value.items() if isinstance(value, dict)
             else enumerate(value) if isinstance(value, list) else ())
    for key, part in items:
        yield from _paths(part, (*path, key))


def _changed(document, path, text):
    if not path:
        return text
    copy = json.loads(json.dumps(document))
    part = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = _HERE
    return json.dumps(copy).replace(json.dumps(_HERE), text)


def changes(records):
    """(what is done, the name of a record, its new text)"""
    for name, data in records.items():
        if name.endswith(".json"):
            document = json.loads(data)
            for path in _paths(document):
                where = f"{name.partition('/')[2]}: {'.'.join(map(str, path))}"
                for kind, text in VALUES.items():
                    yield (f"{where} is {kind}", name,
                           lambda d=document, p=path, t=text:
                           _changed(d, p, t))


def records_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(records):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in records.items():
            archive.writestr(name, data)
    return made.getvalue()


def finding(data):
    """What is wrong with what load says of the file; None where nothing is."""
    try:
        proviso.load(io.BytesIO(data))
    except (proviso.Error, ValueError, RuntimeError, TypeError,
            IndexError) as error:
        text = str(error)
        ours = isinstance(error, (proviso.Error, ValueError))
        # Of an operator: the error that it has in eager.
        if not text.startswith("load: ") or not (ours or "(in node" in text):
            return f"{type(error).__name__}: {text[:300]}"
        if len(text) >= LONGEST:
            return f"{len(text)} characters: {text[:300]}"
        internals = [words for words in INTERNALS if words in text]
        return f"{internals}: {text[:300]}" if internals else None
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def findings(path, most=None):
    records = records_of(path)
    every = list(changes(records))
    if most and most < len(every):
        every = random.Random(0).sample(every, most)
    for what, name, text in every:
        found = finding(archive_of({**records, name: text()}))
        if found:
            yield f"{pathlib.Path(path).name}: {what}: {found}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    for path in args.files:
        for line in findings(path, args.most):
            print(line.replace("\n", " | "), flush=True)


if __name__ == "__main__":
    main()
