"""People's review of a bank that is in use: tasks, readings, faults and what was settled."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op

from infra.tables.columns import UtcTime

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.create_table(
        "bank_task",
        *_texts("id", "suite", "version", "task"),
        sa.Column("people", sa.JSON(), nullable=False),
        sa.Column("opened_at", UtcTime(), nullable=False),
        *_texts("closed_by"),
        sa.Column("closed_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_bank_task_suite_suite")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bank_task")),
    )
    op.create_index(op.f("ix_bank_task_suite"), "bank_task", ["suite"])
    op.create_table(
        "bank_reading",
        *_texts("review"),
        sa.Column("slot", sa.Integer(), nullable=False),
        *_texts("reader"),
        sa.Column("begun_at", UtcTime(), nullable=False),
        sa.Column("read_at", UtcTime(), nullable=True),
        _of_a_task("bank_reading"),
        sa.PrimaryKeyConstraint("review", "slot", name=op.f("pk_bank_reading")),
        sa.UniqueConstraint("review", "reader", name=op.f("uq_bank_reading_review_reader")),
    )
    op.create_table(
        "bank_fault",
        *_texts("review", "reader", "item", "question", "category"),
        *_words_and_time(),
        _of_a_task("bank_fault"),
        sa.PrimaryKeyConstraint(
            *("review", "reader", "item", "question", "category"), name=op.f("pk_bank_fault")
        ),
    )
    op.create_table(
        "bank_settlement",
        *_texts("review", "item", "question", "category", "settler", "decision"),
        *_words_and_time(),
        _of_a_task("bank_settlement"),
        sa.PrimaryKeyConstraint(
            *("review", "item", "question", "category"), name=op.f("pk_bank_settlement")
        ),
    )


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String(), nullable=False) for name in names]


def _words_and_time() -> tuple[sa.Column[str], sa.Column[str], sa.Column[datetime]]:
    return (
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
    )


def _of_a_task(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_review_bank_task")
    return sa.ForeignKeyConstraint(["review"], ["bank_task.id"], name=name)


def downgrade() -> None:
    for table in ("bank_settlement", "bank_fault", "bank_reading"):
        op.drop_table(table)
    op.drop_index(op.f("ix_bank_task_suite"), table_name="bank_task")
    op.drop_table("bank_task")
