// Weights that people can compare: of one sum as bars to both sides of zero; of several sums
// (a machine, a model for classes) all of one term side by side, on one scale for all terms.

const BARS_AT_MOST = 6; // sums with a bar each; more of them are a table of shades
const TERMS_AT_ONCE = 16;
const VISIBLE = 0.01; // of the largest term: a bar of at least a pixel

// The standard deviation of a term: of the rows at the node if the page has them, else of
// the training rows.
function termDeviation(test, t, spread) {
  if (spread) return spread[t];
  const deviation = (a) => data.tree.deviations?.[test.columns[a]] ?? 1;
  return termColumns(test, t).reduce((product, a) => product * deviation(a), 1);
}

const hasDeviations = (spread) => Boolean(spread ?? data.tree.deviations);

// The terms of a test or a model: {name, values (one a sum)}, the largest first, those of
// weight 0 left out. What all sums have in common decides nothing, so size is the spread.
function termTable(test, scaled, spread) {
  const sums = isMachine(test) ? test.weights : [test.weights];
  const scale = (t) => termDeviation(test, t, spread);
  const size = (values) => (values.length > 1
    ? Math.max(...values) - Math.min(...values) : Math.abs(values[0]));
  return termNames(test)
    .map((name, t) => ({
      name, t,
      size: size(sums.map((w) => w[t])) * scale(t),
      values: sums.map((w) => w[t] * (scaled ? scale(t) : 1)),
    }))
    .filter(({ values }) => values.some((v) => v))
    .sort((a, b) => b.size - a.size || a.t - b.t);
}

// Names and colours of the sums: those of the classes, if the branches answer different ones.
function sumLooks(node) {
  if (isLeaf(node)) return labels.map((name, k) => ({ name, colour: numeric ? "var(--accent)" : colourOf(k) }));
  if (!isMachine(node.test)) return [{ name: "", colour: "var(--accent)" }];
  const colours = node.children.map((id) => verdictAt(nodes[id]).colour);
  const apart = new Set(colours).size === colours.length;
  return sumNames(node.test).map((name, k) => ({ name, colour: apart ? colours[k] : branchColour(k) }));
}

// -- beside the tree -------------------------------------------------------------------

function weightChart(node, scaled) {
  const test = isLeaf(node) ? node.model : node.test;
  const terms = termTable(test, scaled, sample?.views[node.id]?.spread);
  const looks = sumLooks(node);
  const draw = (shown) => {
    if (looks.length === 1) return signedBars(shown.map(({ name, values }) => ({ name, value: values[0] })), Infinity);
    return looks.length <= BARS_AT_MOST ? groupedBars(shown, terms, looks) : shadeTable(shown, terms, looks);
  };
  const many = terms.findIndex(({ size }, i) => i >= TERMS_AT_ONCE || size < VISIBLE * terms[0].size);
  const first = many < 0 ? terms : terms.slice(0, many), rest = terms.slice(first.length);
  return el("div", {},
    looks.length > 1 && looks.length <= BARS_AT_MOST ? el("p", { class: "note" }, looks.flatMap(({ name, colour }) =>
      [dot(colour), el("bdi", { text: name }), "  "])) : null,
    draw(first),
    rest.length ? el("details", {}, el("summary", { text: plural(rest.length, "smaller term") }), draw(rest)) : null);
}

const largestOf = (terms) => Math.max(...terms.flatMap(({ values }) => values.map(Math.abs))) || 1;

// A block a term, with a bar for every sum.
function groupedBars(shown, terms, looks) {
  const top = largestOf(terms);
  const line = (value, { name, colour }) => {
    const width = `${(50 * Math.abs(value)) / top}%`;
    const side = value < 0 ? { right: "50%", width } : { left: "50%", width };
    return el("div", { class: "group-line", title: `${name}: ${num(value, 4)}` },
      el("span", { class: "signed" }, el("span", { style: { ...side, background: colour } })),
      el("span", { class: "number", text: num(value, 3) }));
  };
  return el("table", { class: "groups" }, el("tbody", {}, shown.map(({ name, values }) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", { text: name })),
    el("td", {}, values.map((value, k) => line(value, looks[k])))))));
}

// Many sums: a line a term, a cell a sum, the deeper the larger.
function shadeTable(shown, terms, looks) {
  const top = largestOf(terms);
  const cell = (value, k) => el("td", {
    title: `${looks[k].name}: ${num(value, 4)}`, class: "shade",
    style: { background: `color-mix(in oklab, var(${value < 0 ? "--minus" : "--plus"}) ${Math.round((100 * Math.abs(value)) / top)}%, var(--soft))` },
  }, el("span", { class: "unseen", text: num(value, 3) }));
  return el("div", {},
    el("table", { class: "shades" },
      el("thead", {}, el("tr", {}, el("th", {}), looks.map(({ name, colour }) =>
        el("th", { scope: "col", title: name, style: { "border-color": colour } }, el("bdi", { text: name }))))),
      el("tbody", {}, shown.map(({ name, values }) => el("tr", {},
        el("th", { scope: "row" }, el("bdi", { text: name })), values.map(cell))))),
    el("p", { class: "note" }, dot("var(--plus)"), "supports the class  ", dot("var(--minus)"),
      `opposes it; the deepest shade is ${num(top, 3)}`));
}

// -- on a card -------------------------------------------------------------------------

const CARD_TERMS = 3;
const TERM_LINE = 18;

// Of a test, or of a leaf's own model.
function cardTermsOf(node) {
  const holder = isLeaf(node) ? !isToldAbove(node) && node.model : node.test;
  if (!holder?.weights?.flat().length) return [];
  const spread = sample?.views[node.id]?.spread;
  return termTable(holder, hasDeviations(spread), spread).slice(0, CARD_TERMS);
}

// The main terms of a weighted sum: names, and a bar or, of several sums, a dot for each.
function cardTerms(node, x, y, width) {
  const terms = cardTermsOf(node), looks = sumLooks(node);
  const top = largestOf(terms), left = x + 0.56 * width, room = 0.44 * width;
  const at = (value) => left + room / 2 + (value / top) * (room / 2 - 3);
  return terms.map(({ name, values }, i) => {
    const middle = y + TERM_LINE * i + 8;
    const marks = values.length === 1
      ? [svg("rect", {
        class: values[0] < 0 ? "minus" : "plus", x: Math.min(at(0), at(values[0])), y: middle - 4,
        width: Math.abs(at(values[0]) - at(0)), height: 8, rx: 2,
      })]
      : values.map((value, k) => svg("circle", { cx: at(value), cy: middle, r: 3.5, fill: looks[k].colour }));
    return svg("g", { class: "term" },
      svg("text", { class: "sub", x, y: middle + 4, text: fitText(name, 0.54 * width, `12px ${FONT}`) }),
      svg("line", { class: "zero", x1: at(0), x2: at(0), y1: middle - 8, y2: middle + 8 }), marks);
  });
}
