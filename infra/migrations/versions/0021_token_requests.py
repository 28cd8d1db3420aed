"""Requests for a token, which an operator confirms on the page."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "token_request",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("code_sha256", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("contact", sa.String(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token_request")),
    )
    op.create_index(op.f("ix_token_request_state"), "token_request", ["state"])


def downgrade() -> None:
    op.drop_index(op.f("ix_token_request_state"), table_name="token_request")
    op.drop_table("token_request")
