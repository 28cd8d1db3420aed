"""Exams of judges and the verdict of each board; boards that stand already are not examined."""

import sqlalchemy as sa
from alembic import op

from infra.tables.columns import WIDE, UtcTime

revision = "0018"
down_revision = "0017"

FIGURES = (
    *("answer_rate", "agreement", "agreement_low", "agreement_high", "chance"),
    *("kappa", "kappa_low", "kappa_high", "yes_bias", "yes_bias_low", "yes_bias_high"),
    *("in_order", "in_order_low", "in_order_high"),
)
EXAMINED = ("tailor", "liva")
REASON = "The judge has sat no exam."


def upgrade() -> None:
    op.create_table(
        "judge_exam",
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("judge", "suite", "version", "items_sha256", "sitting")
        ),
        sa.Column("night", sa.Date(), nullable=True),
        sa.Column("at", UtcTime(), nullable=False),
        *(sa.Column(name, WIDE, nullable=False) for name in ("n", "n_answered", "n_pairs")),
        *(sa.Column(name, sa.Float(), nullable=True) for name in FIGURES),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judge"], ["judge.fingerprint"], name=op.f("fk_judge_exam_judge_judge")
        ),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_judge_exam_suite_suite")),
        sa.PrimaryKeyConstraint(
            *("judge", "suite", "version", "items_sha256", "sitting"),
            name=op.f("pk_judge_exam"),
        ),
    )
    sight = op.create_table(
        "board_sight",
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("board", "suite", "judge", "verdict")
        ),
        sa.Column("ranked", sa.Boolean(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["suite"], ["suite.name"], name=op.f("fk_board_sight_suite_suite")),
        sa.ForeignKeyConstraint(
            ["judge"], ["judge.fingerprint"], name=op.f("fk_board_sight_judge_judge")
        ),
        sa.PrimaryKeyConstraint("board", name=op.f("pk_board_sight")),
    )
    _mark_standing_boards(sight)


def _mark_standing_boards(sight: sa.Table) -> None:
    """What an automatic judge ranked so far has no ranks until the judge has sat the exam."""
    run = sa.table("run", *map(sa.column, ("board", "suite", "judge", "state")))
    judge = sa.table("judge", *map(sa.column, ("fingerprint", "kind")))
    boards = (
        sa.select(run.c.board, run.c.suite, run.c.judge)
        .join(judge, judge.c.fingerprint == run.c.judge)
        .where(run.c.suite.in_(EXAMINED), run.c.state == "published", judge.c.kind == "auto")
        .distinct()
    )
    verdict = {"verdict": "not examined", "ranked": False, "reasons": [REASON]}
    rows = [
        {"board": board, "suite": suite, "judge": name, **verdict, "at": sa.func.now()}
        for board, suite, name in op.get_bind().execute(boards)
    ]
    for row in rows:
        op.execute(sight.insert().values(**row))


def downgrade() -> None:
    op.drop_table("board_sight")
    op.drop_table("judge_exam")
