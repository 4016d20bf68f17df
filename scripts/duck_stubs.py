#!/usr/bin/env python3
"""Makes the lazy stubs of the DuckDB C API, so that a command that needs no engine does not load its library.

    duck_stubs.py HEADER LIBRARY STUBS_S SYMBOLS_H

For every duckdb_* function that HEADER declares and LIBRARY exports there is one stub, `jmp *table[i]`. An entry of the
table starts at a slow path that calls interlace_duck_load(i), which fills the whole table (duck_library.c); the call is
then carried out. Code includes duckdb.h and calls as usual. A function that the library lacks does not link.
x86-64, System V ABI.
"""

import re
import subprocess
import sys


def declared_functions(header_path):
    with open(header_path, encoding="utf-8") as header:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header.read(), flags=re.DOTALL)
    return set(re.findall(r"\b(duckdb_\w+)\s*\(", text))


def exported_functions(library_path):
    lines = subprocess.run(
        ["nm", "--dynamic", "--defined-only", library_path], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return {fields[2].split("@")[0] for fields in map(str.split, lines) if len(fields) == 3 and fields[1] in "TW"}


STUB = """\
    .globl {name}
    .hidden {name}
    .type {name}, @function
    .p2align 4
{name}:
    .cfi_startproc
    jmp *interlace_duck_table+{offset}(%rip)
    .cfi_endproc
    .size {name}, . - {name}
"""

SLOW_ENTRY = """\
.Lslow_{index}:
    pushq ${index}
    jmp .Lslow
"""

# At .Lslow the stack holds the index and, above it, the return address of the real call, so it is aligned to 16 bytes.
# All registers that may carry arguments are kept: six integers, rax (variadic calls), xmm0-7.
SLOW_PATH = """\
    .p2align 4
.Lslow:
    .cfi_startproc
    .cfi_def_cfa_offset 16
    pushq %rbp
    .cfi_def_cfa_offset 24
    .cfi_offset %rbp, -24
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    pushq %rax
    subq $128, %rsp
    movups %xmm0, 0(%rsp)
    movups %xmm1, 16(%rsp)
    movups %xmm2, 32(%rsp)
    movups %xmm3, 48(%rsp)
    movups %xmm4, 64(%rsp)
    movups %xmm5, 80(%rsp)
    movups %xmm6, 96(%rsp)
    movups %xmm7, 112(%rsp)
    movq 8(%rbp), %rdi
    call interlace_duck_load
    movq %rax, %r11
    movups 0(%rsp), %xmm0
    movups 16(%rsp), %xmm1
    movups 32(%rsp), %xmm2
    movups 48(%rsp), %xmm3
    movups 64(%rsp), %xmm4
    movups 80(%rsp), %xmm5
    movups 96(%rsp), %xmm6
    movups 112(%rsp), %xmm7
    addq $128, %rsp
    popq %rax
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    popq %rbp
    .cfi_def_cfa %rsp, 16
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    jmp *%r11
    .cfi_endproc
"""


def stubs_text(names):
    parts = ["/* Made by duck_stubs.py. */\n    .text\n"]
    parts += [STUB.format(name=name, offset=8 * index) for index, name in enumerate(names)]
    parts += [SLOW_ENTRY.format(index=index) for index in range(len(names))]
    parts += [SLOW_PATH]
    parts += ["    .data\n    .globl interlace_duck_table\n    .hidden interlace_duck_table\n"]
    parts += ["    .p2align 4\ninterlace_duck_table:\n"]
    parts += [f"    .quad .Lslow_{index}\n" for index in range(len(names))]
    parts += ['    .section .note.GNU-stack,"",@progbits\n']
    return "".join(parts)


def symbols_text(names):
    return (
        "/* Made by duck_stubs.py: the functions of the stub table, in its order. */\n"
        f"#define DUCK_SYMBOL_COUNT {len(names)}\n"
        "static const char *const duck_symbol_names[DUCK_SYMBOL_COUNT] = {\n"
        + "".join(f'    "{name}",\n' for name in names)
        + "};\n"
    )


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    header_path, library_path, stubs_path, symbols_path = sys.argv[1:]
    names = sorted(declared_functions(header_path) & exported_functions(library_path))
    if "duckdb_query" not in names:
        sys.exit(f"duck_stubs.py: {library_path} does not export the DuckDB C API that {header_path} declares")
    with open(stubs_path, "w", encoding="utf-8") as stubs:
        stubs.write(stubs_text(names))
    with open(symbols_path, "w", encoding="utf-8") as symbols:
        symbols.write(symbols_text(names))


if __name__ == "__main__":
    main()
