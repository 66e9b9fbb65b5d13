// The panel of one node: its test, what the training rows look like there, and how it got
// to be as it is.

let standardised = true;

function drawNode() {
  const node = nodes[state.selected];
  fill(byId("node"),
    nodeHead(node),
    ...(isLeaf(node) ? leafParts(node) : testParts(node)),
    section("Training rows",
      numeric ? numberTable(node) : classTable(sharesAt(node), rowsAt(node) > 0 ? node.value : null),
      rowsAt(node) > 0 ? null : el("p", {
        class: "note", text: "No training row came here: the nearest node above answers.",
      })),
    factTable(node),
  );
}

function section(title, ...children) {
  return el("section", {}, el("h3", { text: title }), ...children);
}

function nodeHead(node) {
  const trail = ancestry(node.id);
  const links = trail.map((id) => (id === node.id ? el("b", { text: `#${id}` }) : nodeLink(id)));
  const { label, colour } = verdictAt(node);
  return el("div", { class: "head" },
    el("nav", { class: "trail", "aria-label": "Way to this node" },
      links.flatMap((link, i) => (i ? [" › ", link] : [link]))),
    el("h2", {}, isLeaf(node) ? dot(colour) : null,
      isLeaf(node) ? el("bdi", { text: label }) : `Node ${node.id}`,
      el("span", { class: "kind", text: titleOf(node.kind) })),
    shareBar(sharesAt(node)),
  );
}

function leafParts(node) {
  const all = conditionsTo(node.id);
  const way = all.length
    ? section("Reached when", el("ul", { class: "conditions" },
      all.map((text) => el("li", {}, el("bdi", { text })))))
    : el("p", { class: "note", text: "The whole tree is this leaf." });
  if (isToldAbove(node)) {
    return [way, el("p", { class: "note" }, "Its probabilities are those of node ", nodeLink(node.parent), ".")];
  }
  return node.model ? [way, modelSection(node), curveSection(node)].filter((part) => part) : [way];
}

// The model by which a leaf answers: a sum per class, or one sum, the answer.
function modelSection(leaf) {
  const { model } = leaf;
  if (model.cases) return caseModelSection(model);
  const start = labels.map((name, k) => `${numeric ? "" : `${name} `}${num(model.bias[k], 4)}`).join(", ");
  return section("Model", el("p", {
    class: "note",
    text: (numeric ? "The answer is the constant and the sum of weight times value"
      : "A sum per class of weight times value; the larger a sum, the likelier its class")
      + (hasCurves(model) ? "; the curves are added." : "."),
  }), el("p", { class: "note", text: `${numeric ? "Constant" : "Constants"}: ${start}` }),
  categoryNote(model), model.weights.flat().some((w) => w) ? scaledChart(leaf) : null);
}

// A model of cases: its sums are short, since they tell how many cases there are.
function caseModelSection(model) {
  const lines = labels.map((name, k) => `${numeric ? "answer" : name} = ${scoreText(model, k)}`);
  return section("Model",
    numeric ? null : el("p", { class: "note", text: "A sum per class; the larger a sum, the likelier its class." }),
    lines.map((text) => el("p", { class: "formula", text })), caseNotes(model), categoryNote(model));
}

function caseNotes(test) {
  if (!test.cases) return null;
  return el("div", {},
    el("p", { class: "note", text: "Likeness to a case: exp(−d), where d is the sum of ((x − x of the case) / width)²." }),
    el("p", { class: "note", text: widthsText(test) }));
}

function testParts(node) {
  const { test } = node;
  return [
    section("Test", formula(node), branchTable(node), el("p", { class: "note", text: missingText(node) })),
    probabilitySection(node),
    curveSection(node),
    test.weights?.flat().length ? weightSection(node) : null,
    chartSection(node),
    candidateSection(node),
  ].filter((part) => part !== null);
}

