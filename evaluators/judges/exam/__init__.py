"""The exam of judges: questions with known answers, how one is sat, and the verdict whether a judge
sees."""
