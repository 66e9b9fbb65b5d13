"""Compiled: growing trees of tests on one feature, and C4.5's pruning."""
