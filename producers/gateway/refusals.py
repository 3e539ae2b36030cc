"""Why a request, or one event of a batch, is refused: an HTTP status, a code, what is wrong and what to do."""

from lineproof.schemas.errors import LineproofError
from lineproof.schemas.reasons import Reason


class RequestRefused(LineproofError):
    """The gateway does not accept a request, or one event of it."""

    def __init__(
        self, status: int, code: str, what: str, remedy: str, *, field: str = "", retry_after_s: int | None = None
    ) -> None:
        super().__init__(what, remedy)
        self.status = status
        self.code = code
        self.field = field
        self.retry_after_s = retry_after_s

    @property
    def is_retriable(self) -> bool:
        """Whether the same event can be accepted later."""
        return self.retry_after_s is not None

    def document(self) -> dict[str, str]:
        """The body of the answer."""
        document = {"code": self.code, "message": self.what, "remedy": self.remedy}
        return {**document, "field": self.field} if self.field else document


def not_an_event(reason: Reason, field: str, detail: str = "") -> RequestRefused:
    """What the job would make a dead letter."""
    where = f"{field}: " if field else ""
    what = f"{where}{reason.meaning}" + (f" ({detail})" if detail else "")
    return RequestRefused(400, reason.value, f"{what}.", reason.remedy, field=field)
