"""Unpacks the package that the core brings as a zip: from a folder Python takes compiled files and starts faster."""

import os


def unpack_beside(zip_path):
    """Makes the folder beside the zip, named like it without `.zip`. Whoever comes second leaves it as it is."""
    import shutil
    import tempfile
    import zipfile

    target = zip_path[: -len(".zip")]
    if os.path.isdir(target):
        return
    folder = tempfile.mkdtemp(dir=os.path.dirname(zip_path))
    try:
        with zipfile.ZipFile(zip_path) as archive:
            archive.extractall(folder)
        os.rename(folder, target)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)  # the zip serves as well


def package_zip():
    """The zip that this package was imported from; None when it was a folder."""
    import interlace

    archive = getattr(interlace.__loader__, "archive", None)
    return archive if archive and archive.endswith(".zip") else None
