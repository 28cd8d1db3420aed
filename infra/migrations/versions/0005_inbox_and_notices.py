"""The inbox in S3 (drops) and who was told what (notices)."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "drop",
        sa.Column("uri", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=True),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("uri", "version", name=op.f("pk_drop")),
    )
    op.create_index(op.f("ix_drop_team"), "drop", ["team"])
    op.create_table(
        "notice",
        sa.Column("event_id", sa.Integer(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["event.id"], name=op.f("fk_notice_event_id_event")),
        sa.PrimaryKeyConstraint("event_id", "channel", name=op.f("pk_notice")),
    )


def downgrade() -> None:
    op.drop_table("notice")
    op.drop_index(op.f("ix_drop_team"), table_name="drop")
    op.drop_table("drop")
