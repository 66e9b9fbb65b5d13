"""One thread for BLAS: the systems of a node are small, and waiting for threads is not.

On a busy machine threads made L-BFGS and small products 30 to 100 times slower. Sums that do
not depend on the number of threads are welcome too. Used by RLS and all that descends.
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
