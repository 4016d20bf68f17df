"""The canonical form of a function: its syntax tree, and those of everything of the project that it reaches by name.

From the function, each name that it loads is followed: to module-level functions, classes and constants of its own
file, and through imports to those of other files of the project, and so on. Installed packages end the walk: they
appear by name only. Code that finds names by itself (`exec`, `eval`, `importlib`, a bare module, a star import) takes
its whole file, and the files that this one imports.

The form is a list of numbered sections in the order in which they are first reached, each with where its names lead.
So file names and the order of a file do not show, and what is not reached does not either.
"""

import ast

from interlace.exceptions import DefinitionError
from interlace.fingerprint.scopes import uses
from interlace.fingerprint.serialize import serialize

FORMAT = "python-form 1"

_DYNAMIC_NAMES = frozenset(("exec", "eval", "__import__", "globals", "importlib", "runpy"))


class Reached:
    """The sections of one function. `nodes` are all syntax trees in them, with their files."""

    def __init__(self):
        self.text = ""
        self.nodes = []
        self.helpers = set()  # (name, file) of what was reached besides the function itself


class _Section:
    def __init__(self, file, label, nodes, enclosing=(), without=()):
        self.file = file
        self.label = label
        self.nodes = nodes
        self.enclosing = enclosing
        self.without = without


class _Walk:
    def __init__(self, files):
        self.files = files
        self.sections = []
        self.numbers = {}  # key → position in sections
        self.reached = Reached()

    def add(self, key, make):
        """The number of the section `key`, made at its first mention."""
        if key not in self.numbers:
            self.numbers[key] = len(self.sections)
            self.sections.append(make())
        return self.numbers[key]

    def add_name(self, file, name):
        """The section of a module-level name; None when the file does not bind it by a statement."""
        statements = file.statements.get(name)
        if not statements:
            return None
        self.reached.helpers.add((name, file.path))
        return self.add((file.path, name), lambda: _Section(file, name, statements))

    def add_file(self, file):
        """The section of a whole file."""
        self.reached.helpers.add(("*", file.path))
        return self.add((file.path, "*"), lambda: _Section(file, "*", [file.tree]))

    def run(self):
        """Writes out all sections; new ones are added meanwhile."""
        lines = [FORMAT]
        position = 0
        while position < len(self.sections):
            section = self.sections[position]
            label = section.label or "function"
            lines.append(f"{position} {label}")
            for node in section.nodes:
                lines.append("  " + self._form(section, node))
                self.reached.nodes.append((section.file, node))
            lines.extend(f"  {edge}" for edge in self._edges(section))
            position += 1
        self.reached.text = "\n".join(lines) + "\n"
        return self.reached

    def _form(self, section, node):
        """Its text; kept for module-level nodes, since many models may share a helper."""
        if section.label == "":
            return serialize(node, section.file.skipped, section.without)
        if id(node) not in section.file.forms:
            section.file.forms[id(node)] = serialize(node, section.file.skipped)
        return section.file.forms[id(node)]

    def _uses(self, section, node):
        if section.label == "":
            return uses(node, section.enclosing, section.file.skipped)
        if id(node) not in section.file.uses:
            section.file.uses[id(node)] = uses(node, (), section.file.skipped)
        return section.file.uses[id(node)]

    def _edges(self, section):
        edges = {}
        for node in section.nodes:
            for use in self._uses(section, node):
                dotted = ".".join((use.name, *use.attributes))
                if (dotted, use.imported) not in edges:
                    edges[dotted, use.imported] = self._targets(section.file, use)
        return [f"{dotted} -> {' '.join(targets)}" for (dotted, _), targets in edges.items() if targets]

    def _targets(self, file, use):
        """Where one use leads: numbers of sections, or the name of something outside the project."""
        if use.name in _DYNAMIC_NAMES and use.imported is None and use.name not in file.statements:
            return self._all_of(file)
        if use.imported is not None:
            return self._imported(file, use.imported, use.attributes)
        number = self.add_name(file, use.name)
        targets = [] if number is None else [str(number)]
        if use.name in file.imports:
            targets += self._imported(file, file.imports[use.name], use.attributes)
        if not targets:
            for star in file.stars:
                targets += self._imported(file, star, ())
        return targets

    def _imported(self, file, imported, attributes):
        if imported.module.split(".")[0] in _DYNAMIC_NAMES and not imported.level:
            return self._all_of(file)
        found = self.files.resolve(file, imported, list(attributes))
        if found is None:
            return [_outside_name(imported)]
        target, name = found
        if name is None:
            return self._all_of(target) if imported.attribute != "*" else [str(self.add_file(target))]
        number = self.add_name(target, name)
        if number is not None:
            return [str(number)]
        if name in target.imports:  # the file only passes the name on
            return self._imported(target, target.imports[name], ())
        return [str(self.add_file(target))]

    def _all_of(self, file):
        """The whole file and, since it may use all of them, the whole files that it imports."""
        is_new = (file.path, "*") not in self.numbers
        numbers = [str(self.add_file(file))]
        if is_new:
            for imported in [*file.imports.values(), *file.stars]:
                found = self.files.resolve(file, imported, [])
                if found is not None:
                    numbers += self._all_of(found[0])
        return numbers


def _outside_name(imported):
    name = imported.attribute or ""
    return f"{'.' * imported.level}{imported.module}:{name}"


def reach(fn_code, files):
    """The canonical form of the function with this code object. DefinitionError when its source cannot be had."""
    file = files.get(fn_code.co_filename)
    if file is None:
        raise DefinitionError(f"the source of '{fn_code.co_name}' cannot be read: it is not in a file of the project")
    walk = _Walk(files)
    for node, enclosing in file.find_function(fn_code):
        without = () if isinstance(node, ast.Lambda) else ("name",)
        walk.add(
            (file.path, node.lineno, node.col_offset),
            lambda node=node, enclosing=enclosing, without=without: _Section(file, "", [node], enclosing, without),
        )
    return walk.run()


def reach_name(file, name, files):
    """The canonical form of one name at the top of a file; of the whole file when `name` is None."""
    walk = _Walk(files)
    if name is None or walk.add_name(file, name) is None:
        walk.add_file(file)
    return walk.run()
