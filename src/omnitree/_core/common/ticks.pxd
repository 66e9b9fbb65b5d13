# The Python side of tick.hpp, shared by the growers.
from cpython.exc cimport PyErr_CheckSignals

ctypedef int (*tick_call)(void*, double) noexcept nogil


cdef extern from "common/tick.hpp" namespace "omnitree" nogil:
    cdef cppclass Tick:
        tick_call call
        void* state
        int operator()(double)


cdef inline int ask(void* state, double fraction) noexcept with gil:
    """Look at signals and ask the caller's tick; an exception is kept for later.

    `state` is a list: the tick (or None), then what was raised.
    """
    cdef list box = <list> state
    try:
        PyErr_CheckSignals()
        return 1 if box[0] is not None and box[0](fraction) else 0
    except BaseException as error:
        box.append(error)
        return -1


cdef inline Tick make_tick(list box):
    """A tick over `[tick]`; the caller keeps the list alive."""
    cdef Tick clock
    clock.call = ask
    clock.state = <void*> box
    return clock
