"""The API: the same rows as the pages, with pages, tags and words for what is not there."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from infra.settings import Settings
from leaderboard.api.app import create


@pytest.fixture(scope="module")
def api(board: Settings) -> TestClient:
    return TestClient(create(board))


def test_the_ranking_is_the_one_of_the_page(api: TestClient) -> None:
    rows = api.get("/v1/suites/tailor/ranking", params={"metric": "instruction_adherence"}).json()

    assert [row["model"] for row in rows if row["rank"] == 1].count("Aurora Video 2") == 2
    assert all(row["rank"] is None for row in rows if row["trust"] == "C")


def test_every_route_answers_on_a_full_board(api: TestClient) -> None:
    run, sample = "run-aurora-auto", "cut_garden_twine.0.predictive.image"
    paths = (
        "suites",
        "suites/tailor/metrics",
        "suites/tailor/places?metric=index",
        "suites/tailor/boards",
        "suites/sc3/published",
        "runs?suite=tailor",
        f"runs/{run}/cells",
        f"runs/{run}/samples?metric=index&scenario=regular",
        f"runs/{run}/samples/{sample}?metric=index",
        f"runs/{run}/samples/{sample}/verdicts",
        "models?limit=2",
        "models/sub-aurora",
        "judges",
        "status",
        "status/sub-aurora",
        "openapi.json",
    )

    answers = {path: api.get(f"/v1/{path}") for path in paths}

    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(
        paths, 200
    )
    assert all(answer.headers["etag"] for answer in answers.values())


def test_a_reader_who_has_it_already_gets_no_body(api: TestClient) -> None:
    first = api.get("/v1/suites")

    second = api.get("/v1/suites", headers={"If-None-Match": first.headers["etag"]})

    assert second.status_code == 304
    assert not second.content
    assert "max-age" in first.headers["cache-control"]


def test_long_lists_come_in_pages_that_join_to_the_whole(api: TestClient) -> None:
    rows, offset = [], 0
    while offset is not None:
        page = api.get(
            "/v1/suites/universe/published", params={"limit": 300, "offset": offset}
        ).json()
        rows += page["rows"]
        offset = page["next"]

    assert len(rows) == page["total"] > 600


def test_what_is_not_there_says_what_is(api: TestClient) -> None:
    answer = api.get("/v1/suites/nowhere/ranking")

    assert answer.status_code == 404
    assert "tailor" in answer.json()["detail"]


def test_an_output_is_served_in_ranges_and_nothing_else_of_the_store_is(api: TestClient) -> None:
    asked = {"metric": "index", "modality": "video"}
    item = api.get("/v1/runs/run-aurora-auto/samples", params=asked).json()["rows"][0]

    part = api.get(f"/v1/media/{item['media_sha256']}", headers={"Range": "bytes=0-9"})
    other = api.get(f"/v1/media/{'0' * 64}")

    assert (part.status_code, len(part.content), part.headers["content-type"]) == (
        206,
        10,
        "video/mp4",
    )
    assert other.status_code == 404


def test_a_contact_address_is_not_public(api: TestClient) -> None:
    assert "contact" not in api.get("/v1/models/sub-aurora").json()["manifest"]


def test_without_a_database_the_api_asks_to_come_again(at_nothing: Settings) -> None:
    answer = TestClient(create(at_nothing)).get("/v1/suites")

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "60"


def test_the_description_of_the_api_needs_no_network(api: TestClient) -> None:
    page = api.get("/v1/docs")

    assert page.headers["content-type"].startswith("text/html")
    assert "GET /v1/suites/{suite}/ranking" in page.text
    assert "http://" not in page.text and "https://" not in page.text
    assert "<script" not in page.text


def test_a_badge_says_rank_figure_and_that_it_is_a_demo(api: TestClient) -> None:
    badge = api.get("/v1/runs/run-aurora-auto/badge.svg")
    absent = api.get("/v1/runs/run-none/badge.svg")

    assert badge.headers["content-type"] == "image/svg+xml"
    assert "#1 of" in badge.text and "demo subset" in badge.text and "Index" in badge.text
    assert absent.status_code == 404


def test_a_run_without_a_receipt_is_told_in_words(api: TestClient) -> None:
    answer = api.get("/v1/runs/run-none/receipt")

    assert answer.status_code == 404
    assert "receipt" in answer.json()["detail"]


def test_a_hostile_name_is_text_in_a_badge(api: TestClient) -> None:
    badge = api.get("/v1/runs/run-hostile0-auto/badge.svg")

    assert badge.status_code == 200
    assert "<script" not in badge.text
