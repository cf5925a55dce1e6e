import pathlib
import sys
import warnings

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
warnings.filterwarnings("ignore", category=FutureWarning)

import proviso  # noqa: E402
import state_snapshot  # noqa: E402

# Whatever a test exports, and however that ends, leaves nothing behind.
proviso.export = state_snapshot.checked(proviso.export)


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """The programs of model_files.py, saved: their paths by their names."""
    import model_files

    paths = model_files.write(tmp_path_factory.mktemp("files"))
    return {path.stem: path for path in paths}


@pytest.fixture(scope="session")
def reader():
    """torch.export.load in another process."""
    from pt2_reader import Reader

    reader = Reader(["transformers.modeling_outputs"])
    yield reader
    reader.close()


@pytest.fixture
def round_trip(reader, tmp_path):
    """Saves a program and checks in another process that each case gives what
    eager gives; returns what the reader said."""
    import torch

    def check(program, eager, inputs, refused=()):
        path = tmp_path / "program.pt2"
        program.save(path)
        cases = []
        for args in inputs:
            with torch.no_grad():
                cases.append((args, {}, eager(*args)))
        cases += [(args, {}, "a bad size") for args in refused]
        answer = reader.check(path, cases, tmp_path / "cases.pt")
        assert "error" not in answer, answer["error"]
        assert answer["equal"] == [True] * len(cases), answer
        assert answer["decomposed"][:len(inputs)] == [True] * len(inputs), answer
        return answer

    return check
