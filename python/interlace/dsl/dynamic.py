"""Models that a model declares while it runs. The core builds them in the same apply and keeps those with a query."""

import re

from interlace._later import later
from interlace.exceptions import DefinitionError, PlanError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_SIZE_MAX = 8 << 20  # of all queries of one run: they travel in one frame


class RunDeclarations:
    """The models that one run declared, in order. One that is declared again takes the place of the former."""

    def __init__(self, path, may_register):
        self.path = path
        self.may_register = may_register
        self.models = {}
        self.size = 0

    def add(self, definition):
        """DefinitionError when a model of that kind cannot be declared by a running one."""
        if not self.may_register:
            raise later(f"{definition.what}: registering a model while another one runs")
        if not _NAME.fullmatch(definition.name):
            raise DefinitionError(
                f"{definition.what}: the name of a model that is registered while another one runs is made of letters, "
                "digits and _, in parts with dots between them",
                code="dynamic.name",
            )
        if definition.sql is None:
            raise DefinitionError(
                f"{definition.what}: a running model can register queries alone, not functions",
                code="dynamic.function",
                hint="give `sql`, or declare the function where its file is imported",
            )
        self.size += len(definition.sql)
        if self.size > _SIZE_MAX:
            raise PlanError(f"{definition.what}: a run may register queries of at most {_SIZE_MAX >> 20} MiB together")
        self.models[definition.name] = definition

    def entries(self):
        """As in a manifest."""
        return [
            {"name": model.name, "file": self.path, "line": model.line, "sql": model.sql, **model.keys}
            for model in self.models.values()
        ]
