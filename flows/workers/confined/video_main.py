"""The child that films with a handed-in model: `python -m flows.workers.confined.video_main`. The
agent around it stays outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evaluators.agents.video_model import GeneratorFailed
from evaluators.suites import suite_named
from flows.workers.confined.model_main import Answer, Said, confine, production


class NoNotes:
    """A model in this process has no jobs elsewhere to remember."""

    def get(self) -> bytes | None:
        """Nothing was put here."""
        return None

    def put(self, data: bytes) -> None:
        """Nothing is kept."""


def begin(job: Said) -> tuple[Said, Answer]:
    """Open the model; who it is and how to write for it is the first word."""
    generation = suite_named(job["suite"]).generation
    assert generation and generation.film, (
        f"{job['suite']} runs an agent and does not say how to film"
    )
    model = generation.film(production(job))

    def answer(request: Said) -> Iterator[Said]:
        try:
            filmed = model.make(
                Path(request["frame"]),
                request["caption"],
                request["seed"],
                Path(request["to"]),
                NoNotes(),
            )
            last = str(filmed.last_frame) if filmed.last_frame else ""
            yield {"made": str(filmed.path), "last": last, "fitted": filmed.fitted}
        except GeneratorFailed as failed:
            yield {"failed": str(failed)}

    return {"name": model.name, "profile": model.profile}, answer


if __name__ == "__main__":
    confine(begin)
