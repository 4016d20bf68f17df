"""A project file as source: its syntax tree, what its module-level statements bind, and what it imports."""

import ast
import importlib.util
import os
import sys

from interlace.discovery.places import is_project_file
from interlace.exceptions import DefinitionError
from interlace.fingerprint.scopes import import_bindings

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DECLARING = frozenset(("model", "check", "stream"))


class SourceFile:
    """One file, read once."""

    def __init__(self, path, content):
        self.path = path  # absolute
        self.text = importlib.util.decode_source(content)
        self.tree = ast.parse(self.text)
        self.statements = {}  # name → the module-level statements that bind or change it, in order
        self.imports = {}  # name → Import
        self.stars = []  # Imports of `from m import *`
        self._functions = None  # (name, first line) → [(node, the functions around it)]
        self.forms, self.uses = {}, {}  # of module-level nodes, by id: see reach.py
        for statement in self.tree.body:
            self._note(statement)
        self.skipped = self._declaring_decorators()

    def _note(self, statement):
        names = set()
        for node in _module_level(statement):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._note_import(node)
            else:
                names.update(_changed_names(node))
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            for name in names:
                self.statements.setdefault(name, []).append(statement)

    def _note_import(self, node):
        for name, imported in import_bindings(node):
            if name == "*":
                self.stars.append(imported)
            else:
                self.imports[name] = imported

    def _declaring_decorators(self):
        """Ids of the `@model(…)` decorators: their keys are hashed as configuration, or not at all, by the core."""
        return frozenset(
            id(decorator)
            for node in ast.walk(self.tree)
            for decorator in getattr(node, "decorator_list", ())
            if self.is_interlace(decorator.func if isinstance(decorator, ast.Call) else decorator, _DECLARING)
        )

    def is_interlace(self, node, names):
        """True when `node` stands for one of the names of the package, however it was imported."""
        attributes = []
        while isinstance(node, ast.Attribute):
            attributes.insert(0, node.attr)
            node = node.value
        imported = self.imports.get(node.id) if isinstance(node, ast.Name) else None
        if imported is None or imported.level or imported.module.split(".")[0] != "interlace":
            return False
        last = attributes[-1] if attributes else imported.attribute
        return last in names

    def find_function(self, code):
        """[(node, the functions around it)] of the function with this code object. Several lambdas of one line cannot
        be told apart: all of them. DefinitionError when there is none."""
        if self._functions is None:
            self._functions = {}
            _collect_functions(self.tree, (), self._functions)
        found = self._functions.get((code.co_name, code.co_firstlineno))
        if found is None:
            raise DefinitionError(f"the source of '{code.co_name}' cannot be found in {os.path.basename(self.path)}")
        return found

    def segment(self, node):
        """The text of `node` as it is written, decorators included."""
        first = min([node.lineno] + [decorator.lineno for decorator in getattr(node, "decorator_list", ())])
        return "\n".join(self.text.split("\n")[first - 1 : node.end_lineno])


class SourceFiles:
    """The files of a project as they were read, and where an import leads to."""

    def __init__(self, root):
        self.root = root
        self._files = {}

    def get(self, path):
        """The file at an absolute path inside the project; None when it lies elsewhere or is no source."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path):
        if not is_project_file(path, self.root):
            return None
        try:
            with open(path, "rb") as file:
                return SourceFile(path, file.read())
        except (OSError, SyntaxError, UnicodeError, ValueError):
            return None

    def resolve(self, importer, imported, attributes):
        """Where a use of an import leads: (file, name), (file, None) for a whole file, None for what is not of the
        project. `attributes` follow the imported name in the text."""
        chain = [part for part in imported.module.split(".") if part]
        chain += [imported.attribute] if imported.attribute not in (None, "*") else []
        chain += attributes
        for folder in self._search_folders(importer, imported):
            found = self._walk(folder, chain)
            if found is not None:
                return found
        return None

    def _search_folders(self, importer, imported):
        """The file's own folder is first on the path while it is imported, the root is last."""
        own = os.path.dirname(importer.path)
        if imported.level == 0:
            is_standard = imported.module.split(".")[0] in sys.stdlib_module_names
            return (own,) if is_standard else (own, self.root)
        for _ in range(imported.level - 1):
            own = os.path.dirname(own)
        return (own,)

    def _walk(self, folder, chain):
        """Follows a dotted chain through folders into the longest module, then one name in it."""
        place, found = folder, None
        for index, part in enumerate(chain):
            place = os.path.join(place, part)
            module = self.get(place + ".py") or self.get(os.path.join(place, "__init__.py"))
            if module is not None:
                found = (module, index)
            elif not os.path.isdir(place):
                break
        if found is None:
            return None
        module, index = found
        return (module, chain[index + 1] if index + 1 < len(chain) else None)


def _module_level(statement):
    """The statement and what is nested in it, without the bodies of functions and classes."""
    yield statement
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return
    for child in ast.iter_child_nodes(statement):
        yield from _module_level(child)


def _changed_names(node):
    """Names that a node binds (`x = …`) or changes in place (`x[k] = …`, `x.append(…)`)."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        yield from _root_name(node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _root_name(node.value.func)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    elif type(node).__name__ == "TypeAlias":
        yield node.name.id


def _root_name(node):
    is_inner = False
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node, is_inner = node.value, True
    if is_inner and isinstance(node, ast.Name):
        yield node.id


def _collect_functions(node, enclosing, functions):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            functions.setdefault(_code_key(child), []).append((child, enclosing))
            _collect_functions(child, (*enclosing, child), functions)
        else:
            _collect_functions(child, enclosing, functions)


def _code_key(node):
    """Name and first line, as the function's code object has them."""
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    return node.name, min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
