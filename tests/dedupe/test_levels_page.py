"""The page `docs/levels.md` tells the figures that decide."""

from pathlib import Path

from ibidem_dedupe.policy import Policy

PAGE = (Path(__file__).parents[2] / "docs" / "levels.md").read_text(encoding="utf-8")


def test_the_page_tells_the_default_figures() -> None:
    policy = Policy()
    assert policy.slots is not None
    assert policy.terms is not None
    assert policy.fingerprint is not None
    assert (policy.slots.equal, policy.profile) == (50, None)
    assert "half of 100 samples equal" in PAGE
    terms, printed = policy.terms, policy.fingerprint
    rare = f"{round(terms.share * terms.smallest)} of the {terms.smallest} rarest terms shared"
    assert f"| {rare}, lengths within {100 - round(100 * terms.lengths)} %, numbers that agree |" in PAGE
    length = f"lengths within {100 - round(100 * printed.lengths)} %"
    assert f"| equal, {length}, equal numbers, at least {printed.shortest} words |" in PAGE
