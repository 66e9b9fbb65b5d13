"""Neural trees (Guo & Gelfand 1992) as Yildiz & Alpaydin (2005) describe and run them."""

from __future__ import annotations

from typing import Any

from omnitree.estimators.classifier import TreeClassifier
from omnitree.learners import Grouped, Network
from omnitree.parts.coefficients import Perceptron
from omnitree.presets.ldt import post_pruned


def id_lp(
    grouping: str = "exchange",
    epochs: int = 200,
    decay: float = 0.001,
    **changes: Any,
) -> TreeClassifier:
    """ID-LP: the neural tree with linear perceptrons (Yildiz & Alpaydin 2005).

    Node: linear. Branching: binary. Grouping of classes: exchange, from the two furthest
    means, a perceptron trained for every grouping that is tried. Merit: entropy (the
    information gain orders tests alike). Weights and threshold: a sigmoid unit, gradient
    descent on the squared error. Missing values: the node's mean. Pruning: a held-out
    fifth.

    From the paper: all of these. Assumptions: the number of epochs, the weight decay,
    L-BFGS as the method of descent, columns standardised at each node, and that a node
    stays a leaf where the perceptron puts all rows on one side. The authors' program trains
    less, and trees are then less accurate, as published:
    ``set_params(learner__coefficients="stochastic_perceptron")``.
    """
    learner = Grouped(Perceptron(epochs=epochs, decay=decay), grouping)
    return post_pruned(learner, changes)


def id_mlp(
    grouping: str = "exchange",
    hidden: int = 5,
    epochs: int = 200,
    decay: float = 0.001,
    **changes: Any,
) -> TreeClassifier:
    """ID-MLP: the neural tree (Guo & Gelfand 1992) as Yildiz & Alpaydin (2005) describe it.

    Node: a net with one hidden layer of tanh units. Branching: binary. Grouping of classes:
    exchange. Merit: entropy. Weights and threshold: backpropagation on the squared error.
    Missing values: the node's mean. Pruning: a held-out fifth.

    Assumptions: the number of hidden units and epochs, the weight decay, L-BFGS from random
    weights, and columns standardised at each node. Differs from the paper: groupings are
    compared by linear tests (RLS), so that one net per node is trained;
    ``learner__scout=None`` trains one for every grouping.
    """
    learner = Network(hidden=hidden, epochs=epochs, decay=decay, grouping=grouping)
    return post_pruned(learner, changes)
