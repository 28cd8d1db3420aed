"""Pure drawing: tables, charts and words from rows."""
