"""BLAS in one thread: the systems solved at a node are small, waiting for threads is long.

On a busy machine, threads made L-BFGS and small products 30 to 100 times slower. With one
thread, sums do not depend on the number of threads either. Used by RLS and by everything
fitted by descent.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager:
    """A context in which BLAS works in the calling thread."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
