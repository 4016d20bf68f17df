"""Version of the package and of the protocol it speaks with the core. The two change independently."""

__version__ = "0.1.0"

PROTOCOL = 1
