"""The scikit-learn face: fit, predict, explain, export, save and load."""
