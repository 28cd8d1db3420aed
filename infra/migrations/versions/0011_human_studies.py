"""Human studies: studies, items, raters, their places and answers."""

import sqlalchemy as sa
from alembic import op


revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table('seat_event',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('item_id', sa.String(), nullable=False),
    sa.Column('rater_id', sa.String(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('answers', sa.JSON(), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_seat_event'))
    )
    with op.batch_alter_table('seat_event', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_seat_event_item_id'), ['item_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_seat_event_rater_id'), ['rater_id'], unique=False)

    op.create_table('study',
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('suite', sa.String(), nullable=False),
    sa.Column('version', sa.String(), nullable=False),
    sa.Column('protocol', sa.String(), nullable=False),
    sa.Column('title', sa.String(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('raters_per_item', sa.Integer(), nullable=False),
    sa.Column('session_items', sa.Integer(), nullable=False),
    sa.Column('minutes', sa.Integer(), nullable=False),
    sa.Column('seed', sa.Integer(), nullable=False),
    sa.Column('instructions', sa.Text(), nullable=False),
    sa.Column('consent', sa.Text(), nullable=False),
    sa.Column('consent_version', sa.String(), nullable=False),
    sa.Column('rule', sa.JSON(), nullable=False),
    sa.Column('result', sa.JSON(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('opened_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('closed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('published_at', sa.DateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_study'))
    )
    with op.batch_alter_table('study', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_study_suite'), ['suite'], unique=False)

    op.create_table('rater',
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('study_id', sa.String(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('token_sha256', sa.String(), nullable=False),
    sa.Column('team', sa.String(), nullable=False),
    sa.Column('role', sa.String(), nullable=False),
    sa.Column('consent_version', sa.String(), nullable=False),
    sa.Column('consented_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_rater_study_id_study')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_rater')),
    sa.UniqueConstraint('token_sha256', name=op.f('uq_rater_token_sha256'))
    )
    with op.batch_alter_table('rater', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_rater_study_id'), ['study_id'], unique=False)

    op.create_table('study_item',
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('study_id', sa.String(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('form', sa.JSON(), nullable=False),
    sa.Column('behind', sa.JSON(), nullable=False),
    sa.Column('expected', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_study_item_study_id_study')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_study_item'))
    )
    with op.batch_alter_table('study_item', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_study_item_study_id'), ['study_id'], unique=False)

    op.create_table('rater_contact',
    sa.Column('rater_id', sa.String(), nullable=False),
    sa.Column('email', sa.String(), nullable=False),
    sa.ForeignKeyConstraint(['rater_id'], ['rater.id'], name=op.f('fk_rater_contact_rater_id_rater')),
    sa.PrimaryKeyConstraint('rater_id', name=op.f('pk_rater_contact'))
    )
    op.create_table('seat',
    sa.Column('item_id', sa.String(), nullable=False),
    sa.Column('slot', sa.Integer(), nullable=False),
    sa.Column('study_id', sa.String(), nullable=False),
    sa.Column('rater_id', sa.String(), nullable=False),
    sa.Column('turn', sa.Integer(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('order', sa.String(), nullable=False),
    sa.Column('answers', sa.JSON(), nullable=False),
    sa.Column('comment', sa.Text(), nullable=False),
    sa.Column('seconds', sa.Float(), nullable=False),
    sa.Column('started_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('done_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['item_id'], ['study_item.id'], name=op.f('fk_seat_item_id_study_item')),
    sa.ForeignKeyConstraint(['rater_id'], ['rater.id'], name=op.f('fk_seat_rater_id_rater')),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_seat_study_id_study')),
    sa.PrimaryKeyConstraint('item_id', 'slot', name=op.f('pk_seat')),
    sa.UniqueConstraint('item_id', 'rater_id', name=op.f('uq_seat_item_id_rater_id'))
    )
    with op.batch_alter_table('seat', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_seat_rater_id'), ['rater_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_seat_study_id'), ['study_id'], unique=False)


def downgrade() -> None:
    with op.batch_alter_table('seat', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_seat_study_id'))
        batch_op.drop_index(batch_op.f('ix_seat_rater_id'))

    op.drop_table('seat')
    op.drop_table('rater_contact')
    with op.batch_alter_table('study_item', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_study_item_study_id'))

    op.drop_table('study_item')
    with op.batch_alter_table('rater', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_rater_study_id'))

    op.drop_table('rater')
    with op.batch_alter_table('study', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_study_suite'))

    op.drop_table('study')
    with op.batch_alter_table('seat_event', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_seat_event_rater_id'))
        batch_op.drop_index(batch_op.f('ix_seat_event_item_id'))

    op.drop_table('seat_event')
