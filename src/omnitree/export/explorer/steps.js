// The way of one row in words: each test, the row's value, what each feature contributes, and
// how far the row is from the other side.

function stepList(way) {
  const met = [...way.part.keys()].map((id) => nodes[id]);
  return el("ol", { class: "steps" }, met.flatMap((node) => {
    if (!isLeaf(node)) return [stepItem(node, way)];
    if (!node.model) return [];
    if (numeric) return [sumItem(node, way)];
    return labels.length > 1 ? [modelItem(node, way)] : [];
  }));
}

// A leaf that answers by its model: what sets the first class apart from the next.
function modelItem(node, way) {
  const { label } = verdict(leafAnswer(node.id, way.row));
  if (data.shared[node.parent]) {
    const text = ` probabilities: ${probabilityText(nodes[node.parent])}`;
    return el("li", {}, el("p", {}, nodeLink(node.id), el("bdi", { text })));
  }
  return el("li", {},
    el("p", {}, nodeLink(node.id), " model of the leaf: ", el("bdi", { text: label })),
    machineDetails(node.model, way.row, labels),
  );
}

// A leaf that answers by its model: what each term adds to the mean of the leaf.
function sumItem(node, way) {
  const { model } = node;
  const missing = features.map(() => null);
  const atMean = weighted(model, model.weights[0], missing).map(({ value }) => value);
  const parts = weighted(model, model.weights[0], way.row)
    .map((part, t) => ({ ...part, value: part.value - atMean[t] }));
  parts.push(...curveParts(model, model.curve_values?.[0], way.row));
  parts.push(...caseParts(model, (i) => model.case_weights[0][i], way.row));
  const mean = model.bias[0] + sum(atMean);
  return el("li", {},
    el("p", {}, nodeLink(node.id), ` model of the leaf: mean ${num(mean, 4)}, and`),
    signedBars(parts),
  );
}

function stepItem(node, way) {
  const { branch, by } = placeAt(node, way.row);
  const to = branch < 0 ? "every branch" : `node ${node.children[branch]}`;
  const decided = by < 0 ? null : by === 0 ? node : node.surrogates[by - 1];
  const condition = decided ? conditionText(decided.kind, decided.test, branch) : "no test can tell";
  return el("li", {},
    el("p", {}, nodeLink(node.id), " ", el("bdi", { class: "condition", text: condition }),
      el("span", { class: "quiet", text: ` → ${to}` })),
    by !== 0 ? el("p", { class: "note", text: routeNote(node, by) }) : null,
    decided ? testDetails(decided, way.row) : null,
  );
}

function routeNote(node, by) {
  const { name } = features[node.test.feature];
  if (by > 0) return `${name} is missing; this test stands in for it.`;
  if (node.missing === "divide") return `${name} is missing: the row is divided by the training rows.`;
  return `${name} is missing: the row goes the way set for that.`;
}

// The value beside the cut, or the contributions that make it up.
function testDetails({ test }, row) {
  if ("feature" in test) {
    const value = row[test.feature];
    const text = `value ${cellText(test.feature, value)}`;
    if ("branch" in test || !isNumber(features[test.feature])) return el("p", { class: "note", text });
    return el("p", { class: "note", text: `${text}, ${marginText(value - test.threshold)}` });
  }
  if (isMachine(test)) return machineDetails(test, row);
  const total = projection(test, row);
  return el("div", {},
    signedBars(contributions(test, row)),
    el("p", { class: "note", text: `sum ${num(total - offsetOf(test))}, ${marginText(total - cutOf(test))}` }),
  );
}

function marginText(margin) {
  if (margin === 0) return "exactly at the cut";
  return `${num(Math.abs(margin), 4)} ${margin > 0 ? "above" : "below"} the cut`;
}

