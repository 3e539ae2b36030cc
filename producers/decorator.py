"""Functions whose calls are runs."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from lineproof.producers.run import Run
from lineproof.schemas.errors import LineproofError

Function = TypeVar("Function", bound=Callable[..., Any])


class NotAJob(LineproofError):
    """A function whose call is not its execution."""


def decorated(function: Function, new_run: Callable[[], Run]) -> Function:
    """The function, each call of it in a run of its own; `current_run()` is that run."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise NotAJob(
            f"{function.__qualname__} is a generator: its call returns before its work begins.",
            "Decorate the function that consumes it, or use `with emitter.run(…)` inside.",
        )
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            with new_run():
                return await function(*args, **kwargs)

        return cast("Function", run_async)

    @functools.wraps(function)
    def run_plain(*args: Any, **kwargs: Any) -> Any:
        with new_run():
            return function(*args, **kwargs)

    return cast("Function", run_plain)
