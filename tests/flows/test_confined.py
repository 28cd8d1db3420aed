"""A handed-in model runs in a child: no network, bounded, replaced when it dies, and gone when we
are."""

from __future__ import annotations

import logging
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.contracts import CannotProduce, Outcome, Output, Production
from flows.workers.confined.child import MOST_STDERR, ChildLimits, ModelBroke
from flows.workers.confined.fault_rules import MachineFault, OutOfTime, WorkerFault
from flows.workers.confined.model import Confined, confined, plain
from infra.sandbox.confinement import network_can_be_cut
from infra.sandbox.fence import version
from tests.bundles import demo_samples
from tests.flows.made_generator import QUICK, SLOW

COMMAND = (sys.executable, "-m", "tests.flows.made_generator")
LIMITS = ChildLimits(
    load_seconds=120,
    seconds=120,
    memory=4 << 30,
    file_bytes=10 << 20,
    open_files=64,
    unconfined=not (network_can_be_cut() and version()),
)
SAMPLES = [sample for sample in demo_samples() if sample.id.endswith(".predictive.image")][:4]
Run = Callable[..., list[Output]]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Runs a made-up model that does one deed for the second of four samples."""
    made: list[Confined] = []

    def go(
        deed: str, limits: ChildLimits = LIMITS, command: tuple[str, ...] = COMMAND
    ) -> list[Output]:
        made.append(Confined({"suite": "tailor", "given": {"deed": deed}}, limits, command))
        return list(made[-1].generate(SAMPLES, tmp_path))

    yield go
    for one in made:
        one.close()


def outcomes(found: list[Output]) -> list[str]:
    return [f"{output.sample_id.split('.')[1]} {output.outcome}" for output in found]


def test_the_samples_have_a_second_one() -> None:
    assert [sample.id.split(".")[1] for sample in SAMPLES][:2] == ["0", "1"]


def test_a_well_behaved_model_answers_for_every_sample_from_one_process(run: Run) -> None:
    found = run("")

    assert [output.outcome for output in found] == [Outcome.SCORED] * len(SAMPLES)
    assert all(output.file and output.file.exists() for output in found)
    assert len({output.record["pid"] for output in found}) == 1


def test_a_model_that_ends_its_process_fails_that_sample_only(run: Run) -> None:
    found = run("quits")

    assert (
        [output.outcome for output in found].count(Outcome.MODEL_FAILED)
        == outcomes(found).count("1 model_failed")
        >= 1
    )
    assert {output.sample_id for output in found} == {sample.id for sample in SAMPLES}
    assert "ended its own process" in next(
        one.reason for one in found if one.outcome is Outcome.MODEL_FAILED
    )


@pytest.mark.parametrize(
    ("deed", "says"), [("dies", "SIGKILL"), ("loses the device", "unspecified launch failure")]
)
def test_a_killed_child_and_a_lost_device_are_faults_of_ours(
    run: Run, deed: str, says: str
) -> None:
    with pytest.raises(WorkerFault, match=says):
        run(deed)


def test_a_model_that_hangs_is_ended_in_time_and_that_limit_is_ours(run: Run) -> None:
    with pytest.raises(OutOfTime, match="over 3 seconds"):
        run("sleeps", replace(LIMITS, seconds=3, memory=None, file_bytes=1 << 20))


@pytest.mark.timeout(120)
def test_an_answer_that_is_begun_and_never_ended_keeps_nobody_waiting(run: Run) -> None:
    with pytest.raises(OutOfTime, match="over 3 seconds"):
        run("begins a word", replace(LIMITS, seconds=3))


@pytest.mark.timeout(120)
def test_an_answer_without_end_is_the_models_fault_and_fills_no_memory(run: Run) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(ModelBroke, match="over 16777216 bytes"):
        run("never stops")

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def test_a_model_that_is_measured_to_be_slow_gets_longer(run: Run) -> None:
    """The limit alone would end the fourth sample; it leaves the first three time to spare."""
    found = run("slows down", replace(LIMITS, seconds=(3 * QUICK + SLOW) / 2))

    assert [output.outcome for output in found] == [Outcome.SCORED] * len(SAMPLES)


@pytest.mark.parametrize(
    ("deed", "says"), [("raises", "no such layer"), ("fills", "File too large")]
)
def test_errors_and_limits_are_told_with_their_words(run: Run, deed: str, says: str) -> None:
    with pytest.raises(ModelBroke, match=says):
        run(deed)


def test_a_model_that_wants_more_memory_than_we_give_is_our_fault(run: Run) -> None:
    with pytest.raises(MachineFault, match="MemoryError"):
        run("eats")


def test_what_a_model_writes_before_it_ends_is_kept_in_the_log_of_its_submission(
    run: Run, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("armillary"), "propagate", True)

    with caplog.at_level("WARNING"), pytest.raises(ModelBroke):
        run("complains")

    assert "the layer is missing" in caplog.text and "ESC" not in caplog.text
    lines = [record.getMessage() for record in caplog.records]
    assert lines and all(len(line) < MOST_STDERR + 200 for line in lines)


def test_a_model_that_cannot_be_loaded_is_said_to_be_so(run: Run) -> None:
    with pytest.raises(ModelBroke, match="could not be loaded"):
        run("absent")


def test_the_child_sees_nothing_of_our_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_JUDGE_KEY", "secret")

    said = str([output.record["said"] for output in run("looks")])

    assert "ARMILLARY" not in said and "HF_HUB_OFFLINE" in said


@pytest.mark.skipif(
    not network_can_be_cut(), reason="this system does not let a process leave the network"
)
def test_the_child_reaches_no_network_not_even_this_machine(run: Run) -> None:
    said = [str(output.record["said"]) for output in run("calls")]

    assert any("no network" in one for one in said) and "reached the machine" not in said


def refusing(*names: str) -> tuple[str, ...]:
    """The child's command on a system that refuses these ways of confinement."""
    refused = "; ".join(f"{name} = lambda *_: False" for name in names)
    code = (
        "from infra.sandbox import confinement; from flows.workers.confined import model_main; "
        f"from tests.flows.made_generator import make; {refused}; model_main.serve(make)"
    )
    return (sys.executable, "-c", code)


