"""A list names the members of groups on earlier pages by their titles."""

from contextlib import closing

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_gateway.page.reading import LATE, late_members


def test_members_of_groups_on_earlier_pages_have_their_titles(settings: Settings) -> None:
    with closing(open_engine(settings.engine, settings.index)) as engine:
        names = ["letter", "deleted since", *["lease"] * LATE, "copy"]
        late = [{"index": settings.index, "id": name, "group": "g", "page": 1} for name in names]
        named = late_members(engine, late)
    assert [each["title"] for each in named[:2]] == ["A reminder", ""]
    assert ([each["id"] for each in named], named[-1]["title"]) == (names, "")
