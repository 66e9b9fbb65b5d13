"""Threads of a fit; and BLAS in one: the systems solved at a node are small.

On a busy machine, threads of BLAS made L-BFGS and small products 30 to 100 times slower.
With one thread, sums do not depend on the number of threads either. Used by RLS, by
everything fitted by descent, and by fits to blocks, whose threads stay from pass to pass.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager:
    """A context in which BLAS works in the calling thread."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class CallingThread(Executor):
    """Does at once what it is given, so that an error is raised there, too."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        done: Future = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def threads(n_jobs: int | None) -> Executor:
    """As many threads as `n_jobs` says, which take up work in the order given."""
    n = effective_n_jobs(n_jobs)
    return ThreadPoolExecutor(n) if n > 1 else CallingThread()
