"""What readers do, in a real browser: read, filter, link, sort, download, look, compare, hand in
and watch."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from infra.db import session
from infra.settings import Settings
from leaderboard.queries import ranking
from leaderboard.queries.ranking import BoardAddress
from submissions.teams import tokens
from tests.browser.visit import PATIENCE, Visit
from tests.command import Machine
from tests.leaderboard.pages import VIEWS

pytestmark = pytest.mark.xdist_group("browser")
PATHS = {"overview": "", "model": "model?id=sub-aurora", "submit": "submit?id=sub-open1"}


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_is_sound_at_a_desk_and_on_a_phone(view: str, visit: Visit) -> None:
    at_desk = visit.go(PATHS.get(view, view)).shot(view).is_sound()

    small = visit.sized("phone", 390, 844).shot(view)

    assert at_desk
    assert small.is_sound()


def test_the_front_page_leads_to_a_suites_ranking(visit: Visit) -> None:
    visit.go("")

    visit.page.get_by_role("link", name="Open the ranking").nth(2).click()

    visit.page.wait_for_url("**/ranking?suite=sc3*", timeout=PATIENCE)
    expect(visit.page.get_by_role("heading", name="Ranking")).to_be_visible()


def test_the_front_page_typed_by_its_name_is_the_front_page(visit: Visit) -> None:
    visit.go("overview")

    expect(visit.page.get_by_role("heading", name="The open leaderboard")).to_be_visible()
    assert visit.page.get_by_role("dialog").count() == 0


def test_a_filter_goes_into_the_address_and_a_fresh_browser_restores_it(
    visit: Visit, phone: Visit, site: tuple[str, Settings]
) -> None:
    visit.go("ranking?suite=tailor").choose("Scenario", "Impossible").choose(
        "Metric", "Physical realism ↑"
    )
    visit.page.wait_for_url("**metric=physical_realism**scenario=impossible**", timeout=PATIENCE)

    phone.go(visit.page.url.removeprefix(f"{visit.url}/"))

    (board,) = parse_qs(urlsplit(visit.page.url).query)["board"]
    with session(site[1].database) as db:
        rows = ranking.ranking(db, "tailor", "physical_realism", BoardAddress("impossible"))
    leader = next(entry.model for entry in rows if entry.board == board)
    assert phone.leads_with("1", leader)
    assert visit.leads_with("1", leader)
    expect(phone.page.get_by_text("Physical realism (0 to 5)").first).to_be_visible()


def test_a_search_and_a_long_list_open_when_they_are_asked_for(visit: Visit) -> None:
    visit.go("ranking?suite=liva").page.get_by_role("button", name="Metric:").click()
    visit.page.get_by_role("combobox", name="Metric").fill("plaus")
    visit.page.get_by_role("option").first.click()
    visit.page.wait_for_url("**metric=pps**", timeout=PATIENCE)

    visit.go("ranking?suite=tailor&scenario=*").page.get_by_role(
        "button", name="Search"
    ).first.click()
    visit.page.get_by_role("textbox", name="Search").fill("basalt")
    visit.page.keyboard.press("Enter")

    visit.page.wait_for_url("**q=basalt**", timeout=PATIENCE)
    assert visit.leads_with("1", "Basalt-XL")


def test_the_back_button_takes_a_choice_back(visit: Visit) -> None:
    visit.go("ranking?suite=tailor&scenario=regular&setting=predictive&modality=image")
    suite = visit.page.get_by_role("radio", name="SC3-Eval").or_(
        visit.page.get_by_role("button", name="SC3-Eval")
    )
    suite.first.click()
    visit.page.wait_for_url("**suite=sc3**", timeout=PATIENCE)
    expect(visit.page.get_by_text("Robot policies inside")).to_be_visible(timeout=PATIENCE)

    visit.page.go_back()

    visit.page.wait_for_url("**suite=tailor**", timeout=PATIENCE)
    expect(visit.page.get_by_text("Long-tail tool use")).to_be_visible(timeout=PATIENCE)


def test_a_click_on_a_head_sorts_the_table_and_the_address_follows(visit: Visit) -> None:
    visit.go("ranking?suite=tailor&metric=index&scenario=*&setting=*&modality=*&task=*")
    best_first = visit.ranked_names()
    head = visit.page.locator("table.arm-table thead th", has_text="Physical realism")

    head.locator("a").click()
    visit.page.wait_for_url("**metric=physical_realism**", timeout=PATIENCE)
    expect(head).to_have_attribute("aria-sort", "descending", timeout=PATIENCE)
    by_realism = visit.ranked_names()
    head.locator("a").click()
    visit.page.wait_for_url("**sort=worst**", timeout=PATIENCE)
    expect(head).to_have_attribute("aria-sort", "ascending", timeout=PATIENCE)

    assert sorted(by_realism) == sorted(best_first) and len(by_realism) > 3
    assert visit.ranked_names() == by_realism[::-1]


def test_a_name_in_the_ranking_opens_its_model(visit: Visit) -> None:
    visit.go("ranking?suite=tailor&scenario=*")

    visit.page.get_by_role("link", name="Aurora Video 2").first.click()

    visit.page.wait_for_url("**/model?id=sub-aurora", timeout=PATIENCE)
    expect(visit.page.get_by_role("heading", name="Aurora Video 2")).to_be_visible(timeout=PATIENCE)
    expect(visit.page.locator(".arm-card")).to_contain_text("#1")


def test_the_ranking_is_reached_and_sorted_by_keyboard(visit: Visit) -> None:
    visit.go("ranking?suite=tailor&scenario=*")
    link = visit.page.locator("table.arm-table thead th", has_text="Perceptual quality").locator(
        "a"
    )

    link.focus()
    visit.page.keyboard.press("Enter")

    visit.page.wait_for_url("**metric=perceptual_quality**", timeout=PATIENCE)


def test_the_view_can_be_taken_along_as_csv(visit: Visit) -> None:
    visit.go("ranking?suite=tailor&metric=instruction_adherence&scenario=*")

    with visit.page.expect_download(timeout=PATIENCE) as waiting:
        visit.page.locator("[data-testid=stDownloadButton] button", has_text="CSV").first.click()

    text = Path(waiting.value.path()).read_text("utf-8")
    assert text.startswith("Rank,Model,Instruction adherence")
    assert "Aurora Video 2" in text


def test_a_chart_can_be_taken_along_as_svg_and_png(visit: Visit) -> None:
    visit.go("ranking?suite=tailor&scenario=*")

    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with visit.page.expect_download(timeout=PATIENCE) as waiting:
            visit.page.get_by_role("button", name=f"Chart as {kind}").first.click()

        assert Path(waiting.value.path()).read_bytes().startswith(start)


def test_from_a_tile_to_the_answers_behind_it(visit: Visit) -> None:
    visit.go("samples?run=run-aurora-auto&metric=index&modality=image")

    visit.page.get_by_role("button", name="Look closer").first.click()

    expect(visit.page.get_by_text("Questions and answers")).to_be_visible(timeout=PATIENCE)
    expect(visit.page.locator("[role=columnheader]", has_text="Dice judge").first).to_be_attached(
        timeout=PATIENCE
    )
    visit.page.wait_for_url("**sample=*", timeout=PATIENCE)
    visit.shot("sample")


def test_a_clip_plays(visit: Visit) -> None:
    visit.go("samples?run=run-aurora-auto&sample=cut_garden_twine.0.predictive.video")
    video = visit.page.locator("video")
    expect(video).to_be_visible(timeout=PATIENCE)

    video.evaluate("element => { element.muted = true; return element.play(); }")

    visit.page.wait_for_function(
        "document.querySelector('video').currentTime > 0.2", timeout=PATIENCE
    )
    visit.shot("clip")


def test_two_entries_side_by_side(visit: Visit) -> None:
    visit.go("compare?runs=run-aurora-auto,run-basalt-auto")

    expect(visit.page.get_by_text("Where they differ most")).to_be_visible(timeout=PATIENCE)
    assert "Aurora Video 2 − Basalt-XL" in visit.cells()


def test_a_cell_of_a_published_table_leads_to_its_source(visit: Visit) -> None:
    visit.go("papers?suite=tailor")
    table = visit.page.locator("[data-testid=stDataFrame]").first

    table.locator(".dvn-scroller").click(position={"x": 450, "y": 55})

    expect(visit.page.get_by_role("link", name="Open the paper")).to_be_visible(timeout=PATIENCE)
    visit.shot("published-source")


def test_hostile_names_are_only_ever_text(visit: Visit) -> None:
    opened: list[str] = []
    visit.page.on("dialog", lambda dialog: opened.append(dialog.message))
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))

    for path in (
        "ranking?suite=tailor&scenario=*",
        "model?id=sub-hostile4",
        "model?id=sub-hostile3",
    ):
        visit.go(path)
        assert visit.is_sound(), path

    assert not opened
    assert not [url for url in asked if "example.invalid" in url]
    assert visit.page.locator("script", has_text="alert(1)").count() == 0
    visit.shot("hostile")


def test_a_bundle_handed_in_on_the_page_is_watched_to_the_board(
    visit: Visit, site: tuple[str, Settings]
) -> None:
    settings = site[1]
    bundle = _bundle(settings)
    visit.go("submit")
    visit.page.get_by_label("Your team's token").fill(_token(settings, bundle))
    visit.page.get_by_role("button", name="Quota left").click(timeout=PATIENCE)
    expect(visit.page.get_by_text("tailor: 3")).to_be_visible(timeout=PATIENCE)
    visit.page.get_by_label("A bundle (zip)").set_input_files(bundle)
    visit.page.get_by_role("button", name="Hand in").click(timeout=PATIENCE)
    visit.page.wait_for_url("**id=sub-*", timeout=PATIENCE)
    visit.shot("received")
    received = visit.page.url.partition("id=")[2]

    visit.go(f"submit?id={received}")
    expect(visit.page.get_by_text("before it in the queue")).to_be_visible(timeout=PATIENCE)
    Machine(settings.home, {"ARMILLARY_ENGINE": "here"}).run("evaluate", received)

    expect(visit.page.get_by_text("Published", exact=True).first).to_be_visible(timeout=PATIENCE)
    visit.shot("published")


def test_a_bad_bundle_is_told_in_the_browser_before_a_byte_is_sent(
    visit: Visit, site: tuple[str, Settings], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(_bundle(site[1])) as good, zipfile.ZipFile(bad, "w") as bundle:
        manifest = json.loads(good.read("manifest.json"))
        bundle.writestr("manifest.json", json.dumps({**manifest, "suite_version": "9.9"}))
        bundle.writestr("outputs/extra.png", b"x")
    sent: list[str] = []
    visit.page.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    visit.go("submit")

    visit.page.get_by_label("A bundle (zip)").set_input_files(bad)

    for words in ("version 9.9 of tailor", "not in the zip", "not in the manifest"):
        expect(visit.page.get_by_text(words)).to_be_visible(timeout=PATIENCE)
    expect(visit.page.get_by_role("button", name="Hand in")).to_be_disabled()
    visit.page.get_by_label("A bundle (zip)").set_input_files(_bundle(site[1]))
    expect(visit.page.get_by_text("Good as far as a browser sees")).to_be_visible(timeout=PATIENCE)
    expect(visit.page.get_by_role("button", name="Hand in")).to_be_enabled()
    assert not [request for request in sent if request.startswith(("POST", "PUT"))]


def test_a_stranger_asks_an_operator_confirms_and_the_token_is_picked_up_once(
    visit: Visit, site: tuple[str, Settings]
) -> None:
    with session(site[1].database) as db:
        tokens.add_team(db, "The operators")
        key = tokens.create(db, "The operators", ["operate"])
    visit.go("submit")
    visit.page.get_by_text("Get a token").click()
    visit.page.get_by_label("Team, as the board shows it").fill("Night Herons")
    visit.page.get_by_label("E-mail address, not shown").fill("herons@example.org")
    visit.page.get_by_role("button", name="Ask for a token").click()
    code = visit.page.locator("code", has_text="req-").inner_text(timeout=PATIENCE).strip()

    visit.go("teams")
    visit.page.get_by_label("Token with the scope operate").fill(key)
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_text("Night Herons")).to_be_visible(timeout=PATIENCE)
    visit.shot("teams")
    visit.page.get_by_role("button", name="Confirm").click()
    expect(visit.page.get_by_text("Nobody waits for a token.")).to_be_visible(timeout=PATIENCE)
    visit.go("submit")
    visit.page.get_by_text("Get a token").click()
    visit.page.get_by_label("Code of your request").fill(code)
    visit.page.get_by_role("button", name="Look whether it is confirmed").click()

    token = visit.page.locator("code", has_text="arm_").inner_text(timeout=PATIENCE).strip()
    with session(site[1].database) as db:
        assert tokens.caller(db, token, "here", 9).team == "Night Herons"


def _bundle(settings: Settings) -> Path:
    from flows.cli.demos.tailor import outputs_bundle

    return outputs_bundle(settings)


def _token(settings: Settings, bundle: Path) -> str:
    """A key for the team that the bundle names."""
    with zipfile.ZipFile(bundle) as archive, session(settings.database) as db:
        team = json.loads(archive.read("manifest.json"))["team"]
        tokens.add_team(db, team)
        return tokens.create(db, team)
