"""What the TailOR paper prints: Table 2 as rows with an address, and its facts on annotators and
sizes."""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.contracts import ALL, Facets, Fact, Published
from evaluators.suites.figures import join_notes, read_table

TABLE_2 = "TailOR (arXiv 2606.24256), Table 2"
SUSPECT = ("predictive", "Z-Image", "unconventional", "physical_realism", "human")


def published() -> tuple[Published, ...]:
    """Every cell of Table 2: eight models, two settings, three scenarios, four metrics, judge and
    humans."""
    return tuple(_row(row) for row in read_table("tailor", "table2"))


def facts() -> tuple[Fact, ...]:
    """Agreement between annotators, and how many people, prompts and items there were."""
    return tuple(
        Fact(
            row["quantity"],
            row["value"],
            "; ".join(filter(None, (row["scope"], row["unit"], row["note"]))),
        )
        for row in read_table("tailor", "agreement")
    )


def _row(row: Mapping[str, str]) -> Published:
    return Published(
        model=row["model"],
        metric=row["metric"],
        facets=Facets(
            scenario=row["scenario"], task=ALL, setting=row["setting"], modality=row["modality"]
        ),
        evaluator="human" if row["evaluator"] == "human" else "auto",
        value=float(row["value"]),
        spread=None,
        source=TABLE_2,
        note=_note(row),
    )


def _note(row: Mapping[str, str]) -> str:
    renamed = "" if row["as_printed"] == row["model"] else f"Printed as {row['as_printed']}."
    address = tuple(row[key] for key in ("setting", "model", "scenario", "metric", "evaluator"))
    suspect = (
        "Above the regular scenario's value; probably a misprint." if address == SUSPECT else ""
    )
    return join_notes(renamed, suspect)
