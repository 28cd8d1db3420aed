"""The gates between stages (Great Expectations), and the report that a person reads."""
