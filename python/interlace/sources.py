"""REST client for pulling from HTTP APIs."""

from interlace._later import module_of_later

__getattr__ = module_of_later(__name__, "the REST client")
