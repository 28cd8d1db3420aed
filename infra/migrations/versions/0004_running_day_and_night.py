"""Running day and night: leases, nights, changes, drift, frozen boards."""

import sqlalchemy as sa
from alembic import op


revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "lease",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("flow_run_id", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("acquired_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_lease")),
    )
    with op.batch_alter_table("lease", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_lease_flow_run_id"), ["flow_run_id"], unique=False)
        batch_op.create_index("ix_lease_state_expires_at", ["state", "expires_at"], unique=False)

    op.create_table(
        "night",
        sa.Column("night", sa.Date(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("submissions", sa.Integer(), nullable=False),
        sa.Column("stale", sa.Integer(), nullable=False),
        sa.Column("recomputed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("judge_calls", sa.Integer(), nullable=False),
        sa.Column("moved", sa.Integer(), nullable=False),
        sa.Column("alarms", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("night", name=op.f("pk_night")),
    )
    op.create_table(
        "set_aside",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("sample_id", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "stage", "sample_id", name=op.f("pk_set_aside")),
    )
    op.create_table(
        "drift",
        sa.Column("night", sa.Date(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("outputs", sa.Integer(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("agreement", sa.Float(), nullable=True),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("kappa", sa.Float(), nullable=True),
        sa.Column("bound", sa.Float(), nullable=True),
        sa.Column("alarm", sa.Boolean(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["judge"], ["judge.fingerprint"], name=op.f("fk_drift_judge_judge")),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_drift_suite_suite")),
        sa.PrimaryKeyConstraint("night", "suite", "judge", "what", name=op.f("pk_drift")),
    )
    op.create_table(
        "freeze",
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("lifted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lifted_by", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["judge"], ["judge.fingerprint"], name=op.f("fk_freeze_judge_judge")),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_freeze_suite_suite")),
        sa.PrimaryKeyConstraint("suite", "judge", name=op.f("pk_freeze")),
    )
    op.create_table(
        "anchor",
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("media_sha256", sa.String(), nullable=False),
        sa.Column("sample_id", sa.String(), nullable=False),
        sa.Column("question_id", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["judge"], ["judge.fingerprint"], name=op.f("fk_anchor_judge_judge")),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_anchor_submission_id_submission")),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_anchor_suite_suite")),
        sa.PrimaryKeyConstraint("suite", "judge", "media_sha256", "sample_id", "question_id", name=op.f("pk_anchor")),
    )
    op.create_table(
        "change",
        sa.Column("night", sa.Date(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("scenario", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("setting", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("board", sa.String(), nullable=False),
        sa.Column("run_before", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("before", sa.Float(), nullable=True),
        sa.Column("after", sa.Float(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_change_run_id_run")),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_change_submission_id_submission")),
        sa.PrimaryKeyConstraint(
            "night", "run_id", "metric", "scenario", "task", "setting", "modality", name=op.f("pk_change")
        ),
    )
    with op.batch_alter_table("change", schema=None) as batch_op:
        batch_op.create_index("ix_change_night_suite", ["night", "suite"], unique=False)
        batch_op.create_index(batch_op.f("ix_change_submission_id"), ["submission_id"], unique=False)

    op.create_table(
        "run_mark",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("judge_setting", sa.String(), nullable=False),
        sa.Column("items_sha256", sa.String(), nullable=False),
        sa.Column("code_sha256", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_mark_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_mark")),
    )


def downgrade() -> None:
    op.drop_table("run_mark")
    with op.batch_alter_table("change", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_change_submission_id"))
        batch_op.drop_index("ix_change_night_suite")

    op.drop_table("change")
    op.drop_table("anchor")
    op.drop_table("freeze")
    op.drop_table("drift")
    op.drop_table("set_aside")
    op.drop_table("night")
    with op.batch_alter_table("lease", schema=None) as batch_op:
        batch_op.drop_index("ix_lease_state_expires_at")
        batch_op.drop_index(batch_op.f("ix_lease_flow_run_id"))

    op.drop_table("lease")
