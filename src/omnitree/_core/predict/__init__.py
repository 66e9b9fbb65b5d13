"""Compiled: routing rows, models in leaves, sums over subtrees."""
