"""What a running model is given, and what becomes of what it returns."""

from interlace.runtime.scratch import session

__all__ = ["session"]
