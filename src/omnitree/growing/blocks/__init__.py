"""Growing a tree from sums over blocks of rows, whatever the blocks are.

`engine` maps a pure function over the blocks of a source and adds up what it returns; all
else says which functions. `survey` is the first pass: kinds of columns, classes, ranges and
a sample of rows. `coder` turns a block into whole numbers on a grid, so that sums do not
depend on their order; `statistics` has the sums; `grower` grows trees level by level.
"""
