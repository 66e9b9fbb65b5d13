"""What is learned: the tree as frozen arrays, its tests, its leaf models, its checks."""
