"""The commands of TailOR: `curation` writes new banks, `bank` keeps the open one good, `reading`
has people review it."""
