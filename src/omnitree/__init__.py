"""omnitree: decision trees whose every node is as complex as its data needs.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> import omnitree
>>> data = load_iris(as_frame=True)
>>> y = data.target_names[data.target]
>>> clf = omnitree.OmniTreeClassifier(random_state=0).fit(data.data, y)
>>> print(clf.describe())
5 nodes, 3 leaves, 3 classes
petal length (cm) <= 2.45: setosa (50)
petal length (cm) > 2.45
|   petal width (cm) <= 1.75: versicolor (54/5)
|   petal width (cm) > 1.75: virginica (46/1)
"""

from importlib.metadata import version as _version

from omnitree import presets
from omnitree.estimators import OmniTreeClassifier, TreeClassifier
from omnitree.persistence import load, save

__version__ = _version("omnitree")

__all__ = ["OmniTreeClassifier", "TreeClassifier", "load", "presets", "save"]
