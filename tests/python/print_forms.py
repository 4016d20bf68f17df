"""Prints a digest of the canonical form of each file given. Run by test_stability.py under different interpreters."""

import hashlib
import sys

sys.path.insert(0, sys.argv[1])
sys.setrecursionlimit(20_000)

from interlace.fingerprint.scopes import uses  # noqa: E402
from interlace.fingerprint.serialize import serialize  # noqa: E402
from interlace.fingerprint.source_file import SourceFile  # noqa: E402

for name in sys.argv[2:]:
    with open(name, "rb") as file:
        source = SourceFile(name, file.read())
    digest = hashlib.sha256(serialize(source.tree, source.skipped).encode())
    for statement in source.tree.body:
        digest.update(repr([(use.name, use.attributes) for use in uses(statement)]).encode())
    print(digest.hexdigest())
