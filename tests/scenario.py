"""The shared scenario of spec 02 §6: one target, built from FIRST; then its source becomes SECOND."""

P0 = "2026-07-02T08:30:00"
P = "2026-07-02T12:00:00"
FIRST = (
    "(1,'a',TIMESTAMP '2026-07-02 08:00'), (2,'b',TIMESTAMP '2026-07-02 08:00'), (3,'c',TIMESTAMP '2026-07-02 08:00')"
)
SECOND = (
    "(1,'A',TIMESTAMP '2026-07-02 09:15'), (2,'b',TIMESTAMP '2026-07-02 08:00'), (4,'d',TIMESTAMP '2026-07-02 09:40')"
)
# First of the rows: the engine closes the gaps that deleted rows leave before others.
NINE = "(9,'z',TIMESTAMP '2026-07-01 08:00'), "
NINE_CHANGED = "(9,'ZZ',TIMESTAMP '2026-07-01 08:00'), "
WINDOW = ("--start", "2026-07-02", "--end", "2026-07-03")
HASH_OF_A = "c86712ff194a2814e6b1b447d678b103"


def set_source(project, rows, columns="id, v, ts"):
    project.load(f"CREATE OR REPLACE TABLE items AS SELECT * FROM (VALUES {rows}) t({columns})")
