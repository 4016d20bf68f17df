#!/usr/bin/env python3
"""Makes a C file of a folder, so that the program needs no files of its own.

    embed_files.py SYMBOL FOLDER OUTPUT_C DEPFILE [LEFT_OUT...]

Every file below FOLDER becomes one row {"quickstart/interlace.yaml", bytes, size} of SYMBOL (see
src/cli/embedded_files.h), sorted by path; sub-folders named LEFT_OUT are skipped. DEPFILE names all files and folders
that were read.
"""

import pathlib
import sys

BYTES_A_LINE = 20


def is_embedded(path, root, left_out):
    folders = path.relative_to(root).parts
    return path.is_file() and path.suffix != ".pyc" and not {"__pycache__", *left_out} & set(folders)


def bytes_text(content):
    numbers = [f"{byte if byte < 128 else byte - 256}," for byte in content] or ["0,"]
    lines = ("".join(numbers[at : at + BYTES_A_LINE]) for at in range(0, len(numbers), BYTES_A_LINE))
    return "\n    ".join(lines)


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    symbol, folder, output, depfile, *left_out = sys.argv[1:]
    root = pathlib.Path(folder)
    files = sorted((path for path in root.rglob("*") if is_embedded(path, root, left_out)), key=pathlib.Path.as_posix)
    parts = ['/* Made by embed_files.py. */\n#include "cli/embedded_files.h"\n']
    rows = []
    for index, path in enumerate(files):
        content = path.read_bytes()
        parts.append(f"\nstatic const char content_{index}[] = {{\n    {bytes_text(content)}\n}};\n")
        rows.append(f'    {{"{path.relative_to(root).as_posix()}", content_{index}, {len(content)}}},\n')
    parts.append("\nstatic const EmbeddedFile files[] = {\n" + "".join(rows) + "};\n")
    parts.append(f"const EmbeddedFolder {symbol} = {{files, {len(files)}}};\n")
    pathlib.Path(output).write_text("".join(parts), encoding="utf-8")

    folders = [path for path in root.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    names = " ".join(str(path).replace(" ", "\\ ") for path in [root, *folders, *files])
    pathlib.Path(depfile).write_text(f"{output}: {names}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
