"""Helpers for testing models."""

from interlace._later import module_of_later

__getattr__ = module_of_later(__name__, "test helpers")
