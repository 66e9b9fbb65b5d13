"""Exporters: what a tree looks like elsewhere. All read only `Tree.to_dict()`."""
