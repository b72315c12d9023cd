"""`/ibidem/overrides`: readers' words on pairs, listed, said and taken back with the rights of the caller."""

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from ibidem.declaring import declare, read_verdict, readable, take_back
from ibidem.dedupe.overrides import VERDICTS
from ibidem.gateway.documents import answer
from ibidem.gateway.given import CallersEngine, WithCaller, given
from ibidem.gateway.parameters import Id, Known, NoParameters, PairParameters
from ibidem.gateway.refusals import Answered
from ibidem.recorded import recorded

MOST_WORDS = 2_000


async def check_allowed(request: Request) -> None:
    """Refuse to change words where the settings do not let callers do so.

    Raises:
        Answered: They do not.
    """
    if not given(request).settings.gateway_overrides:
        raise Answered(
            403,
            "security_exception",
            "nobody may say here what is a duplicate",
            "IBIDEM_GATEWAY_OVERRIDES=true allows it; ibidem overrides does it on the command line",
        )


router = APIRouter(prefix="/ibidem/overrides", tags=["overrides"])
Allowed = [Depends(check_allowed)]


class Word(Known):
    """A reader's word on two documents."""

    a: Id
    b: Id
    verdict: str = Field(description=f"{' or '.join(VERDICTS)}.")
    reason: str = Field(default="", max_length=MOST_WORDS)
    author: str = Field(default="", max_length=200, description="Who says so; a caller with an account is its user.")


@router.get("")
def overrides(engine: CallersEngine, _: NoParameters) -> Response:
    """List what readers said of pairs of documents that the caller may read."""
    return answer({"overrides": [word.as_record() for word in readable(engine, recorded(engine))]})


@router.post("", dependencies=Allowed, status_code=201)
def say(word: Word, engine: CallersEngine, caller: WithCaller) -> Response:
    """Say that two documents are not duplicates, or that they are the same."""
    author = caller.name or word.author
    said = declare(engine, (word.a, word.b), read_verdict(word.verdict), author=author, reason=word.reason)
    return answer({"overrides": [said.as_record()]}, 201)


@router.delete("", dependencies=Allowed)
def unsay(engine: CallersEngine, pair: PairParameters) -> Response:
    """Take back what was said of two documents."""
    return answer({"overrides": [word.as_record() for word in take_back(engine, pair.a, pair.b, readable)]})
