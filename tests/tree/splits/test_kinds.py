"""Every kind of test: routed, packed, written and counted as its definition says."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from tests import naive
from tests.tables import random_values
from tests.trees import SCHEMA, random_test

from omnitree.data.table import Table
from omnitree.tree.programs import route
from omnitree.tree.splits import KINDS, SPLITS, Split, split_from_dict

SEEDS = range(15)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", SPLITS)
def test_routed_as_by_hand_and_by_its_rule(kind, seed):
    rng = np.random.default_rng(seed)
    split = random_test(rng, kind)
    table = Table(random_values(rng, SCHEMA, 25, missing_share=0.3), SCHEMA)
    branch, plain = split.route(table, np.arange(25)), SCHEMA.to_dict()
    by_hand = [
        naive.branch_of(kind, split.to_dict(), row, plain) for row in table.values
    ]
    assert branch.tolist() == by_hand
    assert route(split.rule, table.values, SCHEMA).tolist() == by_hand
    assert branch.max() < split.n_children
    assert split.features(SCHEMA) == Split.features(split, SCHEMA)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", SPLITS)
def test_packed_written_and_back(kind, seed):
    split = random_test(np.random.default_rng(seed), kind)
    code, index, weight = split.pack()
    assert code == KINDS.index(kind)
    assert type(split).unpack(index, weight) == split
    assert split_from_dict(kind, split.to_dict()) == split
    assert split.problem(SCHEMA) is None
    own = {f.name for f in fields(split) if not f.kw_only}
    assert set(split.to_dict()) == own


@pytest.mark.parametrize("kind", SPLITS)
def test_damage_is_found(kind):
    split = random_test(np.random.default_rng(1), kind)
    if hasattr(split, "columns") and split.columns:
        far = (SCHEMA.n_columns, *split.columns[1:])
        assert "column" in replace(split, columns=far).problem(SCHEMA)
        assert replace(split, fill=()).problem(SCHEMA) is not None
    else:
        assert "not in the schema" in replace(split, feature=99).problem(SCHEMA)
