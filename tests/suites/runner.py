"""Runs a test of a suite: requests by their definitions, and what is expected of the answers."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx2

from suites.definitions import SuiteTest

FEATURES = frozenset(
    ("allowed_warnings", "arbitrary_key", "contains", "default_shards", "headers", "regex", "warnings")
)
STATUSES = {
    "missing": (404,),
    "bad_request": (400,),
    "conflict": (409,),
    "forbidden": (403,),
    "unauthorized": (401,),
    "request_timeout": (408,),
    "unavailable": (503,),
}
SEARCHES = ("search", "msearch", "count")
"""Requests that are sent again with `dedupe=off`."""

SECONDS = 30


class Skipped(Exception):
    """A test that needs what this runner, or a server of this version, does not have."""


class Failed(Exception):
    """A step that was not as the test wants it."""


class Runner:
    """Runs tests against one address.

    Args:
        url: The address.
        requests: What each request is called, and which paths and parameters it has.
        version: The server's.
        again: Whether searches are sent again with `dedupe=off`, and have to be answered alike.
    """

    def __init__(self, url: str, requests: Mapping[str, Any], version: tuple[int, ...], *, again: bool = False) -> None:
        self._requests, self._version, self._again = requests, version, again
        self._client = httpx2.Client(base_url=url, timeout=SECONDS)
        self._stash: dict[str, Any] = {}
        self._answers: list[Any] = []

    def close(self) -> None:
        self._client.close()

    def run(self, test: SuiteTest) -> None:
        """Run a test.

        Raises:
            Failed: A step was not as the test wants it.
            Skipped: It is not for this runner.
        """
        self._stash, self._answers = {}, []
        try:
            for step in (*test.setup, *test.steps):
                self._step(step)
        finally:
            for step in test.teardown:
                try:
                    self._step(step)
                except Failed:
                    continue

    def _step(self, step: Mapping[str, Any]) -> None:
        ((verb, said),) = step.items()
        if verb == "skip":
            self._skip(said)
        elif verb == "do":
            self._do(said)
        elif verb == "set":
            ((path, name),) = said.items()
            self._stash[name] = self._value(self._answers[0], path)
        elif verb in CHECKS:
            for answer in self._answers:
                self._check(verb, said, answer)
        else:
            raise Skipped(verb)

    def _skip(self, said: Mapping[str, Any]) -> None:
        features = said.get("features", [])
        named = features if isinstance(features, list) else [each.strip() for each in str(features).split(",")]
        if unknown := set(named) - FEATURES - {""}:
            raise Skipped(f"features {sorted(unknown)}")
        for some in str(said.get("version", "")).split(","):
            if some.strip() and within(some.strip(), self._version):
                raise Skipped(f"version {some}")

    def _do(self, said: Mapping[str, Any]) -> None:
        asked = {name: value for name, value in said.items() if name not in AROUND}
        if len(asked) != 1:
            raise Skipped(f"{sorted(asked)}")
        ((name, arguments),) = asked.items()
        if name not in self._requests or said.get("catch") == "param" or "node_selector" in said:
            raise Skipped(name)
        given = self._filled(arguments or {})
        first = self._sent(name, given, said)
        self._answers = [first]
        if self._again and name in SEARCHES:
            self._answers.append(self._sent(name, {**given, "dedupe": "off"}, said))

    def _sent(self, name: str, given: dict[str, Any], said: Mapping[str, Any]) -> Any:
        method, path, query, content = self._request(name, given)
        headers = {str(key).lower(): str(value) for key, value in (said.get("headers") or {}).items()}
        lines = name in ("bulk", "msearch")
        if content is not None:
            headers.setdefault("content-type", "application/x-ndjson" if lines else "application/json")
        answer = self._client.request(method, path, params=query, content=content, headers=headers)
        label = f"{name}{' with dedupe=off' if 'dedupe' in given else ''}"
        check_status(answer, said.get("catch"), given.get("ignore"), method, label)
        if method == "HEAD":
            return answer.status_code < 400
        kind = answer.headers.get("content-type", "")
        return json.loads(answer.content) if "json" in kind and answer.content else answer.text

    def _request(self, name: str, given: dict[str, Any]) -> tuple[str, str, dict[str, str], bytes | None]:
        paths = self._requests[name]["url"]["paths"]
        fitting = [each for each in paths if all(part in given for part in each.get("parts", {}))]
        if not fitting:
            raise Skipped(f"{name} without a path")
        chosen = max(fitting, key=lambda each: len(each.get("parts", {})))
        body = given.get("body")
        methods = chosen["methods"]
        method = "POST" if body is not None and "POST" in methods and "PUT" not in methods else methods[0]
        path = chosen["path"]
        parts = set(chosen.get("parts", {}))
        for part in parts:
            path = path.replace(f"{{{part}}}", quote(as_text(given[part]), safe=",*"))
        query = {key: as_text(value) for key, value in given.items() if key not in {*parts, "body", "ignore"}}
        return method, path, query, as_content(body)

    def _filled(self, value: Any) -> Any:
        """Put in what was set before."""
        if isinstance(value, dict):
            return {self._filled(name): self._filled(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        if isinstance(value, str) and value.startswith("$") and value.strip("${}") in self._stash:
            return self._stash[value.strip("${}")]
        return value

    def _value(self, answer: Any, path: str) -> Any:
        if path in ("", "$body"):
            return answer
        value = answer
        for part in steps_of(path):
            name = str(self._stash.get(part[1:], part)) if part.startswith("$") else part
            if name == "_arbitrary_key_" and isinstance(value, dict) and value:
                return next(iter(value))
            if isinstance(value, dict):
                value = value.get(name)
            elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return value

    def _check(self, verb: str, said: Any, answer: Any) -> None:
        pairs = said.items() if isinstance(said, dict) else [(said, None)]
        for path, expected in pairs:
            found, wanted = self._value(answer, str(path)), self._filled(expected)
            try:
                right = CHECKS[verb](found, wanted)
            except TypeError:
                right = False
            except re.error as error:
                raise Skipped(f"expression {wanted}") from error
            if not right:
                raise Failed(f"{verb} {path}: {json.dumps(found)[:200]}, wanted {json.dumps(wanted)[:200]}")


AROUND = (
    "catch",
    "headers",
    "warnings",
    "allowed_warnings",
    "warnings_regex",
    "allowed_warnings_regex",
    "node_selector",
)


def check_status(answer: httpx2.Response, caught: str | None, ignored: Any, method: str, label: str) -> None:
    """Check that a request went as the test wants it."""
    status = answer.status_code
    codes = {int(each) for each in (ignored if isinstance(ignored, list) else [ignored]) if each is not None}
    if status in codes or (method == "HEAD" and status == 404):
        return
    if caught is None:
        if status >= 400:
            raise Failed(f"{label}: {status} {answer.text[:300]}")
        return
    if status < 400:
        raise Failed(f"{label}: {status}, wanted {caught}")
    if caught in STATUSES and status not in STATUSES[caught]:
        raise Failed(f"{label}: {status}, wanted {caught}")
    if caught.startswith("/") and not expression(caught).search(answer.text):
        raise Failed(f"{label}: {answer.text[:300]}, wanted {caught}")


def expression(written: str) -> re.Pattern[str]:
    """Read a regular expression between strokes."""
    try:
        return re.compile(written.strip().strip("/").replace("\\/", "/"), re.VERBOSE | re.DOTALL)
    except re.error as error:
        raise Skipped(f"expression {written}") from error


def equal(found: Any, wanted: Any) -> bool:
    """Compare as the engines' own runners do: numbers by value, texts between strokes as expressions."""
    if isinstance(wanted, str) and len(wanted.strip()) > 1 and wanted.strip()[0] == wanted.strip()[-1] == "/":
        return expression(wanted).search(str(found)) is not None
    if isinstance(wanted, int | float) and isinstance(found, int | float) and not isinstance(found, bool):
        return float(found) == float(wanted)
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(equal(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(equal, found, wanted))
    return bool(found == wanted)


def empty(value: Any) -> bool:
    """Tell whether a value counts as false."""
    return value in (None, "", False, 0, "false", "0")


CHECKS = {
    "match": equal,
    "is_true": lambda found, _: not empty(found) or found in ({}, []),
    "is_false": lambda found, _: empty(found),
    "length": lambda found, wanted: found is not None and len(found) == int(wanted),
    "gt": lambda found, wanted: found > wanted,
    "gte": lambda found, wanted: found >= wanted,
    "lt": lambda found, wanted: found < wanted,
    "lte": lambda found, wanted: found <= wanted,
    "contains": lambda found, wanted: any(contains(each, wanted) for each in found),
}


def contains(found: Any, wanted: Any) -> bool:
    """Tell whether an entry is, or has the members of, what is wanted."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(equal(found.get(name), value) for name, value in wanted.items())
    return equal(found, wanted)


def steps_of(path: str) -> Iterator[str]:
    """Cut a path at its dots, but for those behind a stroke."""
    for part in re.split(r"(?<!\\)\.", path):
        yield part.replace("\\.", ".")


def within(versions: str, version: tuple[int, ...]) -> bool:
    """Tell whether a version lies in a range such as ` - 2.9.99`."""
    if versions == "all":
        return True
    low, _, high = versions.partition("-")
    return numbers(low, (0,)) <= version <= numbers(high, (999,))


def numbers(text: str, missing: tuple[int, ...]) -> tuple[int, ...]:
    found = tuple(int(each) for each in re.findall(r"\d+", text))
    return found or missing


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(as_text, value))
    return "" if value is None else str(value)


def as_content(body: Any) -> bytes | None:
    """Write a body: lists as lines, texts as they are."""
    if body is None:
        return None
    if isinstance(body, list):
        return b"".join(each.rstrip().encode() + b"\n" if isinstance(each, str) else line(each) for each in body)
    return body.encode() if isinstance(body, str) else json.dumps(body, default=str).encode()


def line(value: object) -> bytes:
    return json.dumps(value, default=str).encode() + b"\n"


def passes(runner: Runner, test: SuiteTest) -> str:
    """Run a test; returns why it fails, or nothing."""
    try:
        runner.run(test)
    except Failed as failed:
        return str(failed)
    except httpx2.HTTPError as error:
        return f"{type(error).__name__}: {error}"
    return ""
