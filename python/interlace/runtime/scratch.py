"""The shared scratch database of a worker."""

from interlace._later import later


def session():
    """A context manager on an in-memory DuckDB for work outside the warehouse."""
    raise later("runtime.scratch.session (the scratch database)")
