"""Where a .pt2 archive goes, and the extra files in it."""

import io
import os
import re
import tempfile
import zipfile

from proviso._errors import printable

_EXTRA = "extra"
_GUARD_PLACES = "proviso_guards.json"  # an extra file of our own


def _is_path(f):
    return isinstance(f, (str, os.PathLike))


def _check_extra(extra_files):
    for name, text in (extra_files or {}).items():
        if not isinstance(name, str) or not isinstance(text, (str, bytes)):
            raise TypeError(
                "save: extra_files maps names to text, got "
                f"{name!r}: {type(text)}")
        if isinstance(text, bytes) and not _is_utf8(text):
            raise ValueError(
                f"save: extra_files has {name!r}, whose bytes are no UTF-8; "
                "load() gives text: encode them (base64)")
        if name == _GUARD_PLACES:
            raise ValueError(
                f"save: extra_files has {name!r}, which is the archive's own; "
                "give another name")


def _is_utf8(data):
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        return False


def save(program, f, extra_files):
    """f: a path, or an object with write()."""
    from proviso import _vet

    _check_extra(extra_files)
    _vet.check_written(program.symbolic_texts())
    if _is_path(f):
        program.save(os.fspath(f))
        return _add(os.fspath(f), extra_files)
    if not hasattr(f, "write"):
        raise TypeError(
            "ExportedProgram.save: give a str, a Path, or a file opened for "
            f"writing bytes; got {type(f)}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.pt2")
        program.save(path)
        _add(path, extra_files)
        with open(path, "rb") as written:
            f.write(written.read())


def _add(path, extra_files):
    if not extra_files:
        return
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        root = archive.namelist()[0].split("/")[0]
        for name, text in extra_files.items():
            archive.writestr(f"{root}/{_EXTRA}/{name}", text)


def loads(data, looks_but_for=None):
    """The program in the bytes that save() wrote."""
    program = load(io.BytesIO(data), trusted=True)
    program._looks_but_for = looks_but_for
    return program


def load(f, extra_files=None, *, allow=(), trusted=False):
    """Reads what save() or torch.export.save wrote, from a path or a file
    object.  extra_files: {name: anything}; the values become the texts.

    A file computes, and does nothing else, unless you say so.  allow: names of
    operators that it may call though they do more ("aten.set_").  trusted: the
    file is your own, and may hold pickled objects too."""
    import torch

    from proviso import _proviso, _vet
    from proviso._torch_program import from_torch

    if not _is_path(f) and not hasattr(f, "read"):
        raise TypeError(
            "load: give a str, a Path, or a file opened for reading bytes; "
            f"got {type(f)}")
    if _is_path(f) and not os.path.exists(f):
        raise FileNotFoundError(f"load: there is no file {os.fspath(f)!r}")
    texts = dict.fromkeys(extra_files or {}, "")
    shown = repr(os.fspath(f)) if _is_path(f) else "the file"
    try:
        if trusted:
            program = _load_trusted(f, texts, shown)
        else:
            data = _contents(f)
            _vet.check_file(data, allow, shown)
            program = _load_pt2(io.BytesIO(data), texts, shown)
        places = texts.pop(_GUARD_PLACES, None)
        program = from_torch(
            program, places=places and _proviso.read_guard_places(places),
            looks_but_for=None if trusted else list(allow))
    except Exception as error:
        if str(error).startswith("load: "):
            raise
        raise _named(error, shown) from error
    if extra_files is not None:
        extra_files.update(texts)
    return program


def _contents(f):
    """Read once: what is looked at is what is loaded, whoever writes to the
    file meanwhile."""
    if not _is_path(f):
        return f.read()
    with open(f, "rb") as file:
        return file.read()


def _named(error, shown):
    """The same error with the name of the file."""
    if isinstance(error, zipfile.BadZipFile):
        return ValueError(f"load: {shown} is no .pt2 archive: {error}")
    kind = type(error)
    if kind.__module__.startswith("torch"):
        return _unread(error, shown)
    if isinstance(error, KeyError):
        return ValueError(f"load: {shown}: {_missing(error)}")
    if (kind.__module__.partition(".")[0] not in ("builtins", "proviso")
            or issubclass(kind, (OSError, UnicodeError))):
        return ValueError(f"load: {shown}: {kind.__name__}: {error}")
    said = printable(str(error))
    if "std::vector" in said:
        said = "an operator asks for more memory than there can be"
    made = kind(f"load: {shown}: {said}")
    made.__dict__.update(error.__dict__)
    return made


# The kinds of errors whose text speaks of Python's objects, not of the file.
_BY_ACCIDENT = (AssertionError, AttributeError, LookupError, RecursionError,
                TypeError)
_NODE = re.compile(r"Failed deserializing node Node\(target='([^']*)'")


def _first_line(error):
    line = str(error).strip().partition("\n")[0]
    node = _NODE.match(line)
    if node:
        return f"it fails at a node {node[1]}"
    return line if len(line) <= 200 else line[:200] + "..."


def _missing(error):
    """Of a KeyError, whose text is the key."""
    key = repr(error.args[0])[:200] if error.args else "something"
    return (f"it looks for {key}, which the file does not define; save the "
            "program again with torch.export.save or with ours")


def _unread(error, shown):
    """What PyTorch's loader says, in a line; the error that ours is raised from
    has its stack."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    words = [_missing(e) if isinstance(e, KeyError) else _first_line(e)
             for e in dict.fromkeys((error, cause))
             if isinstance(e, KeyError) or not isinstance(e, _BY_ACCIDENT)]
    said = ": ".join(filter(None, words))
    return ValueError(f"load: {shown}: PyTorch's loader does not read it: "
                      + (said or "it fails at something that it does not name"))


def _load_trusted(f, texts, shown):
    """Pickled objects too, and torch's older format, which has a version."""
    import torch

    with zipfile.ZipFile(f) as archive:
        is_old = "version" in archive.namelist()
    if not _is_path(f):
        f.seek(0)
    if not is_old:
        return _load_pt2(f, texts, shown)
    try:
        return torch.export.load(f, extra_files=texts)
    except Exception as error:
        raise _unread(error, shown) from error


def _load_pt2(f, texts, shown):
    """As torch.export.load, which would read a file that it cannot load once
    more, by another zip reader, as an older format."""
    from torch.export.pt2_archive._package import load_pt2

    try:
        contents = load_pt2(f)
    except Exception as error:
        raise _unread(error, shown) from error
    texts.update(contents.extra_files)
    programs = contents.exported_programs
    if "model" not in programs:
        raise ValueError(f"load: {shown}: none of its programs is called "
                         f"'model', they are {sorted(programs)}; save one with "
                         "PyTorch 2.13's torch.export.save or with ours")
    return programs["model"]
