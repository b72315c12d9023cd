"""Whether the gateway lives, and whether the engine behind it answers."""

from fastapi import APIRouter

from ibidem.gateway.given import WithGiven
from ibidem.gateway.refusals import Answered, turned_away
from ibidem_engines.errors import Permanent, Unavailable
from ibidem_engines.opening import open_for_caller

router = APIRouter(tags=["operation"])

PATIENCE_S = 5.0


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Tell that the gateway answers, whatever the engine does."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(given: WithGiven) -> dict[str, str]:
    """Tell that the engine answers too; one that asks for an account answers."""
    engine = open_for_caller(given.settings.address, given.settings.index, (), PATIENCE_S)
    try:
        engine.info()
    except Permanent as error:
        if not turned_away(error):
            raise
    except Unavailable as error:
        raise Answered(503, "unavailable_exception", "the engine does not answer", "try again later") from error
    finally:
        engine.close()
    return {"status": "ok", "engine": given.kind}
