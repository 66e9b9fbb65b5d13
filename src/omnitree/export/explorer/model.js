// The tree and what follows from it. `data` is described in payload.py. What a node's value
// means (class counts, or one number) is known only to the functions of this file.

const page = JSON.parse(byId("data").textContent);
// Of two trees either can be in view; the address says which, so that it can be kept.
const isOther = Boolean(page.compare) && location.hash === "#other";
const data = isOther ? page.compare : page;
const other = isOther ? page : page.compare;
// Leaves that share a model have it once.
for (const tree of [data.tree, ...(other ? [other.tree] : [])]) {
  for (const node of tree.nodes) {
    if (Number.isInteger(node.model)) node.model = tree.nodes[node.model].model;
  }
}
const nodes = data.tree.nodes;
const features = data.tree.schema.features;
const labels = data.labels;
const numeric = data.tree.task === "regression";
const sample = data.sample;

const isLeaf = (node) => node.kind === "leaf";
const isNumber = (feature) => feature.kind === "numeric";
const isCategorical = (feature) => feature.kind === "categorical" || feature.kind === "boolean";

// The encoded columns that tests on several features see: {feature, category}, category -1 for
// a number (docs/tree_format.md, "Encoded columns").
const columnsOf = (given) => given.flatMap((feature, j) => {
  if (!isCategorical(feature)) return [{ feature: j, category: -1 }];
  const m = feature.categories.length;
  if (m === 2) return [{ feature: j, category: 1 }];
  return m < 2 ? [] : feature.categories.map((_, s) => ({ feature: j, category: s }));
});
const columns = columnsOf(features);

// Level of every node; parents come before their children.
const depths = [0];
for (const node of nodes.slice(1)) depths[node.id] = depths[node.parent] + 1;

const sum = (values) => values.reduce((a, b) => a + b, 0);

// Training rows (weight) at a node.
const rowsAt = (node) => sum(node.value);

// A node; where no training row came, its nearest ancestor with rows.
function spokenFor(node) {
  while (node.parent >= 0 && !(rowsAt(node) > 0)) node = nodes[node.parent];
  return node;
}

// Class shares of a node's training rows; of a tree for numbers, its one number.
function sharesAt(node) {
  if (numeric) return [spokenFor(node).constant];
  const counts = spokenFor(node).value, total = sum(counts);
  return counts.map((c) => c / total);
}

// Mean loss of the training rows at a node of a tree for numbers.
const lossAt = (node) => (rowsAt(node) > 0 ? node.loss / rowsAt(node) : 0);

// Where a number lies between the least and the greatest of all nodes, 0 to 1.
const [lowest, highest] = [Math.min, Math.max].map((f) => (numeric
  ? nodes.map((node) => sharesAt(node)[0]).reduce((a, b) => f(a, b)) : 0));
const levelOf = (number) => (highest > lowest
  ? Math.min(Math.max((number - lowest) / (highest - lowest), 0), 1) : 0.5);

// Position of the largest number, the first of equals.
function largest(values) {
  let best = 0;
  for (let k = 1; k < values.length; k++) if (values[k] > values[best]) best = k;
  return best;
}

// The class of least expected cost, or the most probable one where costs are all alike.
function decide(shares, costs) {
  if (!costs) return largest(shares);
  const expected = shares.map(() => 0);
  shares.forEach((p, i) => costs[i].forEach((c, k) => { expected[k] += p * c; }));
  return largest(expected.map((e) => -e));
}

// What a vector of class shares (a node's, or an answer) says: its class and share, or the
// number as text.
function verdict(shares, costs = data.tree.costs) {
  if (numeric) {
    const [number] = shares;
    return { index: number, label: num(number, 6), share: null, colour: colourOfNumber(number) };
  }
  const best = decide(shares, costs);
  return { index: best, label: labels[best], share: shares[best], colour: colourOf(best) };
}

// Whether a leaf has a model that all its siblings have: it is told once, at their parent.
const isToldAbove = (node) => node.parent in data.shared;

// What a node answers, or would if it were a leaf. Where its model is the functions of the
// test above, the class whose function is largest in its branch.
function verdictAt(node) {
  const shares = data.answer[node.id] ?? sharesAt(node);
  const own = data.shared[node.parent];
  if (!own || data.tree.costs) return verdict(shares);
  const index = own.classes[branchOfNode(node)];
  return { index, label: labels[index], share: shares[index], colour: colourOf(index) };
}

// Features that a test looks at.
function featuresOf(test) {
  if ("feature" in test) return [test.feature];
  const own = [...test.columns, ...(test.curve_columns ?? [])];
  return [...new Set(own.map((c) => columns[c].feature))];
}

// Nodes from the root down to one of them.
function ancestry(id) {
  const path = [];
  for (let at = id; at >= 0; at = nodes[at].parent) path.unshift(at);
  return path;
}

// Which branch of its parent a node is.
const branchOfNode = (node) => node.id - nodes[node.parent].children[0];

// Colours of classes and of branches (export/palette.py).
const branchColour = (k) => data.palette[k % data.palette.length];
const colourOf = (index) => data.palette[index];

// Numbers go from blue to orange.
const colourOfNumber = (number) => `color-mix(in oklab, ${data.palette[1]} ${Math.round(100 * levelOf(number))}%, ${data.palette[0]})`;
