"""The page in a real browser, as a researcher uses it."""

import re
from importlib.resources import files

import pytest
from playwright.sync_api import Page, expect

from gateway.browser.conftest import Open
from support.some import some

pytestmark = pytest.mark.server("opensearch")
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
DARK, PHONE = {"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 740}}


def serious(page: Page) -> list[str]:
    """Return the findings of axe-core that matter, each with the elements at fault."""
    page.evaluate(AXE)
    violations = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{each['id']}: {[node['target'] for node in each['nodes']]}"
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]


def test_modes_are_switched_and_a_collapsed_group_opens_in_place(visit: Open) -> None:
    page = visit("/?q=drains")
    page.locator("select[name=dedupe]").select_option("collapse")
    page.get_by_role("button", name="Search", exact=True).click()
    assert "dedupe=collapse" in page.url
    copies = page.locator(".duplicate")
    expect(copies.first).to_be_hidden()
    page.get_by_text("2 duplicates").click()
    expect(copies.first).to_be_visible()
    expect(copies.filter(has_text="draft").locator("ins")).to_have_text("only in the duplicate: York")
    page.locator("select[name=dedupe]").select_option("off")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".group")).to_have_count(5)


def test_a_large_group_opens_in_its_place_some_at_a_time(visit: Open) -> None:
    page = visit("/?q=trespassers")
    copies = page.locator(".duplicate")
    expect(copies).to_have_count(3)
    page.get_by_role("link", name="Show all 104").click()
    expect(copies).to_have_count(103)
    page.get_by_role("link", name="Show more: 103 of 104 are shown").click()
    expect(copies).to_have_count(104)
    expect(page.locator("a.rest")).to_have_count(0)
    assert page.url.endswith("/?q=trespassers")


def test_all_of_it_works_without_scripts(visit: Open) -> None:
    page = visit("/?q=drains&dedupe=collapse", java_script_enabled=False)
    page.get_by_text("2 duplicates").click()
    expect(page.locator(".duplicate").first).to_be_visible()
    page.get_by_role("searchbox").fill("rent")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("15 documents in 13 groups")


def test_the_list_is_walked_with_the_keyboard_alone(visit: Open) -> None:
    page = visit("/?q=drains&dedupe=collapse")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator("#g1")).to_be_focused()
    group_or_link = page.locator(".group").filter(has_text="2 duplicates")
    while not group_or_link.evaluate("place => place === document.activeElement"):
        page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.locator(".duplicate").first).to_be_visible()
    page.keyboard.press("o")
    expect(page.locator(".duplicate").first).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("rent")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("q=rent"))


@pytest.mark.parametrize("address", ["/?q=drains", "/"])
def test_options_are_folded_on_a_phone_and_open_as_a_sheet(visit: Open, address: str) -> None:
    expect(visit(address).get_by_label("Order")).to_be_visible()
    phone = visit(address, **PHONE)
    order = phone.get_by_label("Order")
    expect(order).to_be_hidden()
    phone.get_by_role("link", name="Options").click()
    expect(order).to_be_in_viewport()
    phone.keyboard.press("Escape")
    expect(order).to_be_hidden()


def test_filters_are_a_rail_on_a_wide_window_and_a_sheet_on_a_phone(visit: Open) -> None:
    page = visit("/?q=drains")
    rail = page.get_by_role("complementary", name="Filters")
    expect(rail).to_be_visible()
    expect(rail.get_by_role("heading")).to_have_text(["Source", "Language", "Year"])
    assert " ".join(rail.locator("li").filter(has_text="Chambers").inner_text().split()) == (
        "Chambers 2 documents in 1 group"
    )
    phone = visit("/?q=drains", **PHONE)
    sheet = phone.get_by_role("complementary", name="Filters")
    expect(sheet).to_be_hidden()
    phone.get_by_role("link", name="Filters").click()
    expect(sheet).to_be_in_viewport()
    phone.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    phone.get_by_role("link", name="Filters").click()
    sheet.get_by_role("link", name="ar", exact=True).click()
    expect(phone.locator(".lead .id")).to_have_text(["rtl"])
    assert "language=ar" in phone.url


