"""What users import: `armillary/` is installed under that name, beside `flows`; it may import every
room of flows and what lies under flows."""
