"""PostgreSQL keeps bytes, tokens and counts in 64 bits, as SQLite does: an upload may have two gibibytes and more."""

from alembic import op

revision = "0016"
down_revision = "0015"

WIDE = {
    "attempt": ("window", "count"),
    "cell": ("n_scored", "n_expected"),
    "curation_call": ("tokens_in", "tokens_out"),
    "drift": ("outputs", "questions"),
    "hidden": ("n_scored", "n_expected"),
    "night": ("submissions", "stale", "recomputed", "failed", "judge_calls", "moved", "alarms"),
    "noise": ("outputs", "times"),
    "output": ("size",),
    "place": ("ours", "papers"),
    "reply": ("tokens_in", "tokens_out"),
    "roster": ("n_samples", "version"),
    "run": ("n_scored", "n_expected"),
    "seal": ("seq", "rows"),
    "shard": ("items",),
    "standing": ("clusters",),
    "study": ("seed",),
    "upload": ("size",),
}


def upgrade() -> None:
    _alter("BIGINT")


def downgrade() -> None:
    _alter("INTEGER")


def _alter(kind: str) -> None:
    """One statement a table: PostgreSQL writes a table anew for each."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for table, columns in WIDE.items():
        changes = ", ".join(f'ALTER COLUMN "{column}" TYPE {kind}' for column in columns)
        op.execute(f'ALTER TABLE "{table}" {changes}')
