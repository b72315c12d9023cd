"""A caller is known by its user name; its secrets are passed on and never printed."""

import pytest

from ibidem_gateway.upstream import Caller


def test_only_headers_that_carry_the_callers_own_rights_are_kept() -> None:
    headers = {"Authorization": "Bearer x", "X-Forwarded-For": "10.0.0.1", "x-proxy-user": "admin", "Cookie": "a=b"}
    assert Caller.read(headers).headers == (("authorization", "Bearer x"),)


@pytest.mark.parametrize("value", ["Bearer YWRhOnB3", "Basic %%%", "Basic /w==", "", "Basic"])
def test_a_caller_without_user_and_password_has_no_name(value: str) -> None:
    assert Caller.read({"authorization": value}).name == ""


def test_a_callers_secrets_are_not_printed() -> None:
    assert "YWRhOnB3" not in repr(Caller.read({"authorization": "Basic YWRhOnB3"}))
