"""Which of scikit-learn's checks cannot hold, for which estimators, and why."""

from __future__ import annotations

REASON = (
    "rows are held out inside: a row of weight two is on one side, while a row given twice "
    "may be on both"
)
HOLDS_ROWS_OUT = {
    "check_sample_weight_equivalence_on_dense_data": REASON,
    "check_sample_weight_equivalence_on_sparse_data": REASON,
}


def resamples(estimator) -> bool:
    """Whether an estimator holds rows out of its training rows."""
    return estimator._resolved_parts().resamples
