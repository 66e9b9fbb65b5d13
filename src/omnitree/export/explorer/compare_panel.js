// This tree beside another of the same features and classes: figures, what they have in common
// from the root down, rows they answer differently, and a small picture of the other one.

const otherRoutes = other ? routesOf(other) : null;
const here = isOther ? 1 : 0; // position of the tree in view in pairs of figures

// The row as the other tree encodes it: features by name, categories by their text.
const otherPlace = other?.tree.schema.features.map(({ name }) => features.findIndex((f) => f.name === name));

function asOther(row) {
  return other.tree.schema.features.map((feature, j) => {
    const value = row[otherPlace[j]];
    if (value === null || isNumber(feature)) return value;
    const code = other.categories[j].indexOf(categoryText(otherPlace[j], value));
    return code < 0 ? null : code;
  });
}

const otherWay = (row) => otherRoutes.follow(asOther(row));
const otherVerdict = (way) => verdict(way.answer, other.tree.costs);

// Nodes that both trees have: the same test (or none) in the same place below the same tests.
// The other tree's node for each of them.
function commonNodes() {
  const common = new Map();
  const same = (a, b) => a.kind === b.kind && JSON.stringify(a.test) === JSON.stringify(b.test);
  const alike = JSON.stringify(data.tree.schema) === JSON.stringify(other.tree.schema);
  const pairs = alike ? [[0, 0]] : [];
  for (const [a, b] of pairs) {
    const [mine, theirs] = [nodes[a], other.tree.nodes[b]];
    if (!same(mine, theirs)) continue;
    common.set(a, b);
    (mine.children ?? []).forEach((child, i) => pairs.push([child, theirs.children[i]]));
  }
  return common;
}

const common = other ? commonNodes() : null;

// Cards of nodes that only this tree has get a dashed edge, if the trees begin alike.
const isOnlyHere = (id) => Boolean(common?.size) && !common.has(id);

function drawCompare() {
  if (!other) return;
  fill(byId("compare"),
    figureTable(),
    el("button", { type: "button", id: "swap", onclick: swapTrees }, "Show ", el("bdi", { text: other.title }), " in full"),
    section("In common", el("p", { text: commonText() })),
    section("The other tree", otherPicture()),
    state.way ? section("The row you follow", el("h4", {}, el("bdi", { text: data.title })), answerBars(state.way.answer),
      el("h4", {}, el("bdi", { text: other.title })), answerBars(otherWay(state.way.row).answer)) : null,
    differingRows(),
  );
}

function commonText() {
  if (!common.size) return "The trees differ from the root on.";
  if (common.size === nodes.length && nodes.length === other.tree.nodes.length) return "Both trees have the same tests.";
  const alone = nodes.length - common.size;
  return `${plural(common.size, "node")} from the root down ${common.size === 1 ? "has" : "have"} the same test in both trees; `
    + (alone ? `${plural(alone, "node")} with a dashed edge ${alone === 1 ? "is" : "are"} in this tree only.` : "this tree has no others.");
}

function swapTrees() {
  location.hash = isOther ? "" : "#other";
  location.reload();
}

// Figures of both trees side by side, and how their answers agree on the rows.
function figureTable() {
  const leaves = (given) => given.tree.nodes.filter(isLeaf).length;
  const trees = here ? [other, data] : [data, other];
  const lines = [
    ["nodes", ...trees.map((t) => count(t.tree.nodes.length))],
    ["leaves", ...trees.map((t) => count(leaves(t)))],
    ["parameters", ...trees.map((t) => count(t.figures.parameters))],
  ];
  const { wrong, loss } = data.figures;
  if (wrong !== null) lines.push(["error on the rows of this page", ...trees.map((t) => percentOf(t.figures.wrong))]);
  if (loss !== null) lines.push(["root mean squared error on the rows of this page", ...trees.map((t) => num(t.figures.loss, 4))]);
  const head = el("tr", {}, el("th", {}), trees.map((t, i) => el("th", { scope: "col", class: i === here ? "strong" : null }, el("bdi", { text: t.title }))));
  const { agreement } = page;
  return el("div", {},
    el("table", { class: "figures" }, el("thead", {}, head), el("tbody", {}, lines.map(([name, ...texts]) =>
      el("tr", {}, el("th", { scope: "row", text: name }), texts.map((text) => el("td", { class: "number", text })))))),
    agreement ? el("p", { class: "note", text: agreementText(agreement) }) : null);
}

