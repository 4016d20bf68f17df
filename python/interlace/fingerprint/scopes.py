"""Which names of its module a piece of code uses: those that it does not bind itself.

Own resolution of scopes, since the standard library's tables of symbols differ between versions of Python.
"""

import ast


class Import:
    """What an import statement binds: a module, or one name of it."""

    def __init__(self, module, level=0, attribute=None):
        self.module = module  # dotted, without leading dots
        self.level = level  # number of leading dots
        self.attribute = attribute  # None: the module itself


class Use:
    """One use of a name: `h.rate` is name `h` with attributes ("rate",)."""

    def __init__(self, name, attributes=(), imported=None):
        self.name = name
        self.attributes = attributes
        self.imported = imported  # the Import that bound it inside the code; None: a name of the module


def import_bindings(statement):
    """Names that an Import or ImportFrom statement binds, with what they stand for; `*` for a star."""
    if isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            yield alias.asname or alias.name, Import(statement.module or "", statement.level, alias.name)
        return
    for alias in statement.names:
        if alias.asname:
            yield alias.asname, Import(alias.name)
        else:
            yield alias.name.split(".")[0], Import(alias.name.split(".")[0])


def uses(node, enclosing=(), skipped=frozenset()):
    """The uses in `node` of names that neither it nor the functions around it (`enclosing`, outermost first) bind, in
    the order of the text. Nodes whose id is in `skipped` are passed over."""
    finder = _UseFinder(skipped)
    for function in enclosing:
        finder.scopes.append(_function_scope(function))
    finder.visit(node)
    return finder.found


class _Scope:
    """Names bound in one function, class body or comprehension; a name bound by an import has its Import."""

    def __init__(self, is_class=False):
        self.bound = {}
        self.globals, self.nonlocals = set(), set()  # declared so
        self.is_class = is_class

    def bind(self, name, imported=None):
        if name and name not in self.globals and name not in self.nonlocals:
            self.bound[name] = imported or self.bound.get(name)


class _Binder(ast.NodeVisitor):
    """Collects what the statements of one scope bind, without going into the scopes within."""

    def __init__(self, scope):
        self.scope = scope

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.scope.bind(node.id)

    def visit_FunctionDef(self, node):
        self.scope.bind(node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node):
        pass

    def visit_Import(self, node):
        for name, imported in import_bindings(node):
            self.scope.bind(name, imported)

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node):
        self.scope.bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node):
        self.scope.bind(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node):
        self.scope.bind(node.rest)
        self.generic_visit(node)

    def visit_ListComp(self, node):
        """Binds nothing here but what `:=` binds inside it."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.scope.bind(inner.target.id)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp


class _OuterNames(ast.NodeVisitor):
    """Names that one scope declares global or nonlocal."""

    def __init__(self, scope):
        self.scope = scope

    def visit_Global(self, node):
        self.scope.globals.update(node.names)

    def visit_Nonlocal(self, node):
        self.scope.nonlocals.update(node.names)

    def visit_FunctionDef(self, node):
        pass

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef


def _body_scope(statements, is_class=False):
    scope = _Scope(is_class)
    for visitor in (_OuterNames(scope), _Binder(scope)):
        for statement in statements:
            visitor.visit(statement)
    return scope


def _function_scope(function):
    scope = _body_scope(function.body if isinstance(function.body, list) else [function.body])
    arguments = function.args
    for argument in _all_arguments(arguments):
        scope.bind(argument.arg)
    return scope


def _all_arguments(arguments):
    starred = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return arguments.posonlyargs + arguments.args + arguments.kwonlyargs + starred


class _UseFinder(ast.NodeVisitor):
    """Walks code in the order of its text with the stack of scopes around it."""

    def __init__(self, skipped):
        self.skipped = skipped
        self.scopes = []
        self.found = []

    def visit(self, node):
        if id(node) not in self.skipped:
            super().visit(node)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self._use(node.id)

    def visit_Attribute(self, node):
        """`a.b.c` is one use of `a`; attributes of anything else are only looked into."""
        attributes, value = [node.attr], node.value
        while isinstance(value, ast.Attribute):
            attributes.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name):
            self._use(value.id, tuple(reversed(attributes)))
        else:
            self.visit(value)

    def visit_AugAssign(self, node):
        """`x += 1` reads what it binds."""
        if isinstance(node.target, ast.Name):
            self._use(node.target.id)
        self.generic_visit(node)

    def visit_Import(self, node):
        """An import that is not used by name may be there for its effect."""
        for name, imported in import_bindings(node):
            if name == "*" or not self.scopes:
                self.found.append(Use(name, (), imported))

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node):
        self._visit_all(node.decorator_list)
        self._visit_signature(node.args)
        self._visit_within(_function_scope(node), node.body, node, (node.returns,))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self._visit_signature(node.args)
        self._visit_within(_function_scope(node), [node.body], node)

    def visit_ClassDef(self, node):
        self._visit_all(node.decorator_list + node.bases + [keyword.value for keyword in node.keywords])
        self._visit_within(_body_scope(node.body, is_class=True), node.body, node)

    def visit_ListComp(self, node):
        """The first iterable is evaluated outside; all else within."""
        self.visit(node.generators[0].iter)
        scope = _Scope()
        binder = _Binder(scope)
        for generator in node.generators:
            binder.visit(generator.target)
        results = [getattr(node, field) for field in ("key", "value", "elt") if hasattr(node, field)]
        inner = [part for generator in node.generators for part in (generator.target, *generator.ifs)]
        iterables = [generator.iter for generator in node.generators[1:]]
        self._visit_within(scope, iterables + inner + results, node)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def _visit_signature(self, arguments):
        self._visit_all(arguments.defaults + [default for default in arguments.kw_defaults if default is not None])
        self._visit_all([argument.annotation for argument in _all_arguments(arguments)])

    def _visit_within(self, scope, nodes, owner, outside=()):
        parameters = getattr(owner, "type_params", None) or []
        for parameter in parameters:
            scope.bind(parameter.name)
        self._visit_all(outside)
        self.scopes.append(scope)
        self._visit_all(parameters)
        self._visit_all(nodes)
        self.scopes.pop()

    def _visit_all(self, nodes):
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _use(self, name, attributes=()):
        for position, scope in enumerate(reversed(self.scopes)):
            if name in scope.globals:
                break
            if name in scope.nonlocals or (scope.is_class and position > 0):
                continue
            if name in scope.bound:
                imported = scope.bound[name]
                if imported is not None:
                    self.found.append(Use(name, attributes, imported))
                return
        self.found.append(Use(name, attributes))
