"""The exchangeable pieces of learners and trees, a folder for each kind."""
