"""The exams for judges and what is made of their marks."""
