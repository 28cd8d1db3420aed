"""The journal in the object store: what is kept again replaces what a killed run left."""

from __future__ import annotations

from pathlib import Path

from flows.workers.agents import StoreJournal
from infra.store import open_store


def test_a_file_kept_again_is_the_new_one_also_where_an_older_copy_lies(tmp_path: Path) -> None:
    journal = StoreJournal(open_store(str(tmp_path / "objects")), tmp_path / "local")
    source = tmp_path / "frame.png"
    source.write_bytes(b"left by a killed run")
    journal.keep("orca/frame.png", source)

    source.write_bytes(b"of the clip that counts")
    path = journal.keep("orca/frame.png", source)

    assert path.read_bytes() == b"of the clip that counts"
