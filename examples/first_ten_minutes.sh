#!/usr/bin/env bash
# The first ten minutes on the command line: from a CSV file to a tree, an explanation,
# predictions, SQL and a comparison. Writes into the current folder.
set -euo pipefail

# A real table with categories and missing values; any CSV file of yours will do.
omnitree datasets penguins -o penguins.csv

# Fit a tree. It is printed, with an estimate of its error on new rows.
omnitree fit penguins.csv --target species --folds 3 -o model.json

# Look at it in a browser: open tree.html.
omnitree show model.json --format html -o tree.html

# Why does the first penguin get its answer?
omnitree explain model.json penguins.csv --row 1

# Predict; here for the same rows, as if they were new.
omnitree predict model.json penguins.csv -o predicted.csv
head -n 3 predicted.csv

# The tree for a database.
omnitree show model.json --format sql -o tree.sql

# Is it better than C4.5, and could that be chance?
omnitree compare penguins --presets omni,c4.5 --protocol 3fold --jobs 1
