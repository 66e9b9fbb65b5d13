"""From the user's columns to numbers, and from those to what linear tests see.

`sources` opens whatever holds the data, `columns` reads and codes one column, and
`encoded_columns` spreads categories over +1/-1 columns. `omnitree.data.table` is their only
user outside this folder.
"""
