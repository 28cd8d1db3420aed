"""From prompts to the board: begin an entry, answer every prompt, check, pack, hand in, wait.

    export ARMILLARY_TOKEN=arm_...
    python -m armillary.examples.hand_in https://board.example.org my-entry --team "My team"

`answer` draws a plain picture. Put your model there.
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path

import armillary

log = logging.getLogger("hand_in")


def answer(prompt: str, path: Path) -> None:
    """Write the picture that a prompt asks for; here a colour that follows from its words."""
    from PIL import Image

    colour = tuple(sum(prompt.encode()[start::3]) % 256 for start in range(3))
    picture = Image.new("RGB", (256, 192), colour)
    picture.paste((245, 245, 245), (40, 60, 40 + len(prompt) % 150, 130))
    picture.save(path)


def answer_all(folder: Path) -> int:
    """One file a line of prompts.jsonl, where the line says."""
    lines = (folder / "prompts.jsonl").read_text("utf-8").splitlines()
    for line in lines:
        sample = json.loads(line)
        answer(sample["prompt"], folder / sample["output"])
    return len(lines)


def hand_in(server: str, folder: Path, team: str, wait: bool = True) -> str:
    """The whole way; gives the submission's id."""
    armillary.new("tailor", folder, subset="demo", modality="image", team=team)
    log.info("%d prompts answered", answer_all(folder))
    for warning in armillary.check(folder).warnings:
        log.warning("%s %s: %s %s", warning.code, warning.where, warning.message, warning.hint)
    bundle = armillary.pack(folder)
    handed = armillary.submit(bundle.path, server=server)
    log.info("Received as %s: %s", handed.submission_id, handed.page)
    if wait:
        log.info("It is %s", armillary.status(handed.submission_id, server=server, wait=True).state)
    return handed.submission_id


def main() -> None:
    """Read the command line and go."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("server")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--team", default="My team")
    arguments = parser.parse_args()
    hand_in(arguments.server, arguments.folder, arguments.team)


if __name__ == "__main__":
    main()
