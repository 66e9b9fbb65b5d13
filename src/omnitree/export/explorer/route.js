// The rules of tests (`plain_rule` in tree/expression.py), step by step as the library follows
// them: sums in the same order, so that the page gives its answer to the last bit. A row is an
// array with a number or a code a feature; null is a missing value (an unseen category is
// one too).

function curveAt(knots, line, x) {
  if (x === null) return line[knots.length];
  if (x <= knots[0]) return line[0];
  const last = knots.length - 1;
  if (x >= knots[last]) return line[last];
  let i = 0;
  while (x > knots[i + 1]) i++;
  return line[i] + (x - knots[i]) * ((line[i + 1] - line[i]) / (knots[i + 1] - knots[i]));
}

// Positions of the columns whose product a weight belongs to: one column, or two.
const termColumns = (test, t) => (test.terms?.[t] ?? [t, -1]).filter((a) => a >= 0);

// A value of nested lists (`plain_value` in tree/expression.py), from left to right.
const OPERATORS = {
  sum: (values) => values.reduce((a, b) => a + b),
  product: (values) => values.reduce((a, b) => a * b),
  at_most: ([left, right]) => (left <= right ? 1 : 0),
  tanh: ([v]) => Math.tanh(v),
  exp: ([v]) => expDown(v),
};

// A machine: the branch with the largest of its values wins.
const isMachine = (test) => "bias" in test || "values" in test;
const nValues = (test) => (test.values ?? test.bias).length;

const cutOf = (test) => test.threshold ?? 0;

// Everything that asks a tree about a row; `data` as payload.py gives it.
function routesOf({ tree, share, answer }) {
  const { nodes } = tree;
  const columns = columnsOf(tree.schema.features);

  // The value of an encoded column, or `fill` if it is missing.
  function columnValue(row, column, fill) {
    const { feature, category } = columns[column];
    const v = row[feature];
    if (v === null) return fill;
    return category < 0 ? v : v === category ? 1 : -1;
  }

  // Bias plus the weighted sum of a test's terms, plus its curves.
  function discriminant(test, weights, bias, row, lines = []) {
    let g = bias;
    for (let t = 0; t < weights.length; t++) g += weights[t] * termValue(test, t, row);
    lines.forEach((line, j) => { g += curveOf(test, j, line, row); });
    return g;
  }

  // A curve of a test in a row; `line` has its values at the knots, then of a missing cell.
  const curveOf = (test, j, line, row) =>
    curveAt(test.knots[j], line, row[columns[test.curve_columns[j]].feature]);

  // What a weight belongs to: a column or, in a quadratic test, a product of two.
  function termValue(test, t, row) {
    const [a, b] = test.terms?.[t] ?? [t, -1];
    let v = columnValue(row, test.columns[a], test.fill[a]);
    if (b >= 0) v *= columnValue(row, test.columns[b], test.fill[b]);
    return v;
  }

  function evaluate(value, row) {
    if (typeof value === "number") return value;
    const [name, ...parts] = value;
    if (name === "column") return columnValue(row, ...parts);
    if (name === "curve") {
      const [column, knots, line] = parts;
      return curveAt(knots, line, row[columns[column].feature]);
    }
    return OPERATORS[name](parts.map((part) => evaluate(part, row)));
  }

  // What a two-way test of several features compares with its cut.
  function projection(test, row) {
    if ("value" in test) return evaluate(test.value, row);
    return discriminant(test, test.weights, 0, row, test.curve_values);
  }

  // How alike a row is to each case of a test or a model (`tree/cases.py`).
  function likenesses(test, row) {
    const cells = test.columns.map((column, j) => columnValue(row, column, test.fill[j]));
    return (test.cases ?? []).map((own) => {
      let apart = 0;
      own.forEach((at, j) => { apart += -test.precision[j] * (cells[j] - at) * (cells[j] - at); });
      return expDown(apart);
    });
  }

  function discriminants(test, row) {
    if (test.values) return test.values.map((value) => evaluate(value, row));
    const alike = likenesses(test, row);
    return test.bias.map((bias, k) => alike.reduce((g, v, i) => g + test.case_weights[k][i] * v,
      discriminant(test, test.weights[k], bias, row, test.curve_values?.[k])));
  }

  // Branch of a row under one test, -1: the test cannot tell.
  function branchOf(test, row) {
    if ("feature" in test) {
      const v = row[test.feature];
      if (v === null) return -1;
      if ("branch" in test) return test.branch[v] ?? -1;
      return v > test.threshold ? 1 - test.low : test.low;
    }
    if (isMachine(test)) return largest(discriminants(test, row));
    return projection(test, row) > cutOf(test) ? 1 : 0;
  }

  // How a node places a row: the branch (-1: divided among all) and which test decided
  // (0 the main one, 1.. the surrogates, -1 none).
  function placeAt(node, row) {
    const tests = [node, ...(node.surrogates ?? [])];
    for (let s = 0; s < tests.length; s++) {
      const branch = branchOf(tests[s].test, row);
      if (branch >= 0) return { branch, by: s };
    }
    return { branch: node.missing === "divide" ? -1 : node.missing, by: -1 };
  }

  // The way of a row: its part at every node it meets (a Map, in the order of the walk), its
  // leaves, and the answer, the mean over the leaves.
  function follow(row) {
    const part = new Map();
    const leaves = [];
    const stack = [[0, 1]];
    while (stack.length) {
      const [id, own] = stack.pop();
      const node = nodes[id];
      part.set(id, own);
      if (isLeaf(node)) {
        leaves.push([id, own]);
        continue;
      }
      const { branch } = placeAt(node, row);
      if (branch >= 0) {
        stack.push([node.children[branch], own]);
        continue;
      }
      for (const child of [...node.children].reverse()) {
        if (share[child] > 0) stack.push([child, own * share[child]]);
      }
    }
    return { row, part, leaves, answer: meanAnswer(leaves, row) };
  }

  function meanAnswer(leaves, row) {
    if (leaves.length === 1 && leaves[0][1] === 1) return leafAnswer(leaves[0][0], row);
    const mean = labels.map(() => 0);
    for (const [id, own] of leaves) {
      leafAnswer(id, row).forEach((p, k) => { mean[k] += own * p; });
    }
    return mean;
  }

  // What a leaf answers for a row: its shares or its number, or what its model says.
  function leafAnswer(id, row) {
    const { model } = nodes[id];
    if (!model) return answer[id];
    const sums = discriminants(model, row);
    return numeric ? sums : softmax(sums);
  }

  return {
    follow, placeAt, branchOf, leafAnswer, projection, discriminants, termValue, curveOf, likenesses,
  };
}

const {
  follow, placeAt, branchOf, leafAnswer, projection, discriminants, termValue, curveOf, likenesses,
} = routesOf(data);

// exp(x) for x <= 0 as the library does it (_core/models.hpp), bit for bit.
function expDown(x) {
  if (!(x >= -708)) return x < 0 ? 0 : x;
  const k = Math.floor(x * 1.4426950408889634 + 0.5);
  const r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
  let series = 1;
  for (let n = 13; n >= 1; n--) series = 1 + (series * r) / n;
  return series * 2 ** k;
}

function softmax(sums) {
  const top = sums[largest(sums)];
  const powers = sums.map((s) => expDown(s - top));
  const total = sum(powers);
  return powers.map((p) => p / total);
}