// What adds up to the projection: weight times value of each column or product; of another
// value, what it would lose with a feature at its mean.
function contributions(test, row) {
  if ("weights" in test) {
    return [...weighted(test, test.weights, row), ...curveParts(test, test.curve_values, row)];
  }
  return featuresOf(test).map((j) => ({
    name: features[j].name,
    value: projection(test, row) - projection(test, row.with(j, null)),
    note: row[j] === null ? "missing, taken as its mean" : null,
  }));
}

// Weight times value of each term.
function weighted(test, weights, row) {
  return termNames(test).map((name, t) => ({
    name,
    value: weights[t] * termValue(test, t, row),
    note: fillNote(test, termColumns(test, t), row),
  }));
}

// What each curve adds.
function curveParts(test, lines, row) {
  return (lines ?? []).map((line, j) => ({
    name: `curve(${columnName(test.curve_columns[j])})`,
    value: curveOf(test, j, line, row),
    note: row[curveFeature(test, j)] === null ? "missing" : null,
  }));
}

const CASES_NAMED = 5;

// What the likeness to each case adds, the largest first and the rest together.
function caseParts(test, weight, row) {
  const parts = likenesses(test, row)
    .map((v, i) => ({ name: `case ${i + 1}`, value: weight(i) * v, note: `likeness ${num(v, 2)}` }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const rest = parts.splice(CASES_NAMED);
  if (rest.length) parts.push({ name: plural(rest.length, "other case"), value: sum(rest.map(({ value }) => value)) });
  return parts;
}

function fillNote(test, positions, row) {
  const missing = positions.filter((j) => row[columns[test.columns[j]].feature] === null);
  if (!missing.length) return null;
  return `missing, taken as ${missing.map((j) => num(test.fill[j], 4)).join(", ")}`;
}

// A machine: all sums, and what sets the winner apart from the next.
function machineDetails(test, row, names = sumNames(test)) {
  const g = discriminants(test, row);
  const sums = g.map((value, k) => ({ name: names[k], value }));
  if ("values" in test) return signedBars(sums);
  const first = largest(g);
  const second = largest(g.map((v, k) => (k === first ? -Infinity : v)));
  const lead = test.weights[first].map((w, t) => w - test.weights[second][t]);
  const apart = weighted(test, lead, row);
  const [own, next] = [first, second].map((k) => test.curve_values?.[k] ?? []);
  apart.push(...curveParts(test, own.map((line, j) => line.map((v, i) => v - next[j][i])), row));
  apart.push(...caseParts(test, (i) => test.case_weights[first][i] - test.case_weights[second][i], row));
  apart.push({ name: "constant", value: test.bias[first] - test.bias[second] });
  return el("div", {},
    signedBars(sums),
    el("p", { class: "note", text: `${names[first]} leads ${names[second]} by ${num(g[first] - g[second], 4)}, made up of` }),
    signedBars(apart),
  );
}

function nodeLink(id, text = `#${id}`) {
  return el("button", {
    type: "button", class: "link", text, "aria-label": `Go to node ${id}`, onclick: () => goTo(id),
  });
}

function goTo(id) {
  select(id);
  showTab("node");
}

// The answer for a row: its class, the shares, and the leaves it ends in.
function answerBox(way) {
  const { colour } = verdict(way.answer);
  return el("div", { class: "answer", style: { "border-color": colour } },
    verdictLine(way), numeric ? shareBar(way.answer) : classTable(way.answer, null, 6), leafLine(way));
}

function verdictLine(way) {
  const { index, label, share, colour } = verdict(way.answer);
  return el("p", { class: "verdict", "data-answer": index, "data-shares": way.answer.join(" ") },
    dot(colour), el("bdi", { text: label }), el("span", { class: "quiet", text: ` ${shareText(share)}` }));
}

function leafLine(way) {
  const leaves = way.leaves.map(([id, part]) =>
    nodeLink(id, part === 1 ? `leaf #${id}` : `#${id} (${percent(part)})`));
  return el("p", { class: "quiet" }, "ends in ", leaves.flatMap((leaf, i) => (i ? [", ", leaf] : [leaf])));
}
