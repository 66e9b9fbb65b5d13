"""Compiled: C++ that several kernels share, and its Cython declarations."""
