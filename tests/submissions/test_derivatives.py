"""What people see is encoded again: one format, the same pixels, no tags; made once and kept by its
hash."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path
from threading import Semaphore

import av
import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from infra.store import Store, open_store, put_blob
from submissions.media import derivatives
from submissions.media.shown_files import IN_USE_SECONDS, make_room, used
from tests.submissions.bad.media import clip, noise

MARK = "made-by-the-owls"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "objects"))


def kept(store: Store, tmp_path: Path, data: bytes) -> str:
    (tmp_path / "file").write_bytes(data)
    return put_blob(store, tmp_path / "file")


def tagged(kind: str) -> bytes:
    """A picture that says in its tags who made it."""
    image, data = noise((48, 32)), io.BytesIO()
    about = PngImagePlugin.PngInfo()
    about.add_text("Software", MARK)
    exif = Image.Exif()
    exif[0x010E] = MARK
    if kind == "PNG":
        image.save(data, kind, pnginfo=about, exif=exif)
    else:
        image.save(data, kind, exif=exif, lossless=True)
    return data.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_keeps_its_pixels_and_loses_its_tags(
    store: Store, tmp_path: Path, kind: str
) -> None:
    data = tagged(kind)
    assert MARK.encode() in data
    sha256 = kept(store, tmp_path, data)

    found = derivatives.public_file(store, sha256, f"image/{kind.lower()}", tmp_path / "page")

    assert (
        found and found.media_type == "image/png" and MARK.encode() not in found.path.read_bytes()
    )
    before = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert (np.asarray(Image.open(found.path)) == before).all()


def test_a_clip_keeps_its_frames_and_loses_its_tags(store: Store, tmp_path: Path) -> None:
    source = tmp_path / "tagged.mp4"
    with av.open(io.BytesIO(clip(12)), "r") as read, av.open(str(source), "w") as written:
        written.metadata["comment"] = MARK
        stream = written.add_stream_from_template(read.streams.video[0])
        for packet in read.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                written.mux(packet)
    assert MARK.encode() in source.read_bytes()
    sha256 = kept(store, tmp_path, source.read_bytes())

    found = derivatives.public_file(store, sha256, "video/mp4", tmp_path / "page")

    assert found and MARK.encode() not in found.path.read_bytes()
    with av.open(str(found.path)) as read:
        stream = read.streams.video[0]
        assert (sum(1 for _ in read.decode(stream)), stream.codec_context.name) == (12, "h264")


def test_it_is_made_once_and_found_again_from_another_machine(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = kept(store, tmp_path, tagged("PNG"))
    first = derivatives.public_file(store, sha256, "image/png", tmp_path / "page")
    monkeypatch.setattr(derivatives, "COMMAND", ("false",))

    second = derivatives.public_file(store, sha256, "image/png", tmp_path / "another page")

    assert first and second and first.path.read_bytes() == second.path.read_bytes()
    assert [one.key for one in store.list("shown/")] == [f"shown/1/{sha256}.png"]


def test_of_many_who_ask_at_once_few_have_a_child_and_what_is_made_needs_none(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (kept(store, tmp_path, tagged(kind)) for kind in ("PNG", "JPEG"))
    assert derivatives.public_file(store, first, "image/png", tmp_path / "page")
    monkeypatch.setattr(derivatives, "PATIENCE", 0.01)
    nobody = Semaphore(0)
    monkeypatch.setattr(derivatives, "making", lambda: nobody)

    assert derivatives.public_file(store, second, "image/jpeg", tmp_path / "page") is None
    assert derivatives.public_file(store, first, "image/png", tmp_path / "page")
    assert derivatives.public_file(store, first, "image/png", tmp_path / "another page")


def test_the_folder_of_what_people_looked_at_is_bounded_and_the_last_stays(tmp_path: Path) -> None:
    long_ago = time.time() - 10 * IN_USE_SECONDS
    for number, name in enumerate(("a", "b", "c", "asked for again", "new")):
        (tmp_path / name).write_bytes(bytes(1000))
        os.utime(tmp_path / name, (long_ago + number, long_ago + number))
    assert used(tmp_path / "asked for again") and not used(tmp_path / "absent")
    assert used(tmp_path / "a")

    make_room(tmp_path, 2500)

    assert {path.name for path in tmp_path.iterdir()} == {"a", "asked for again"}
    make_room(tmp_path, 0)
    assert len(list(tmp_path.iterdir())) == 2, "who asked may still be reading"


def test_what_cannot_be_read_or_is_no_media_is_not_shown(store: Store, tmp_path: Path) -> None:
    broken = kept(store, tmp_path, b"\x89PNG\r\n\x1a\nnothing")

    assert derivatives.public_file(store, broken, "image/png", tmp_path / "page") is None
    assert derivatives.public_file(store, broken, "text/plain", tmp_path / "page") is None
    assert derivatives.public_file(store, "0" * 64, "image/png", tmp_path / "page") is None
    assert not list((tmp_path / "page").glob("derive-*"))