function agreementText({ rows, same, only }) {
  const start = `The trees give the same answer for ${count(same)} of ${plural(rows, "row")}.`;
  if (!only) return start;
  const [first, second] = [page.title, page.compare.title];
  return `${start} Where they differ, “${first}” is right for ${plural(only[0], "row")} and “${second}” for ${count(only[1])}.`;
}

const answerBars = (shares) => (numeric ? el("p", { class: "strong", text: num(shares[0], 6) }) : classTable(shares, null, 4));

function differingRows() {
  if (!sample || numeric) return null; // two numbers are hardly ever the same
  const rows = sample.values.flatMap((row, i) => {
    const theirs = otherVerdict(otherWay(row));
    return theirs.label === answers[i].label ? [] : [[i, theirs]];
  });
  if (!rows.length) return section("Rows answered differently", el("p", { class: "note", text: "None of the rows in the table." }));
  const name = ({ label, colour }) => el("td", {}, dot(colour), el("bdi", { text: label }));
  const head = ["row", ...(sample.labels ? ["class"] : []), data.title, other.title];
  return section("Rows answered differently", el("div", { class: "scroll" }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, el("bdi", { text }))))),
    el("tbody", {}, rows.map(([i, theirs]) => el("tr", { onclick: () => pickRow(i), "data-differs": i },
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", text: String(sample.index[i]), "aria-label": `Follow row ${sample.index[i]}` })),
      sample.labels ? name({ label: labels[sample.labels[i]], colour: colourOf(sample.labels[i]) }) : null,
      name(answers[i]), name(theirs)))))));
}

// -- a small picture -------------------------------------------------------------------

// The other tree as blocks of class shares from the left to the right; the way of the row that
// is followed is dark.
function otherPicture() {
  const all = other.tree.nodes, width = 400;
  const level = [0];
  for (const node of all.slice(1)) level[node.id] = level[node.parent] + 1;
  const deep = Math.max(...level) + 1;
  const ends = [], place = [];
  const stack = [0];
  while (stack.length) {
    const id = stack.pop();
    if (isLeaf(all[id])) ends.push(id);
    else stack.push(...[...all[id].children].reverse());
  }
  const step = Math.min(22, Math.max(300 / ends.length, 1.6)), height = step * ends.length + 4;
  ends.forEach((id, i) => { place[id] = step * (i + 0.5) + 2; });
  for (const { id, children } of [...all].reverse()) {
    if (children) place[id] = (place[children[0]] + place[children.at(-1)]) / 2;
  }
  const across = width / deep, block = Math.min(0.62 * across, 90), half = Math.min(step * 0.35, 6);
  const lit = state.way ? otherWay(state.way.row).part : new Map();
  const shapes = all.map((node) => {
    const x = level[node.id] * across + 2, y = place[node.id];
    const counts = numeric ? [1] : node.value, total = sum(counts) || 1;
    let at = x;
    const parts = counts.map((c, k) => {
      const w = (block * c) / total, rect = svg("rect", { x: at, y: y - half, width: w, height: 2 * half, fill: numeric ? "var(--accent)" : colourOf(k) });
      at += w;
      return rect;
    });
    const line = node.parent < 0 ? [] : [svg("path", {
      class: lit.has(node.id) ? "link lit" : "link",
      d: `M${x - across + block} ${place[node.parent]}L${x} ${y}`,
    })];
    return svg("g", { class: lit.has(node.id) ? "lit" : null }, svg("title", { text: other.hints[node.id] }), line, parts);
  });
  return svg("svg", {
    class: "chart outline", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `${other.title}: ${plural(all.length, "node")}`,
  }, shapes);
}

if (other) {
  addPanel("compare", drawCompare);
  byId("tab-compare").hidden = false;
  listen("row", () => redraw("compare"));
} else {
  byId("tab-compare").remove();
  byId("compare").remove();
}