// The model that all leaves below a node share.
function probabilitySection(node) {
  if (!(node.id in data.shared)) return null;
  const leaf = nodes[node.children[0]];
  if (!data.shared[node.id]) return el("div", {}, modelSection(leaf), curveSection(leaf));
  return section("Probabilities", el("p", { class: "formula", text: probabilityText(node) }));
}

function formula({ kind, test }) {
  if (!("columns" in test)) {
    const several = test.branch && Math.max(...test.branch) > 1;
    const whole = several ? subjectText(kind, test) : conditionText(kind, test, test.low ?? 0);
    return el("p", { class: "formula", text: whole });
  }
  const nTerms = termNames(test).length + (test.curve_columns ?? []).length;
  const all = nTerms > ALL_TERMS ? el("details", {}, el("summary", { text: "all terms" }),
    formulaLines(test, Infinity)) : null;
  // The chart of the weights tells more than several long sums do.
  const charted = isMachine(test) && "weights" in test && nTerms > 2;
  if (!charted) return el("div", {}, formulaLines(test, MOST_TERMS), all, caseNotes(test), categoryNote(test));
  return el("div", {},
    el("p", { class: "formula", text: `the largest of ${nValues(test)} scores decides` }),
    el("details", { class: "scores" }, el("summary", { text: "the scores written out" }), formulaLines(test, MOST_TERMS), all),
    categoryNote(test));
}

// A test on several features, sum by sum, each with at most so many terms.
function formulaLines(test, most) {
  const lines = [];
  if ("weights" in test) {
    if (!isMachine(test)) lines.push(`${termsText(test, test.weights, null, 4, most, test.curve_values)} ${sideText(test, 0)}`);
    else sumNames(test).forEach((name, k) => lines.push(`${name} = ${scoreText(test, k, most)}`));
  } else {
    // Functions inside a value come first, under their names.
    const text = (value) => valueText(value, lines, most, true);
    if (isMachine(test)) lines.push(...test.values.map((v, k) => `${sumNames(test)[k]} = ${text(v)}`));
    else lines.push(`${text(test.value)} ${sideText(test, 0)}`);
  }
  return lines.map((text) => el("p", { class: "formula", text }));
}

function categoryNote(test) {
  if (!test.columns?.some((c) => columns[c].category >= 0)) return null;
  return el("p", { class: "note", text: "A category in brackets counts +1 for rows that have it and −1 for all others." });
}

function branchTable(node) {
  const rows = node.children.map((id, b) => {
    const { label, share, colour } = verdictAt(nodes[id]);
    return el("tr", {},
      el("th", { scope: "row" }, el("bdi", { text: sideText(node.test, b) })),
      el("td", {}, nodeLink(id)),
      el("td", { class: "number", text: plural(rowsAt(nodes[id]), "row") }),
      el("td", {}, dot(colour), el("bdi", { text: label }),
        el("span", { class: "quiet", text: ` ${shareText(share)}` })),
    );
  });
  return el("table", { class: "branches" }, el("tbody", {}, rows));
}

// -- weights ---------------------------------------------------------------------------

const weightSection = (node) => section("Weights", scaledChart(node));

// Weights by unit of each term or, to compare terms, by standard deviation.
function scaledChart(node) {
  const spread = sample?.views[node.id]?.spread;
  const scaled = standardised && hasDeviations(spread);
  const where = spread ? "of the rows here" : "of the training rows";
  return el("div", {},
    hasDeviations(spread) ? el("label", { class: "choice" },
      el("input", { type: "checkbox", checked: scaled, onchange: (event) => {
        standardised = event.target.checked;
        drawNode();
      } }), `per standard deviation ${where}`) : null,
    weightChart(node, scaled));
}

// -- histogram -------------------------------------------------------------------------

let chartChoice = 0;

