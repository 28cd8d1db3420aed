"""An atheris target for the reader; not run by the tests. `python -m tests.fuzz.atheris_reader
tests/fuzz/corpus`.

`pip install atheris` first: it is no dependency of ours. Every crash it finds belongs into
tests/submissions/bad.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Let atheris look for bytes that make the reader raise anything but IntakeError."""
    import atheris  # type: ignore

    with atheris.instrument_imports(include=["submissions"]):
        from flows.run.catalogue import from_code
        from submissions.bundle.check import check
        from submissions.format.errors import IntakeError

    suites = from_code()
    spot = Path(tempfile.mkdtemp(prefix="armillary-atheris-")) / "bundle.zip"

    def one(data: bytes) -> None:
        spot.write_bytes(data)
        try:
            check(spot, suites)
        except IntakeError:
            return

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
