"""Compiled: tests over many features: directions, machines, whole discriminant trees."""
