"""The lab: data, protocols, statistics, a store of results, and the published tables.

`data` finds tables by name, `protocols` says how they are divided, `runner` fits every
method on the same parts and keeps each result in a `store` (one SQLite file), `statistics`,
`ranks` and `anova` test what is stored, `tables` and `report` show it, and `papers` puts
published figures beside ours. Used by `omnitree compare`, `datasets` and `reproduce`.
"""
