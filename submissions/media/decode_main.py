"""The child that decodes: `python -m submissions.media.decode_main BYTES`. Each line of stdin
holds some jobs and is answered by one line.

Its memory, time and open files are limited, it has no network and writes nowhere where the system
lets us, and its environment is empty, so that a file made to hang, to crash or to take over a
decoder takes over nothing.
"""

from __future__ import annotations

import hashlib
import json
import signal
import sys
import zlib
from pathlib import Path
from typing import Any

from infra.fields import fields_of
from infra.sandbox.confinement import cut_network, limit
from infra.sandbox.fence import fence
from submissions.format.layout import ARCHIVES
from submissions.media import clips, images
from submissions.media.facts import MOST_FRAMES, MediaRequirements, Refused, broken, check_kind

OPEN_FILES = 64
DEFLATE = -15
DHASH = "dhash:"
MOST_DISTANCE = 3
"""Two pictures whose difference hashes differ in so many of 64 bits are the same picture."""


def main() -> None:
    """Answer jobs until there are no more."""
    limit(int(sys.argv[1]), 0, OPEN_FILES)
    cut_network()
    fence([])
    for line in sys.stdin:
        request = json.loads(line)
        answer = json.dumps([_in_time(job, request["seconds"]) for job in request["jobs"]])
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


def _in_time(job: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The answer, or the end of this process when it takes so much of the processor; a video of
    several clips has the time of each."""
    longer = job["asked"]["most_frames"] / MOST_FRAMES
    signal.setitimer(signal.ITIMER_PROF, seconds * longer)
    answer = _answer(job)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return answer


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    sha256 = ""
    try:
        data = _read(**job["span"])
        sha256 = hashlib.sha256(data).hexdigest()
        if job["sha256"] not in (None, sha256):
            return {"sha256": sha256}
        return {"sha256": sha256, **_look(data, sha256, job)}
    except Refused as refused:
        refusal = {"code": refused.code, "message": refused.message, "hint": refused.hint}
    except MemoryError:
        refusal = {
            "code": "E_MEDIA_PIXELS",
            "message": "It takes too much memory.",
            "hint": "Make it smaller.",
        }
    return {"sha256": sha256, "refused": refusal}


def _read(file: str, offset: int, packed: int, size: int, crc: int | None, deflated: bool) -> bytes:
    """A member's bytes, all that its header promises and no more."""
    with Path(file).open("rb") as stream:
        stream.seek(offset)
        data = stream.read(packed)
    if deflated:
        inflate = zlib.decompressobj(DEFLATE)
        try:
            data = inflate.decompress(data, size + 1)
        except zlib.error:
            raise _damaged() from None
    if len(data) != size or (crc is not None and zlib.crc32(data) != crc):
        raise _damaged()
    return data


def _look(data: bytes, sha256: str, job: dict[str, Any]) -> dict[str, Any]:
    requirements = _requirements(job["asked"])
    if data.startswith(tuple(ARCHIVES)):
        raise Refused(
            "E_NESTED_ARCHIVE", "This member is itself an archive.", "Put its files in directly."
        )
    if not data:
        raise broken("file")
    kind, input_hashes = check_kind(job["name"], job["modality"]), requirements.input_hashes
    if job["modality"] == "video":
        facts = clips.clip(data, kind, requirements)
        return {"facts": fields_of(facts), "copied": sha256 in input_hashes}
    facts, image = images.picture(data, kind)
    copied = bool(input_hashes) and (
        sha256 in input_hashes or _is_near(images.difference_hash(image), input_hashes)
    )
    return {"facts": fields_of(facts), "copied": copied}


def _requirements(fields: dict[str, Any]) -> MediaRequirements:
    return MediaRequirements(**{**fields, "input_hashes": tuple(fields["input_hashes"])})


def _is_near(difference_hash: str, input_hashes: tuple[str, ...]) -> bool:
    bits = _dhash_bits(difference_hash)
    inputs = (_dhash_bits(text) for text in input_hashes if text.startswith(DHASH))
    return any((bits ^ input_bits).bit_count() <= MOST_DISTANCE for input_bits in inputs)


def _dhash_bits(text: str) -> int:
    return int(text.removeprefix(DHASH), 16)


def _damaged() -> Refused:
    return Refused(
        "E_ZIP_BROKEN", "The zip is damaged here.", "Make the bundle again with any zip program."
    )


if __name__ == "__main__":
    main()
