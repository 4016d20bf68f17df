"""Ways to read rows that come once: as they are, by some columns, through a query, as a data frame."""

from interlace.exceptions import DefinitionError

_ROWS_OF_A_BATCH = 1 << 14


class Rows:
    """Base of a handle. Whoever extends it gives `name`, `schema` and `reader`; all else reads through that."""

    name = ""

    @property
    def schema(self):
        """The pyarrow schema; to be asked before the rows are read."""
        raise NotImplementedError

    def reader(self):
        """A pyarrow.RecordBatchReader over all rows."""
        raise NotImplementedError

    def table(self):
        """All rows as one pyarrow.Table."""
        return self.reader().read_all()

    def pandas(self):
        """All rows as a pandas.DataFrame."""
        return self.table().to_pandas()

    def polars(self):
        """All rows as a polars.DataFrame."""
        import polars

        return polars.from_arrow(self.table())

    def duckdb(self):
        """The rows as a relation of the duckdb package, in the scratch database; it can be run once."""
        from interlace.runtime.scratch import connect

        return connect().from_arrow(self.reader())

    def __arrow_c_stream__(self, requested_schema=None):
        """For libraries that take Arrow streams."""
        return self.reader().__arrow_c_stream__(requested_schema)

    def select(self, *columns):
        """Only these columns, in this order."""
        return Columns(self, flattened(columns))

    def where(self, predicate):
        """Only the rows for which a predicate of DuckDB's SQL holds."""
        return Query(self, f"SELECT * FROM this WHERE {predicate}")

    def sql(self, query):
        """What a query of DuckDB's SQL gives over the rows, which it calls `this`."""
        return Query(self, query)


def flattened(columns):
    """The names, each given by itself or in a list."""
    return [name for item in columns for name in ([item] if isinstance(item, str) else item)]


class Derived(Rows):
    """Rows made of those of `source`, which are read with them."""

    def __init__(self, source):
        self.name = source.name
        self._source = source
        self._reader = None
        self._is_read = False

    def __repr__(self):
        return f"<rows of {self._source!r}>"

    @property
    def schema(self):
        self._refuse_second_use("their schema")
        return self._opened().schema

    def reader(self):
        self._refuse_second_use("they")
        self._is_read = True
        return self._opened()

    def _opened(self):
        if self._reader is None:
            self._reader = self._open()
        return self._reader

    def _open(self):
        raise NotImplementedError

    def _refuse_second_use(self, what):
        if self._is_read:
            raise DefinitionError(
                f"these rows of upstream '{self.name}' have been read already: {what} cannot be had a second time",
                code="handle.second_read",
                hint="keep what the first read gave, for example `rows = handle.table()`",
            )


class Columns(Derived):
    def __init__(self, source, names):
        super().__init__(source)
        self._names = names

    def _open(self):
        import pyarrow

        schema = self._source.schema
        for name in self._names:
            if name not in schema.names:
                raise DefinitionError(
                    f"upstream '{self.name}' has no column '{name}'; it has {', '.join(schema.names)}",
                    code="handle.column",
                )
        chosen = pyarrow.schema([schema.field(name) for name in self._names])
        batches = (batch.select(self._names) for batch in self._source.reader())
        return pyarrow.RecordBatchReader.from_batches(chosen, batches)


class Query(Derived):
    def __init__(self, source, query):
        super().__init__(source)
        self._query = query

    def _open(self):
        from interlace.runtime.scratch import connect

        connection = connect()
        connection.register("this", self._source.reader())
        return connection.execute(self._query).to_arrow_reader(_ROWS_OF_A_BATCH)
