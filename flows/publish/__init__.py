"""A scored run goes onto its board: ranks, ladder, receipts, the sealed chain. May import run,
workers, durable."""