function chartSection(node) {
  if (!sample) {
    return el("p", { class: "note", text: "Histograms and rows are here if the page was made with data: to_html(path, X, y)." });
  }
  const { charts } = sample.views[node.id];
  if (!charts.length) return null;
  const chart = charts[Math.min(chartChoice, charts.length - 1)];
  const row = state.way?.row;
  if (!("low" in chart)) {
    return section(`Rows by ${features[node.test.feature].name}`,
      categoryChart(chart, node, row ? row[node.test.feature] : null));
  }
  const offset = offsetOf(node.test);
  const shown = { ...chart, low: chart.low - offset, cut: chart.cut - offset };
  const words = `${subjectText(node.kind, node.test)}, cut at ${num(shown.cut)}`;
  return section("What the test sees",
    charts.length > 1 ? chartPicker(charts, sumNames(node.test)) : null,
    histogram(shown, row ? chartValue(node, chart, row) - offset : null, words),
    el("p", { class: "note", text: chartNote(node, chart) }));
}

function chartPicker(charts, names) {
  const options = charts.map((c, i) => el("option", {
    value: i, selected: i === chartChoice, text: `${names[c.branch]} against the others`,
  }));
  return el("select", { "aria-label": "Which sum to show", onchange: (event) => {
    chartChoice = Number(event.target.value);
    drawNode();
  } }, options);
}

function chartNote(node, chart) {
  const [low, high] = node.children;
  if (!isMachine(node.test)) {
    const left = node.test.low === 1 ? [high, low] : [low, high];
    return `Left of the cut: node ${left[0]}; right: node ${left[1]}.`;
  }
  return `Right of the cut ${sumNames(node.test)[chart.branch]} is largest: node ${node.children[chart.branch]}.`;
}

// Where a row lies in a chart.
function chartValue(node, chart, row) {
  if ("feature" in node.test) return row[node.test.feature];
  if (!isMachine(node.test)) return projection(node.test, row);
  const g = discriminants(node.test, row);
  return g[chart.branch] - Math.max(...g.filter((_, k) => k !== chart.branch));
}

// -- facts -----------------------------------------------------------------------------

function factTable(node) {
  const facts = [
    ["rows", `${count(rowsAt(node))} (${percent(rowsAt(node) / (rowsAt(nodes[0]) || 1))} of all)`],
    ["level", String(depths[node.id])],
  ];
  if (!isLeaf(node)) facts.push(["merit of the test", num(node.merit)]);
  return section("Facts", el("table", { class: "facts" }, el("tbody", {},
    facts.map(([name, text]) => el("tr", {},
      el("th", { scope: "row", text: name }), el("td", { text }))))));
}

// Why this kind of test: the candidates and their scores, where the tree remembers them.
function candidateSection(node) {
  const found = Array.isArray(node.candidates) ? node.candidates : [];
  if (!found.length) return null;
  const { criterion } = found.find((c) => c.chosen) ?? found[0];
  const isShare = criterion === "error";
  const score = (v) => (v === null ? "–" : isShare ? percentOf(v) : num(v, 4));
  const head = ["candidate", "parameters", isShare ? "held-out error" : criterion];
  const row = (c) => el("tr", { class: c.chosen ? "marked" : null },
    el("th", { scope: "row" }, el("bdi", { text: c.learner }), c.chosen ? " (chosen)" : null),
    el("td", { class: "number", text: count(c.parameters) }),
    el("td", { class: "number", text: score(c.score) }));
  return section("Why this kind of test",
    el("table", { class: "candidates" },
      el("thead", {}, el("tr", {}, head.map((text, i) =>
        el("th", { scope: "col", class: i ? "number" : null, text })))),
      el("tbody", {}, found.map(row))),
    el("p", { class: "note", text: isShare
      ? "From the simplest to the richest; a richer one must be clearly better."
      : "Smaller is better." }));
}

const percentOf = (share) => `${(100 * share).toFixed(1)}%`;

addPanel("node", drawNode);
listen("select", () => {
  chartChoice = 0;
  redraw("node");
});
listen("row", () => redraw("node"));
