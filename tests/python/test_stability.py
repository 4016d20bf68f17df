"""The canonical form is the same under all supported Pythons, and stays as it is."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE_FOLDER = HERE.parents[1] / "python"
CORPUS = HERE / "forms_corpus.txt"

# A change of the form moves the fingerprints of all Python models: then FORMAT in fingerprint/reach.py changes too, and
# recorded snapshots are keyed anew.
EXPECTED = "8af2c414a2334816023988600991c14e77fdca6c9cbee3d14e14e8cbff4c86e9"


def other_interpreters():
    names = [f"python3.{minor}" for minor in range(10, 16)]
    found = [path for path in map(shutil.which, names) if path and "shims" not in path]
    home = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    return found + sorted(glob.glob(f"{home}/versions/3.1[0-9].*/bin/python"))


def digests(python, files, **environment):
    command = [python, str(HERE / "print_forms.py"), str(PACKAGE_FOLDER), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return done.stdout.split()


def test_the_form_has_not_changed():
    assert digests(sys.executable, [CORPUS]) == [EXPECTED]


def test_the_form_does_not_depend_on_hashes():
    assert digests(sys.executable, [CORPUS], PYTHONHASHSEED="1") == digests(
        sys.executable, [CORPUS], PYTHONHASHSEED="2"
    )


@pytest.mark.skipif(not other_interpreters(), reason="no other interpreter is installed")
def test_the_form_is_equal_under_all_supported_pythons():
    files = [CORPUS, *sorted(PACKAGE_FOLDER.rglob("*.py"))]
    expected = digests(sys.executable, files)
    for python in other_interpreters():
        assert digests(python, files) == expected, python
