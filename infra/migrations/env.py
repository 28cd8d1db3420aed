"""Alembic's entry: runs on the connection that infra.db hands over."""

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlmodel import AutoString, SQLModel

from infra import tables
from infra.tables.columns import index_exists_on


def plain_types(kind: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    """Write library types as SQLAlchemy's own, so that a migration never depends on today's
    classes."""
    if kind == "type" and isinstance(item, tables.UtcTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, AutoString):
        return "sa.String()"
    return False


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    render_item=plain_types,
    include_object=index_exists_on(connection.dialect.name),
)
with context.begin_transaction():
    context.run_migrations()
