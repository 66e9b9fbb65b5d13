"""Holding rows out: folds, and the losses of rows that a model has not seen."""
