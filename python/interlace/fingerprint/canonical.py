"""The two texts that stand for a Python model in its fingerprint: the canonical form of its code, and its captured
values. Both are the same for the same code on every machine and under every supported Python."""

import functools
import inspect

from interlace.exceptions import DefinitionError
from interlace.fingerprint.captured import captured
from interlace.fingerprint.reach import reach, reach_name
from interlace.fingerprint.source_file import SourceFiles


class Identity:
    """What is known of one function: `canonical`, `captured`, its `source`, and the `helpers` it reaches."""

    def __init__(self, canonical, captured_text, source, helpers):
        self.canonical = canonical
        self.captured = captured_text
        self.source = source
        self.helpers = helpers  # sorted (name, absolute path)


class Identifier:
    """Identifies functions of one project; keeps the files it has read."""

    def __init__(self, root):
        self.files = SourceFiles(root)

    def identify(self, fn, environment=()):
        """The Identity of a model's function. DefinitionError when its source cannot be had."""
        function, bound = plain_function(fn)
        reached = reach(function.__code__, self.files)
        text = captured(function, reached, self, environment, bound)
        return Identity(reached.text, text, self._source(function), sorted(reached.helpers))

    def function_form(self, fn):
        """The canonical form of a captured function; None when it is not of the project."""
        try:
            return reach(fn.__code__, self.files).text
        except DefinitionError:
            return None

    def module_form(self, module):
        """The canonical form of a captured module; None when it is not of the project."""
        file = self.files.get(getattr(module, "__file__", None) or "")
        return reach_name(file, None, self.files).text if file is not None else None

    def class_form(self, cls):
        """The canonical form of a captured class with methods; None when it is not at the top of a project file."""
        method = next((value for value in vars(cls).values() if inspect.isfunction(value)), None)
        file = self.files.get(method.__code__.co_filename) if method is not None else None
        if file is None or cls.__qualname__ not in file.statements:
            return None
        return reach_name(file, cls.__qualname__, self.files).text

    def node(self, fn):
        """The syntax tree of a function of the project; None for others, and for a lambda that has a twin."""
        file = self.files.get(fn.__code__.co_filename)
        found = file.find_function(fn.__code__) if file is not None else []
        return found[0][0] if len(found) == 1 else None

    def _source(self, function):
        file = self.files.get(function.__code__.co_filename)
        return "\n".join(file.segment(node) for node, _ in file.find_function(function.__code__))


def plain_function(fn):
    """The Python function behind decorators that name what they wrap, and behind functools.partial, with the values
    that the partial binds."""
    bound = []
    fn = inspect.unwrap(fn)
    while isinstance(fn, functools.partial):
        bound.append((fn.args, fn.keywords))
        fn = inspect.unwrap(fn.func)
    function = getattr(fn, "__func__", fn)
    if not inspect.isfunction(function):
        raise DefinitionError(f"a {type(fn).__name__} has no source to tell its versions apart: give a function")
    return function, bound
