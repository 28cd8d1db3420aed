"""A handed-in bundle, read and checked whole: what it declares, what it holds, and whether the two
agree."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from submissions.bundle.answers import MOST_BYTES, SUFFIXES, AnswerRule, value_facts
from submissions.bundle.listing import listing_problems
from submissions.bundle.sampling_bounds import sampling_problems
from submissions.bundle.sizes import size_warnings
from submissions.format import manifest as manifests
from submissions.format.archive import Archive, Span, open_archive
from submissions.format.errors import IntakeError, Problem, refusal, shown, too_slow
from submissions.format.layout import BundleLimits
from submissions.format.manifest import File, Manifest
from submissions.media.decoder_pool import Decoders, Job, shared
from submissions.media.facts import Looked, MediaFacts, Refused, for_clips
from submissions.model_files.model_folder import DeclaredModel, pipeline_of, read_model

MOST_REPEATED = 0.05
AS_IT_IS = ("RGB", "L", "YUV", *SUFFIXES)
PLAIN = AnswerRule()


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """What the intake has to know of a suite; `items` maps a sample's id to its modality."""

    name: str
    version: str
    accepts: tuple[str, ...]
    items: Mapping[str, str]
    subsets: Mapping[str, frozenset[str]]
    rules: Mapping[str, AnswerRule] = field(default_factory=dict)


