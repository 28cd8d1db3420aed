"""What the board keeps at publication: where figures are, so that no page counts cells; what entries declare."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

KEY = "metric, scenario, task, setting, modality"


def upgrade() -> None:
    op.create_table(
        "place",
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("scenario", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("setting", sa.String(), nullable=False),
        sa.Column("modality", sa.String(), nullable=False),
        sa.Column("ours", sa.Integer(), nullable=False),
        sa.Column("papers", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_place_suite_suite")),
        sa.PrimaryKeyConstraint(
            "suite", "metric", "scenario", "task", "setting", "modality", name=op.f("pk_place")
        ),
    )
    op.execute(
        f"INSERT INTO place (suite, {KEY}, ours, papers) "
        f"SELECT run.suite, {KEY}, SUM(CASE WHEN submission.trust = 'C' THEN 0 ELSE 1 END), "
        "SUM(CASE WHEN submission.trust = 'C' THEN 1 ELSE 0 END) FROM cell JOIN run ON run.id = cell.run_id "
        "JOIN submission ON submission.id = run.submission_id "
        f"WHERE run.state = 'published' AND cell.value IS NOT NULL GROUP BY run.suite, {KEY}"
    )
    op.create_table(
        "declared",
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("weights", sa.String(), nullable=False),
        sa.Column("licence", sa.String(), nullable=False),
        sa.Column("parameters", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_declared_submission_id_submission")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_declared")),
    )
    found = op.get_bind().execute(sa.text("SELECT id, manifest FROM submission WHERE trust <> 'C'"))
    for submission, manifest in list(found):
        model = (json.loads(manifest) if isinstance(manifest, str) else manifest).get("model", {})
        weights = {True: "open", False: "closed"}.get(model.get("open_weights"), "")
        row = {"id": submission, "weights": weights, "licence": str(model.get("licence") or "")}
        text = "INSERT INTO declared VALUES (:id, :weights, :licence, :parameters)"
        op.get_bind().execute(sa.text(text), {**row, "parameters": model.get("parameters")})


def downgrade() -> None:
    op.drop_table("declared")
    op.drop_table("place")
