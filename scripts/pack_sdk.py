#!/usr/bin/env python3
"""Packs the Python package into a zip that is built into the binary.

    pack_sdk.py SOURCE_FOLDER ZIP STUB_S HEADER DEPFILE

The zip depends on names and contents only, so that two builds of one source are the same. DEPFILE names all files and
folders that were read, so that a changed, new or removed file packs again. A missing source folder gives an empty zip.
"""

import pathlib
import sys
import zipfile

FIRST_ZIP_TIME = (1980, 1, 1, 0, 0, 0)

STUB = """\
/* Made by pack_sdk.py. */
    .section .rodata
    .globl interlace_sdk_zip
    .globl interlace_sdk_zip_size
    .hidden interlace_sdk_zip
    .hidden interlace_sdk_zip_size
    .p2align 4
interlace_sdk_zip:
    .incbin "{zip_path}"
.Lend:
    .p2align 3
interlace_sdk_zip_size:
    .quad .Lend - interlace_sdk_zip
    .section .note.GNU-stack,"",@progbits
"""

HEADER = """\
/* The Python package `interlace`, as a zip that can stand on sys.path. Made by pack_sdk.py. */
#ifndef INTERLACE_PYTHON_SDK_ZIP_H
#define INTERLACE_PYTHON_SDK_ZIP_H

#include <stddef.h>

extern const unsigned char interlace_sdk_zip[];
extern const size_t interlace_sdk_zip_size;

#endif
"""


def is_packed(path):
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    zip_path, stub_path, header_path, depfile_path = sys.argv[2:]
    entries = sorted(source.rglob("*")) if source.is_dir() else []
    files = [path for path in entries if is_packed(path)]
    folders = [path for path in entries if path.is_dir() and path.name != "__pycache__"]

    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(source.parent).as_posix(), FIRST_ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())

    pathlib.Path(stub_path).write_text(STUB.format(zip_path=zip_path), encoding="utf-8")
    pathlib.Path(header_path).write_text(HEADER, encoding="utf-8")
    read = [source, *folders, *files] if source.is_dir() else []
    names = " ".join(str(path).replace(" ", "\\ ") for path in read)
    pathlib.Path(depfile_path).write_text(f"{zip_path}: {names}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
