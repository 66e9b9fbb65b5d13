"""Growing a tree: what parts are, the node they see, limits, policies and the one loop."""
