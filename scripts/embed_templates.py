#!/usr/bin/env python3
"""Makes a C file of the project templates, so that `interlace init` needs no files of its own.

    embed_templates.py TEMPLATES_FOLDER OUTPUT_C DEPFILE

Every file below TEMPLATES_FOLDER becomes one row {"quickstart/interlace.yaml", bytes, size} of embedded_files (see
src/cli/embedded_files.h), sorted by path. DEPFILE names all files and folders that were read.
"""

import pathlib
import sys

BYTES_A_LINE = 20


def is_embedded(path):
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"


def bytes_text(content):
    numbers = [f"{byte}," for byte in content] or ["0,"]
    lines = ("".join(numbers[at : at + BYTES_A_LINE]) for at in range(0, len(numbers), BYTES_A_LINE))
    return "\n    ".join(lines)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    files = sorted((path for path in root.rglob("*") if is_embedded(path)), key=lambda path: path.as_posix())
    parts = ['/* Made by embed_templates.py. */\n#include "cli/embedded_files.h"\n']
    rows = []
    for index, path in enumerate(files):
        content = path.read_bytes()
        parts.append(f"\nstatic const char content_{index}[] = {{\n    {bytes_text(content)}\n}};\n")
        rows.append(f'    {{"{path.relative_to(root).as_posix()}", content_{index}, {len(content)}}},\n')
        if any(byte > 127 for byte in content):
            sys.exit(f"embed_templates.py: {path.name}: templates are plain ASCII")
    parts.append("\nconst EmbeddedFile embedded_files[] = {\n" + "".join(rows) + "};\n")
    parts.append(f"const size_t embedded_file_count = {len(files)};\n")
    pathlib.Path(sys.argv[2]).write_text("".join(parts), encoding="utf-8")

    folders = [path for path in root.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    names = " ".join(str(path).replace(" ", "\\ ") for path in [root, *folders, *files])
    pathlib.Path(sys.argv[3]).write_text(f"{sys.argv[2]}: {names}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