NAMESPACES, FILTERS = "confinement.leave_network", "confinement.forbid_sockets"


def test_where_namespaces_are_refused_a_model_can_open_no_socket(run: Run) -> None:
    said = [str(output.record["said"]) for output in run("calls", LIMITS, refusing(NAMESPACES))]

    assert "no network: Permission denied" in said


@pytest.mark.parametrize("refused", [(NAMESPACES, FILTERS), ("model_main.fence",)])
def test_where_network_or_files_cannot_be_fenced_no_model_runs(
    run: Run, refused: tuple[str, ...]
) -> None:
    with pytest.raises(CannotProduce, match="ARMILLARY_UNCONFINED"):
        run("", replace(LIMITS, unconfined=False), refusing(*refused))


def test_an_operator_can_let_a_model_run_unfenced(run: Run) -> None:
    found = run("", replace(LIMITS, unconfined=True), refusing(NAMESPACES, FILTERS))

    assert [output.outcome for output in found] == [Outcome.SCORED] * len(SAMPLES)


@pytest.mark.skipif(not version(), reason="this system does not let a process fence itself in")
def test_the_child_writes_nowhere_else_and_reads_nothing_of_what_we_keep(
    run: Run, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "armillary.db").write_text("the answers")
    kept = replace(LIMITS, hidden=(str(home),))

    read = [str(output.record["said"]) for output in run(f"reads {home}/armillary.db", kept)]
    wrote = [str(output.record["said"]) for output in run(f"writes {tmp_path}/outside", kept)]

    assert any("Permission denied" in one for one in read) and any(
        "Permission denied" in one for one in wrote
    )
    assert "the answers" not in read and not (tmp_path / "outside").exists()


@pytest.mark.parametrize("deed", ["names /etc/passwd", "links /etc/passwd"])
def test_a_file_that_the_child_did_not_make_is_none_of_its_outputs(run: Run, deed: str) -> None:
    found = {output.sample_id.split(".")[1]: output for output in run(deed)}

    assert found["1"].outcome is Outcome.MODEL_FAILED and "process named" in found["1"].reason
    assert found["0"].outcome is Outcome.SCORED and Path("/etc/passwd").exists()


def test_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    code = f"""
import sys, time
from pathlib import Path
from flows.workers.confined.model import Confined
from tests.flows.test_confined import COMMAND, LIMITS, SAMPLES
job = {{"suite": "tailor", "given": {{"deed": ""}}}}
child = Confined(job, LIMITS, COMMAND)
print(next(iter(child.generate(SAMPLES, Path({str(tmp_path)!r})))).record["pid"], flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    child = Path(f"/proc/{int(parent.stdout.readline())}")
    alive = child.exists()

    parent.kill()
    parent.wait()

    until = time.monotonic() + 120
    while child.exists() and "Z" not in _state(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert alive and (not child.exists() or "Z" in _state(child))


def _state(process: Path) -> str:
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def test_what_a_suite_is_given_travels_to_the_child_that_stays_for_all_shards(
    tmp_path: Path,
) -> None:
    given = Production(tmp_path, {"seed": 1}, "cpu")

    assert plain(given) == {
        **plain(given),
        "folder": {"path:": str(tmp_path)},
        "sampling": {"seed": 1},
    }
    assert isinstance(confined("tailor", given), Confined) and confined(
        "tailor", given
    ) is confined("tailor", given)
