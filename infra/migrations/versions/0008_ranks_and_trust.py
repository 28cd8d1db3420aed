"""Ranks with their uncertainty, attempts, receipts, the audit's chain, and the bounds of partial cells."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "seal",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("digests", sa.LargeBinary(), nullable=False),
        sa.Column("previous", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_seal")),
    )
    with op.batch_alter_table("seal", schema=None) as batch_op:
        batch_op.create_index("ix_seal_kind_owner", ["kind", "owner"], unique=False)

    op.create_table(
        "standing",
        sa.Column("board", sa.String(), nullable=False),
        sa.Column("samples_sha256", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("scenario", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("setting", sa.String(), nullable=False),
        sa.Column("clusters", sa.Integer(), nullable=False),
        sa.Column("bar", sa.Float(), nullable=False),
        sa.Column("sizes", sa.JSON(), nullable=False),
        sa.Column("rank", sa.JSON(), nullable=False),
        sa.Column("better", sa.JSON(), nullable=False),
        sa.Column("worse", sa.JSON(), nullable=False),
        sa.Column("above", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint(
            "board", "samples_sha256", "modality", "metric", "scenario", "task", "setting", name=op.f("pk_standing")
        ),
    )
    op.create_table(
        "roster",
        sa.Column("board", sa.String(), nullable=False),
        sa.Column("samples_sha256", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("n_samples", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("runs", sa.JSON(), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_roster_suite_suite")),
        sa.PrimaryKeyConstraint("board", "samples_sha256", "modality", name=op.f("pk_roster")),
    )
    op.create_table(
        "rank_change",
        sa.Column("board", sa.String(), nullable=False),
        sa.Column("board_before", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("run_before", sa.String(), nullable=False),
        sa.Column("rank_before", sa.Integer(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("value_before", sa.Float(), nullable=True),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_rank_change_submission_id_submission")
        ),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_rank_change_suite_suite")),
        sa.PrimaryKeyConstraint(
            "board", "board_before", "submission_id", "metric", "modality", name=op.f("pk_rank_change")
        ),
    )
    op.create_table(
        "hidden",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("scenario", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("setting", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("bank_sha256", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("n_scored", sa.Integer(), nullable=False),
        sa.Column("n_expected", sa.Integer(), nullable=False),
        sa.Column("gap", sa.Float(), nullable=True),
        sa.Column("gap_low", sa.Float(), nullable=True),
        sa.Column("gap_high", sa.Float(), nullable=True),
        sa.Column("gap_error", sa.Float(), nullable=True),
        sa.Column("marked", sa.Boolean(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_hidden_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "metric", "scenario", "task", "setting", "modality", name=op.f("pk_hidden")),
    )
    op.create_table(
        "noise",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("error", sa.Float(), nullable=False),
        sa.Column("outputs", sa.Integer(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_noise_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "metric", "source", name=op.f("pk_noise")),
    )
    op.create_table(
        "receipt",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_receipt_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_receipt")),
    )
    op.create_table(
        "rung",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("board", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("moves", sa.Boolean(), nullable=False),
        sa.Column("gain", sa.Float(), nullable=True),
        sa.Column("step", sa.Float(), nullable=True),
        sa.Column("stands", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_rung_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_rung")),
    )
    with op.batch_alter_table("rung", schema=None) as batch_op:
        batch_op.create_index("ix_rung_board_team", ["board", "team"], unique=False)

    op.create_table(
        "summary",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("board", sa.String(), nullable=False),
        sa.Column("samples_sha256", sa.String(), nullable=False),
        sa.Column("figures", sa.LargeBinary(), nullable=False),
        sa.Column("clusters", sa.LargeBinary(), nullable=False),
        sa.Column("influence", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_summary_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "modality", name=op.f("pk_summary")),
    )
    with op.batch_alter_table("summary", schema=None) as batch_op:
        batch_op.create_index(
            "ix_summary_board_samples_sha256_modality", ["board", "samples_sha256", "modality"], unique=False
        )

    with op.batch_alter_table("cell", schema=None) as batch_op:
        batch_op.add_column(sa.Column("if_worst", sa.Float(), nullable=True))
        batch_op.add_column(sa.Column("if_best", sa.Float(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("cell", schema=None) as batch_op:
        batch_op.drop_column("if_best")
        batch_op.drop_column("if_worst")

    with op.batch_alter_table("summary", schema=None) as batch_op:
        batch_op.drop_index("ix_summary_board_samples_sha256_modality")

    op.drop_table("summary")
    with op.batch_alter_table("rung", schema=None) as batch_op:
        batch_op.drop_index("ix_rung_board_team")

    op.drop_table("rung")
    op.drop_table("receipt")
    op.drop_table("noise")
    op.drop_table("hidden")
    op.drop_table("rank_change")
    op.drop_table("roster")
    op.drop_table("standing")
    with op.batch_alter_table("seal", schema=None) as batch_op:
        batch_op.drop_index("ix_seal_kind_owner")

    op.drop_table("seal")
