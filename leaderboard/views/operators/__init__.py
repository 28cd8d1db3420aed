"""Pages for operators: studies, review, system."""
