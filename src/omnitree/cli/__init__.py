"""The command line: each command is a few lines over the public interface."""
