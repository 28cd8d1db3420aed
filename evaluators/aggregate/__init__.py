"""From scores to cells: addresses, columns, summaries. With metrics and statistics, what the code
fingerprint covers."""
