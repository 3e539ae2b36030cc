"""Turns functions into jobs: every call is a run."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from lineproof.producers.run import Run
from lineproof.schemas.errors import LineproofError

Function = TypeVar("Function", bound=Callable[..., Any])


class NotAJob(LineproofError):
    """A generator function: its call returns before it is executed."""


def decorated(function: Function, new_run: Callable[[], Run]) -> Function:
    """Wrap a function, so that each call is a run. `current_run()` returns that run."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise NotAJob(
            f"{function.__qualname__} is a generator: its call returns before it is executed.",
            "Decorate the function that consumes it, or use `with emitter.run(…)` in it.",
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
