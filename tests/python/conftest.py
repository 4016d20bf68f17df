"""Unit tests of the Python package, which is taken from the source tree."""

import pathlib
import sys

import pytest
from api_server import Server

PACKAGE_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE_FOLDER))


class Project:
    """A project folder in which models are written, loaded and identified."""

    def __init__(self, root):
        self.root = root

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def load(self, path="models/m.py"):
        from interlace.discovery.loading import load_file

        loaded = load_file(path, str(self.root))
        if loaded.failure is not None:
            raise loaded.failure
        return loaded

    def identify(self, path="models/m.py", model=None):
        """The Identity of a model of a file: the last one, or the one of that name."""
        from interlace.fingerprint.canonical import Identifier

        found = [entry for entry in self.load(path).models if model in (None, entry.name)][-1]
        return Identifier(str(self.root)).identify(found.fn, found.keys.get("env") or ())

    def canonical(self, text, **files):
        """The canonical form of the last model of `text`; further files by name without `.py`."""
        for name, content in files.items():
            self.write(f"models/{name}.py", content)
        self.write("models/m.py", "from interlace import model\n" + text)
        return self.identify().canonical

    def captured(self, text):
        self.write("models/m.py", "from interlace import model\n" + text)
        return self.identify().captured


@pytest.fixture
def project(tmp_path):
    from interlace import _variables

    _variables.set_values({})
    return Project(tmp_path)


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()


@pytest.fixture
def other():
    made = Server()
    yield made
    made.close()
