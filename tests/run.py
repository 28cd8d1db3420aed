"""`make test`: the tests beside each other, then the few that failed once more by themselves.

Many tests hold servers and processes to a time. On a machine that is busy with other tests such a
time may pass; a test that fails by itself too is a failure, and one that passes is named.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from tests.command import ROOT

BESIDE_EACH_OTHER = ("-n", "3", "--dist", "loadgroup")
LAST_FAILED = ROOT / ".pytest_cache/v/cache/lastfailed"
MOST_TRIED_AGAIN = 5
SOME_FAILED = 1


def main(arguments: Sequence[str]) -> int:
    """The status of the whole run; a status other than that of failed tests is final."""
    status = _pytest("--cache-clear", *BESIDE_EACH_OTHER, *arguments)
    if status != SOME_FAILED:
        return status
    failed = failed_tests(LAST_FAILED.read_text("utf-8"))
    if not 0 < len(failed) <= MOST_TRIED_AGAIN:
        return status
    _tell("Failed beside other tests, tried once more alone", failed)
    status = _pytest("-n", "0", *failed)
    if not status:
        _tell("Failed beside other tests and passed alone", failed)
    return status


def failed_tests(cache: str) -> list[str]:
    """The failed tests in pytest's cache, without the groups that xdist writes behind them.

    >>> failed_tests('{"a.py::test[x@y]@servers": true, "a.py::test[x@y]": true}')
    ['a.py::test[x@y]']
    """
    failed = {}
    for name in json.loads(cache):
        test, _, group = name.rpartition("@")
        failed[name if not test or "]" in group else test] = True
    return list(failed)


def _pytest(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT).returncode


def _tell(words: str, tests: Sequence[str]) -> None:
    print("\n".join([f"\n{words}:", *(f"  {test}" for test in tests)]), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