Catalogue = Mapping[str, SuiteFacts]


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """A bundle that passed, with what was found in each output file and what is worth a word."""

    manifest: Manifest
    media: Mapping[str, MediaFacts]
    warnings: tuple[Problem, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """A bundle that was read: its manifest, its values looked at, and where the media lie that are
    to be decoded.

    Values and media are numbered like the manifest's files.
    """

    manifest: Manifest
    ignored: tuple[str, ...]
    values: Mapping[int, Looked]
    media: Mapping[int, Span]
    warnings: tuple[Problem, ...] = ()


def check(
    path: Path,
    catalogue: Catalogue,
    limits: BundleLimits | None = None,
    decoders: Decoders | None = None,
) -> CheckedBundle:
    """Read a bundle completely in this process; IntakeError lists every problem, and nothing is
    kept."""
    return settle(read(path, catalogue, limits), catalogue, decoders or shared())


def read(path: Path, catalogue: Catalogue, limits: BundleLimits | None = None) -> Contents:
    """Read all of a bundle but its media; whoever takes in a stranger's does so in a child
    (submissions/bundle/reader_pool.py). One that only names a model on a hub has a manifest and
    nothing else."""
    with open_archive(path, limits) as archive:
        manifest = _manifest(archive)
        suite, expected = expected_of(manifest, catalogue)
        if manifest.on_hub:
            return Contents(manifest, archive.ignored, {}, {})
        _raise_if(list(listing_problems(manifest, archive, expected, suite.rules)))
        if manifest.kind == "model":
            warnings = tuple(_model_warnings(manifest, archive))
            return Contents(manifest, archive.ignored, {}, {}, warnings)
        values, media = dict[int, Looked](), dict[int, Span]()
        for number, file in enumerate(manifest.files):
            if suite.items[file.sample or ""] in SUFFIXES:
                values[number] = _value(archive, file, suite)
            else:
                media[number] = archive.span(file.path)
        return Contents(manifest, archive.ignored, values, media)


def settle(
    contents: Contents, catalogue: Catalogue, decoders: Decoders, deadline: float = math.inf
) -> CheckedBundle:
    """Have the media decoded, each file in a child, and say what came of the whole by a time of
    `time.monotonic`."""
    manifest = contents.manifest
    if manifest.on_hub:
        hint = "Hand it in: the model is fetched from the hub then."
        raise refusal(
            "E_FILE_MISSING", "manifest.files", "The bundle only names a model on a hub.", hint
        )
    suite, expected = expected_of(manifest, catalogue)
    looked = _look(contents, suite, decoders, deadline)
    _raise_if(list(_output_problems(manifest, looked)))
    return CheckedBundle(
        manifest, _media(manifest, looked), tuple(_warnings(contents, looked)), expected
    )


def declared(path: Path) -> Manifest:
    """What one's own bundle says of itself, for whoever only sends it."""
    with open_archive(path) as archive:
        return _manifest(archive)


def _manifest(archive: Archive) -> Manifest:
    if manifests.NAME not in archive.members:
        raise _no_manifest(archive)
    size = archive.members[manifests.NAME].file_size
    if size > manifests.MOST_BYTES:
        raise manifests.too_large(size)
    return manifests.parse(archive.read(manifests.NAME, manifests.MOST_BYTES))


def _no_manifest(archive: Archive) -> IntakeError:
    """Say where a manifest lies if it lies deeper, as zipping a folder makes it."""
    deeper = [name for name in archive.members if name.endswith(f"/{manifests.NAME}")]
    message = "There is no manifest.json at the top."
    if deeper:
        message += f" Found {shown(min(deeper, key=len))}."
        hint = "Zip what is in the folder, not the folder; or `armillary pack FOLDER`."
    else:
        hint = "`armillary new SUITE FOLDER` writes one; submissions/README.md explains it."
    return refusal("E_MANIFEST_MISSING", "bundle", message, hint)


def _raise_if(problems: Sequence[Problem]) -> None:
    if problems:
        raise IntakeError(problems)


def expected_of(manifest: Manifest, catalogue: Catalogue) -> tuple[SuiteFacts, tuple[str, ...]]:
    """The suite, and the samples of it that this submission should answer: its subset, its
    modalities."""
    suite = catalogue.get(manifest.suite)
    if suite is None:
        message = f"There is no suite {shown(manifest.suite)}."
        raise refusal("E_SUITE", "manifest.suite", message, f"Use one of {', '.join(catalogue)}.")
    _raise_if(list(_suite_problems(manifest, suite)))
    chosen = suite.subsets[manifest.subset]
    expected = (
        item
        for item, modality in suite.items.items()
        if item in chosen and modality in manifest.modalities
    )
    return suite, tuple(expected)


def _suite_problems(manifest: Manifest, suite: SuiteFacts) -> Iterator[Problem]:
    if manifest.suite_version != suite.version:
        got, now = f"Got {shown(manifest.suite_version)}.", f"Now: {suite.version}."
        yield Problem("E_SUITE_VERSION", "manifest.suite_version", got, now)
    if manifest.kind not in suite.accepts:
        ways = " or ".join(suite.accepts) or "nothing yet"
        message = f"{suite.name} does not take {manifest.kind}."
        yield Problem("E_KIND", "manifest.kind", message, f"It takes {ways}.")
    elif manifest.subset not in suite.subsets:
        hint = f"Use one of {', '.join(suite.subsets)}."
        yield Problem("E_SUBSET", "manifest.subset", f"Got {shown(manifest.subset)}.", hint)


def _model_warnings(manifest: Manifest, archive: Archive) -> list[Problem]:
    """What is worth a word in a model that is taken; IntakeError for one that is not."""
    problems = list(_model_problems(manifest, archive))
    _raise_if([problem for problem in problems if not problem.code.startswith("W_")])
    return problems


def _model_problems(manifest: Manifest, archive: Archive) -> Iterator[Problem]:
    yield from sampling_problems(manifest, pipeline_of(archive))
    declared_model = DeclaredModel(manifest.model.base, tuple(manifest.modalities))
    for file, actual, problems in read_model(manifest.files, archive, declared_model):
        if actual != file.sha256 and all(problem.code.startswith("W_") for problem in problems):
            yield _wrong_hash(file, actual)
        yield from problems


def _look(
    contents: Contents, suite: SuiteFacts, decoders: Decoders, deadline: float
) -> list[Looked]:
    """What was found in each file of outputs, in the manifest's order; a model has none."""
    files, values = contents.manifest.files, contents.values
    jobs = [_job(files[number], span, suite) for number, span in sorted(contents.media.items())]
    decoded = _in_time(decoders.look_all(jobs), deadline)
    return [values[n] if n in values else next(decoded) for n in range(len(values) + len(jobs))]


def _in_time(looked: Iterator[Looked], deadline: float) -> Iterator[Looked]:
    start = time.monotonic()
    for inspected in looked:
        yield inspected
        if time.monotonic() > deadline:
            raise too_slow(deadline - start)


def _job(file: File, span: Span, suite: SuiteFacts) -> Job:
    sample = file.sample or ""
    return Job(
        span,
        file.path,
        suite.items[sample],
        file.sha256,
        for_clips(suite.rules.get(sample, PLAIN).requirements, len(file.steps or ())),
    )


def _value(archive: Archive, file: File, suite: SuiteFacts) -> Looked:
    modality, rule = suite.items[file.sample or ""], suite.rules.get(file.sample or "", PLAIN)
    try:
        data = archive.read(file.path, MOST_BYTES[modality])
        return Looked(
            hashlib.sha256(data).hexdigest(), value_facts(data, file.path, modality, rule)
        )
    except Refused as refused:
        problem = refused
    except IntakeError as error:
        first = error.problems[0]
        code = "E_ANSWER" if first.code == "E_TOO_LARGE" and modality == "text" else first.code
        problem = Refused(code, first.message, first.hint)
    return Looked(
        "", None, {"code": problem.code, "message": problem.message, "hint": problem.hint}
    )


def _output_problems(manifest: Manifest, looked: Sequence[Looked]) -> Iterator[Problem]:
    for file, inspected in zip(manifest.files, looked, strict=manifest.kind == "outputs"):
        if inspected.sha256 and inspected.sha256 != file.sha256:
            yield _wrong_hash(file, inspected.sha256)
        elif inspected.facts is None:
            yield Refused(**inspected.refused).at(file.path)


def _wrong_hash(file: File, actual: str) -> Problem:
    message = f"Its SHA-256 is {actual[:12]}…, the manifest says {file.sha256[:12]}…."
    return Problem(
        "E_CHECKSUM",
        shown(file.path),
        message,
        "Make the manifest again from the files you hand in.",
    )


def _media(manifest: Manifest, looked: Sequence[Looked]) -> dict[str, MediaFacts]:
    pairs = zip(manifest.files, looked, strict=False)
    return {
        file.sample: inspected.facts for file, inspected in pairs if file.sample and inspected.facts
    }


def _warnings(contents: Contents, looked: Sequence[Looked]) -> Iterator[Problem]:
    manifest = contents.manifest
    yield from contents.warnings
    for name in contents.ignored:
        yield Problem(
            "W_IGNORED", shown(name), "A left-over of a file manager; ignored.", "Nothing to do."
        )
    for file, inspected in zip(manifest.files, looked, strict=False):
        yield from _words(file.sample or "", inspected)
    yield from size_warnings(_media(manifest, looked), manifest.sampling)
    hashes = [file.sha256 for file in manifest.files if file.sample]
    repeated = len(hashes) - len(set(hashes))
    if hashes and repeated / len(hashes) > MOST_REPEATED:
        yield Problem(
            "W_REPEATED_OUTPUT",
            "bundle",
            f"{repeated} outputs repeat another's bytes.",
            "Shown beside the entry.",
        )


def _words(sample: str, inspected: Looked) -> Iterator[Problem]:
    facts = inspected.facts
    if facts and facts.static:
        message = "One colour, or a clip in which nothing changes."
        yield Problem("W_STATIC", sample, message, "It is scored as it is.")
    if facts and facts.mode not in AS_IT_IS:
        message = (
            f"The picture is {facts.mode}; it is judged as 8-bit RGB, transparency over black "
            "dropped."
        )
        yield Problem(
            "W_CONVERTED", sample, message, "Save it as 8-bit RGB to be sure of its look."
        )
    if inspected.copied:
        message = "This is the picture that the model was given."
        yield Problem("W_COPIED_INPUT", sample, message, "Shown beside the entry.")
