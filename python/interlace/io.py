"""Readers of files and databases with bounded memory."""

from interlace._later import module_of_later

__getattr__ = module_of_later(__name__, "readers of files and databases")
