"""Whether a bank's rubrics measure: what each question hangs on, what can be seen, what is asked
twice, what an idle scene would get. Imports the bank and its wording only."""
