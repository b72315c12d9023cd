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
SEARCHES = ("search", "msearch")  # requests that are sent again with `dedupe=off`

SECONDS = 30


class Skipped(Exception):
    """A test that needs what this runner, or a server of this version, does not have."""


class Failed(Exception):
    """A step that was not as the test wants it."""


class Runner:
    """Runs tests against one address."""

    def __init__(self, url: str, requests: Mapping[str, Any], version: tuple[int, ...], *, retry: bool = False) -> None:
        self._requests, self._version, self._retry = requests, version, retry
        self._client = httpx2.Client(base_url=url, timeout=SECONDS)
        self._stash: dict[str, Any] = {}
        self._answers: list[Any] = []

    def close(self) -> None:
        self._client.close()

    def run(self, test: SuiteTest) -> None:
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
        ((verb, instruction),) = step.items()
        if verb == "skip":
            self._skip(instruction)
        elif verb == "do":
            self._do(instruction)
        elif verb == "set":
            ((path, name),) = instruction.items()
            self._stash[name] = self._value(self._answers[0], path)
        elif verb in CHECKS:
            for answer in self._answers:
                self._check(verb, instruction, answer)
        else:
            raise Skipped(verb)

    def _skip(self, instruction: Mapping[str, Any]) -> None:
        features = instruction.get("features", [])
        names = features if isinstance(features, list) else [each.strip() for each in str(features).split(",")]
        if unknown := set(names) - FEATURES - {""}:
            raise Skipped(f"features {sorted(unknown)}")
        for part in str(instruction.get("version", "")).split(","):
            if part.strip() and within(part.strip(), self._version):
                raise Skipped(f"version {part}")

    def _do(self, instruction: Mapping[str, Any]) -> None:
        request = {name: value for name, value in instruction.items() if name not in AROUND}
        if len(request) != 1:
            raise Skipped(f"{sorted(request)}")
        ((name, arguments),) = request.items()
        if name not in self._requests or instruction.get("catch") == "param" or "node_selector" in instruction:
            raise Skipped(name)
        parameters = self._filled(arguments or {})
        first = self._sent(name, parameters, instruction)
        self._answers = [first]
        if self._retry and name in SEARCHES:
            self._answers.append(self._sent(name, {**parameters, "dedupe": "off"}, instruction))

    def _sent(self, name: str, parameters: dict[str, Any], instruction: Mapping[str, Any]) -> Any:
        method, path, query, content = self._request(name, parameters)
        headers = {str(key).lower(): str(value) for key, value in (instruction.get("headers") or {}).items()}
        lines = name in ("bulk", "msearch")
        if content is not None:
            headers.setdefault("content-type", "application/x-ndjson" if lines else "application/json")
        answer = self._client.request(method, path, params=query, content=content, headers=headers)
        label = f"{name}{' with dedupe=off' if 'dedupe' in parameters else ''}"
        check_status(answer, instruction.get("catch"), parameters.get("ignore"), method, label)
        if method == "HEAD":
            return answer.status_code < 400
        kind = answer.headers.get("content-type", "")
        return json.loads(answer.content) if "json" in kind and answer.content else answer.text

    def _request(self, name: str, parameters: dict[str, Any]) -> tuple[str, str, dict[str, str], bytes | None]:
        paths = self._requests[name]["url"]["paths"]
        is_fitting = [each for each in paths if all(part in parameters for part in each.get("parts", {}))]
        if not is_fitting:
            raise Skipped(f"{name} without a path")
        definition = max(is_fitting, key=lambda each: len(each.get("parts", {})))
        body = parameters.get("body")
        methods = definition["methods"]
        method = "POST" if body is not None and "POST" in methods and "PUT" not in methods else methods[0]
        path = definition["path"]
        parts = set(definition.get("parts", {}))
        for part in parts:
            path = path.replace(f"{{{part}}}", quote(as_text(parameters[part]), safe=",*"))
        query = {key: as_text(value) for key, value in parameters.items() if key not in {*parts, "body", "ignore"}}
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

    def _check(self, verb: str, instruction: Any, answer: Any) -> None:
        pairs = instruction.items() if isinstance(instruction, dict) else [(instruction, None)]
        for path, expected in pairs:
            actual, target = self._value(answer, str(path)), self._filled(expected)
            try:
                right = CHECKS[verb](actual, target)
            except TypeError:
                right = False
            except re.error as error:
                raise Skipped(f"expression {target}") from error
            if not right:
                raise Failed(f"{verb} {path}: {json.dumps(actual)[:200]}, wanted {json.dumps(target)[:200]}")


WARNINGS = ("warnings", "allowed_warnings", "warnings_regex", "allowed_warnings_regex")
AROUND = ("catch", "headers", *WARNINGS, "node_selector")


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


def expression(text: str) -> re.Pattern[str]:
    """Read a regular expression between strokes."""
    try:
        return re.compile(text.strip().strip("/").replace("\\/", "/"), re.VERBOSE | re.DOTALL)
    except re.error as error:
        raise Skipped(f"expression {text}") from error


def equal(actual: Any, expected: Any) -> bool:
    """Compare as the engines' own runners do: numbers by value, texts between strokes as expressions."""
    if isinstance(expected, str) and len(expected.strip()) > 1 and expected.strip()[0] == expected.strip()[-1] == "/":
        return expression(expected).search(str(actual)) is not None
    if isinstance(expected, int | float) and isinstance(actual, int | float) and not isinstance(actual, bool):
        return float(actual) == float(expected)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(equal(actual[name], expected[name]) for name in expected)
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(equal, actual, expected))
    return bool(actual == expected)


def empty(value: Any) -> bool:
    """Return whether a value counts as false."""
    return value in (None, "", False, 0, "false", "0")


CHECKS = {
    "match": equal,
    "is_true": lambda actual, _: not empty(actual) or actual in ({}, []),
    "is_false": lambda actual, _: empty(actual),
    "length": lambda actual, expected: actual is not None and len(actual) == int(expected),
    "gt": lambda actual, expected: actual > expected,
    "gte": lambda actual, expected: actual >= expected,
    "lt": lambda actual, expected: actual < expected,
    "lte": lambda actual, expected: actual <= expected,
    "contains": lambda actual, expected: any(contains(each, expected) for each in actual),
}


def contains(actual: Any, expected: Any) -> bool:
    """Return whether an entry is, or has the members of, what is wanted."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(equal(actual.get(name), value) for name, value in expected.items())
    return equal(actual, expected)


def steps_of(path: str) -> Iterator[str]:
    """Cut a path at its dots, except escaped ones."""
    for part in re.split(r"(?<!\\)\.", path):
        yield part.replace("\\.", ".")


def within(versions: str, version: tuple[int, ...]) -> bool:
    """Return whether a version lies in a range such as ` - 2.9.99`."""
    if versions == "all":
        return True
    low, _, high = versions.partition("-")
    return numbers(low, (0,)) <= version <= numbers(high, (999,))


def numbers(text: str, missing: tuple[int, ...]) -> tuple[int, ...]:
    figures = tuple(int(each) for each in re.findall(r"\d+", text))
    return figures or missing


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(as_text, value))
    return "" if value is None else str(value)


def as_content(body: Any) -> bytes | None:
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
    except Failed as failure:
        return str(failure)
    except httpx2.HTTPError as error:
        return f"{type(error).__name__}: {error}"
    return ""
