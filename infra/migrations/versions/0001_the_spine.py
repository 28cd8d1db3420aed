"""The spine: suites, submissions, runs, verdicts, scores, cells, events."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    with op.batch_alter_table("event", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_event_subject"), ["subject"], unique=False)
    op.create_table(
        "judge",
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_judge")),
    )
    op.create_table(
        "shard",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("inputs_sha256", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "stage", "inputs_sha256", name=op.f("pk_shard")),
    )
    op.create_table(
        "suite",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("scorer_version", sa.String(), nullable=False),
        sa.Column("items_sha256", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("paper", sa.Text(), nullable=False),
        sa.Column("ranked", sa.Text(), nullable=False),
        sa.Column("facet_titles", sa.JSON(), nullable=False),
        sa.Column("subsets", sa.JSON(), nullable=False),
        sa.Column("accepts", sa.JSON(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_suite")),
    )
    op.create_table(
        "metric",
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("worst", sa.Float(), nullable=False),
        sa.Column("best", sa.Float(), nullable=False),
        sa.Column("explain", sa.Text(), nullable=False),
        sa.Column("headline", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_metric_suite_suite")),
        sa.PrimaryKeyConstraint("suite", "name", name=op.f("pk_metric")),
    )
    op.create_table(
        "reply",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("media_sha256", sa.String(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["judge"], ["judge.fingerprint"], name=op.f("fk_reply_judge_judge")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reply")),
    )
    with op.batch_alter_table("reply", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reply_media_sha256"), ["media_sha256"], unique=False)
    op.create_table(
        "sample",
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("scenario", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("setting", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("cluster", sa.String(), nullable=False),
        sa.Column("request_sha256", sa.String(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("questions", sa.JSON(), nullable=False),
        sa.Column("subsets", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_sample_suite_suite")),
        sa.PrimaryKeyConstraint("suite", "version", "id", name=op.f("pk_sample")),
    )
    op.create_table(
        "submission",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("organisation", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("suite_version", sa.String(), nullable=False),
        sa.Column("subset", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("trust", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("bundle_sha256", sa.String(), nullable=False),
        sa.Column("contents_sha256", sa.String(), nullable=False),
        sa.Column("fault", sa.String(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_submission_suite_suite")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
    )
    with op.batch_alter_table("submission", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_submission_contents_sha256"), ["contents_sha256"], unique=False)
        batch_op.create_index(batch_op.f("ix_submission_state"), ["state"], unique=False)
        batch_op.create_index(batch_op.f("ix_submission_suite"), ["suite"], unique=False)
    op.create_table(
        "output",
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("sample_id", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("media_sha256", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_output_submission_id_submission")),
        sa.PrimaryKeyConstraint("submission_id", "sample_id", name=op.f("pk_output")),
    )
    with op.batch_alter_table("output", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_output_media_sha256"), ["media_sha256"], unique=False)
    op.create_table(
        "run",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("board", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("suite_version", sa.String(), nullable=False),
        sa.Column("scorer_version", sa.String(), nullable=False),
        sa.Column("subset", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("eligible", sa.Boolean(), nullable=False),
        sa.Column("why_not", sa.Text(), nullable=False),
        sa.Column("n_scored", sa.Integer(), nullable=True),
        sa.Column("n_expected", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["judge"], ["judge.fingerprint"], name=op.f("fk_run_judge_judge")),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_run_submission_id_submission")),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_run_suite_suite")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.create_index("ix_run_board_state", ["board", "state"], unique=False)
        batch_op.create_index(batch_op.f("ix_run_submission_id"), ["submission_id"], unique=False)
    op.create_table(
        "verdict",
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("media_sha256", sa.String(), nullable=False),
        sa.Column("question_sha256", sa.String(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("reply_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["judge"], ["judge.fingerprint"], name=op.f("fk_verdict_judge_judge")),
        sa.ForeignKeyConstraint(["reply_id"], ["reply.id"], name=op.f("fk_verdict_reply_id_reply")),
        sa.PrimaryKeyConstraint("judge", "media_sha256", "question_sha256", "repeat", name=op.f("pk_verdict")),
    )
    op.create_table(
        "cell",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("scenario", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("setting", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("spread", sa.Float(), nullable=True),
        sa.Column("n_scored", sa.Integer(), nullable=True),
        sa.Column("n_expected", sa.Integer(), nullable=True),
        sa.Column("why_empty", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_cell_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "metric", "scenario", "task", "setting", "modality", name=op.f("pk_cell")),
    )
    op.create_table(
        "score",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("sample_id", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_score_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "sample_id", "metric", name=op.f("pk_score")),
    )


def downgrade() -> None:
    op.drop_table("score")
    op.drop_table("cell")
    op.drop_table("verdict")
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_run_submission_id"))
        batch_op.drop_index("ix_run_board_state")
    op.drop_table("run")
    with op.batch_alter_table("output", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_output_media_sha256"))
    op.drop_table("output")
    with op.batch_alter_table("submission", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_submission_suite"))
        batch_op.drop_index(batch_op.f("ix_submission_state"))
        batch_op.drop_index(batch_op.f("ix_submission_contents_sha256"))
    op.drop_table("submission")
    op.drop_table("sample")
    with op.batch_alter_table("reply", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_reply_media_sha256"))
    op.drop_table("reply")
    op.drop_table("metric")
    op.drop_table("suite")
    op.drop_table("shard")
    op.drop_table("judge")
    with op.batch_alter_table("event", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_event_subject"))
    op.drop_table("event")
