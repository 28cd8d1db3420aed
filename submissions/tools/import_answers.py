"""Makes a bundle of answers in words from a JSONL file with one object a line: sample and
answer."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from submissions.bundle.pack import pack_outputs
from submissions.format import strict_json
from submissions.format.errors import IntakeError, Problem, refusal, shown
from submissions.format.strict_json import BadJson
from submissions.format.suggestions import did_you_mean

LINE = 'Write {"sample": "...", "answer": "..."}.'


def import_answers(
    to: Path, declaration: Mapping[str, Any], answers: Path, sample_ids: Set[str]
) -> Path:
    """Bundle the answers, unless anything at all is wrong with them; every problem at once."""
    text_by_sample: dict[str, str] = {}
    problems: list[Problem] = []
    for where, line in _lines(answers):
        row = _row(where, line, sample_ids, text_by_sample)
        if isinstance(row, Problem):
            problems.append(row)
        else:
            text_by_sample[row[0]] = row[1]
    if not text_by_sample and not problems:
        problems.append(
            Problem("E_IMPORT_EMPTY", shown(str(answers)), "There is no answer in it.", LINE)
        )
    if problems:
        raise IntakeError(problems)
    with tempfile.TemporaryDirectory(prefix="armillary-answers-") as folder:
        return pack_outputs(
            to,
            declaration,
            {name: _file(Path(folder), name, text) for name, text in text_by_sample.items()},
        )


def _lines(answers: Path) -> Iterator[tuple[str, bytes]]:
    try:
        data = answers.read_bytes()
    except FileNotFoundError:
        raise refusal(
            "E_NO_FILE", shown(str(answers)), "There is no such file.", "Check the path."
        ) from None
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield f"line {number}", line


def _row(
    where: str, line: bytes, sample_ids: Set[str], answered: Mapping[str, str]
) -> tuple[str, str] | Problem:
    try:
        row = strict_json.read(line)
    except BadJson as bad:
        return Problem("E_ANSWERS", where, f"This line is not JSON. {LINE}", bad.hint)
    if not isinstance(row, dict) or not all(
        isinstance(row.get(key), str) for key in ("sample", "answer")
    ):
        return Problem(
            "E_ANSWERS", where, "It is no object with a sample and an answer in words.", LINE
        )
    sample = row["sample"]
    if sample not in sample_ids:
        hint = did_you_mean(sample, sample_ids) or "List the ids with `armillary samples SUITE`."
        return Problem("E_ITEM_UNKNOWN", where, f"There is no sample {shown(sample)}.", hint)
    if sample in answered:
        return Problem(
            "E_ITEM_DUPLICATE", where, f"{sample} was answered before.", "Keep one of them."
        )
    return sample, row["answer"]


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.txt"
    path.write_text(text, "utf-8")
    return path
