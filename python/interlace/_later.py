"""Names that exist already, but whose feature is not part of this version: using one gives one clear error."""

from interlace.exceptions import PlanError


def later(feature):
    """The error to raise for `feature`."""
    return PlanError(f"{feature}: not part of this version of interlace yet", code="feature.later")


def module_of_later(module, feature):
    """A module-level `__getattr__` under which every public name of the module raises the error."""

    def getattr_of_module(name):
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise later(f"{module}.{name} ({feature})")

    return getattr_of_module
