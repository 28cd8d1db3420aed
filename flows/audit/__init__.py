"""Whether to believe a number: audit, verify, rejudge, repeats, receipts as files. May import
studies, evaluate, publish and below."""
