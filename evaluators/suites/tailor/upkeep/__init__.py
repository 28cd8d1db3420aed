"""How a bank is kept and bettered: the records of its readers, and statistics of its questions.
Imports the bank and statistics only."""