def test_a_date_is_typed_or_chosen_from_a_calendar(visit: Open) -> None:
    page = visit("/?q=drains")
    page.locator("input[name=since]").fill("1 June 2001")
    page.locator(".picker").last.evaluate(
        "field => { field.value = '2001-07-31'; field.dispatchEvent(new Event('change')) }"
    )
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".lead .id")).to_have_text(["copy"])
    expect(page.locator("input[name=since]")).to_have_value("1 June 2001")
    expect(page.locator("input[name=until]")).to_have_value("31 July 2001")


def test_a_duplicate_is_parted_from_its_lead_in_the_list(visit: Open) -> None:
    page = visit("/?q=drains&date=2001")
    page.locator(".duplicate").filter(has_text="draft").get_by_role("button", name="Not a duplicate").click()
    expect(page.locator(".duplicate")).to_have_count(1)
    assert "/?q=drains&date=2001" in page.url
    said = page.get_by_role("status").filter(has_text="Marked as not duplicates")
    said.get_by_role("button", name="Undo").click()
    expect(page.locator(".duplicate")).to_have_count(2)
    page.goto("/?q=drains")
    page.locator(".duplicate").filter(has_text="draft").get_by_role("button", name="Same").click()
    expect(page.locator(".duplicate").filter(has_text="draft")).to_contain_text("declared the same")
    page.goto("/ibidem/page/compare?a=lease&b=draft")
    page.get_by_role("button", name="Undo").click()
    page.get_by_label("Reason").fill("other courts")
    page.get_by_role("button", name="Not a duplicate").click()
    expect(page.get_by_role("region", name="Manual decisions")).to_contain_text("other courts")
    page.goto("/ibidem/page/overrides")
    page.get_by_role("listitem").filter(has_text="Lease (draft)").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("No manual decisions yet")).to_be_visible()


def test_matches_are_walked_on_the_document_page(visit: Open) -> None:
    page = visit("/?q=rent+drains")
    page.locator(".lead .title").filter(has_text="Lease").click()
    page.wait_for_url("**/document?**")
    page.keyboard.press("n")
    expect(page.locator("#m1")).to_be_focused()
    page.keyboard.press("n")
    expect(page.locator("#m2")).to_be_focused()
    page.keyboard.press("p")
    expect(page.locator("#m1")).to_be_focused()
    page.get_by_role("link", name="Back to results").click()
    expect(page.get_by_role("status")).to_contain_text("3 documents in 1 group;")


def test_the_way_back_keeps_opened_groups_and_further_duplicates(visit: Open) -> None:
    page = visit("/?q=trespassers&dedupe=collapse")
    copies = page.locator(".duplicate")
    page.locator("summary").filter(has_text="104 duplicates").click()
    page.get_by_role("link", name="Show all 104").click()
    expect(copies).to_have_count(104)
    page.locator(".lead .title").click()
    page.wait_for_url("**/document?**")
    page.go_back()
    expect(copies).to_have_count(104)
    expect(copies.first).to_be_visible()


def test_a_source_written_from_right_to_left_moves_neither_date_nor_id(visit: Open) -> None:
    page = visit("/?q=drains&language=ar")
    date, source, name = (some(each.bounding_box()) for each in page.locator(".lead .about bdi").all())
    assert date["x"] < source["x"] < name["x"]


def test_hostile_documents_stay_inert(visit: Open) -> None:
    for path in ("/?q=drains", "/ibidem/page/document?id=evil", "/ibidem/page/compare?a=lease&b=evil"):
        page = visit(path)
        assert page.title() != "caught"
        assert page.locator("img, main script").count() == 0
        assert page.locator("a[href^=javascript]").count() == 0


@pytest.mark.parametrize("options", [{}, DARK, PHONE], ids=["light", "dark", "phone"])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?q=drains",
        "/?q=drains&dedupe=collapse",
        "/?q=drains#filters",
        "/?q=zzz",
        "/ibidem/page/document?id=lease",
        "/ibidem/page/document?q=drains&id=lease",
        "/ibidem/page/inspect?id=lease",
        "/ibidem/page/compare?a=lease&b=draft",
        "/ibidem/page/overrides",
    ],
)
def test_no_page_shuts_anybody_out_or_is_wider_than_its_window(
    visit: Open, path: str, options: dict[str, object]
) -> None:
    page = visit(path, **options)
    assert not serious(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
