"""The door (teams, tokens, uploads, quotas) and curation (calls, drafts)."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "attempt",
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("window", sa.Integer(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("what", "window", name=op.f("pk_attempt")),
    )
    op.create_table(
        "curation_call",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("curation", sa.String(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("temperature", sa.Float(), nullable=True),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_curation_call")),
    )
    with op.batch_alter_table("curation_call", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_curation_call_curation"), ["curation"], unique=False)
    op.create_table(
        "team",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("contact", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_team")),
    )
    op.create_table(
        "draft",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=False),
        sa.Column("curation", sa.String(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("instance", sa.Integer(), nullable=True),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("edited", sa.JSON(), nullable=False),
        sa.Column("context", sa.JSON(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reviewer", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["call_id"], ["curation_call.id"], name=op.f("fk_draft_call_id_curation_call")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_draft")),
    )
    with op.batch_alter_table("draft", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_draft_call_id"), ["call_id"], unique=False)
        batch_op.create_index("ix_draft_curation_status", ["curation", "status"], unique=False)
        batch_op.create_index(batch_op.f("ix_draft_task_id"), ["task_id"], unique=False)
    op.create_table(
        "token",
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["team"], ["team.name"], name=op.f("fk_token_team_team")),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_token")),
    )
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_token_prefix"), ["prefix"], unique=False)
        batch_op.create_index(batch_op.f("ix_token_team"), ["team"], unique=False)
    op.create_table(
        "upload",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("request_sha256", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=True),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["team"], ["team.name"], name=op.f("fk_upload_team_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upload")),
        sa.UniqueConstraint("team", "idempotency_key", name=op.f("uq_upload_team_idempotency_key")),
    )
    with op.batch_alter_table("upload", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_upload_state"), ["state"], unique=False)
        batch_op.create_index(batch_op.f("ix_upload_team"), ["team"], unique=False)
    op.create_table(
        "quota_use",
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("returned_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_quota_use_submission_id_submission")
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_quota_use")),
    )
    with op.batch_alter_table("quota_use", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_quota_use_team"), ["team"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("quota_use", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_quota_use_team"))
    op.drop_table("quota_use")
    with op.batch_alter_table("upload", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_upload_team"))
        batch_op.drop_index(batch_op.f("ix_upload_state"))
    op.drop_table("upload")
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_token_team"))
        batch_op.drop_index(batch_op.f("ix_token_prefix"))
    op.drop_table("token")
    with op.batch_alter_table("draft", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_draft_task_id"))
        batch_op.drop_index("ix_draft_curation_status")
        batch_op.drop_index(batch_op.f("ix_draft_call_id"))
    op.drop_table("draft")
    op.drop_table("team")
    with op.batch_alter_table("curation_call", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_curation_call_curation"))
    op.drop_table("curation_call")
    op.drop_table("attempt")
