"""Compiled kernels: free functions over arrays that loop over rows, without the GIL.

`route` places rows in a tree, `presort` and `general` grow whole univariate trees,
`estimate` estimates errors for pruning. The Python modules above call them; users never do.
"""
