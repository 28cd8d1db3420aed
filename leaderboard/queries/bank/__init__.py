"""People's review of a bank that is in use: its items, who reads them, and what is settled."""
