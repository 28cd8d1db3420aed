"""What is kept so that a page needs few rows: cached answers, the snapshot, counts at
publication."""
