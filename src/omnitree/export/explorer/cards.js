// The cards of the tree: what is tested or answered, the main terms or curves, rows and class
// shares. Seen from afar a card is its short title, from farther away its shares alone.

const CARD = { width: 200, height: 62, tall: 76, curves: 132, spaceY: 22 };
const FONT = "ui-sans-serif, system-ui, sans-serif";

// A test, or a leaf's own model, with curves.
const withCurves = (node) => hasCurves(isLeaf(node) ? !isToldAbove(node) && node.model : node.test);
// A sum of one or two terms is written out; a longer one shows its main terms as bars.
const withTerms = (node) => !withCurves(node) && cardTermsOf(node).length > 0
  && (isLeaf(node) || isMachine(node.test) || node.test.weights.length > 2);
const withFormula = (node) => !isLeaf(node) && "columns" in node.test && !withCurves(node) && !withTerms(node);

const heights = []; // by node

function cardHeight(node) {
  return heights[node.id] ??= heightOf(node);
}

function heightOf(node) {
  if (withCurves(node)) return CARD.curves;
  if (withTerms(node)) return CARD.height + TERM_LINE * cardTermsOf(node).length;
  return withFormula(node) ? CARD.tall : CARD.height;
}

function cardTitle(node) {
  if (numeric && node.model && isLeaf(node)) {
    if (node.model.cases) return "case-based model";
    return hasCurves(node.model) ? "additive model" : node.model.terms ? "quadratic model" : "linear model";
  }
  if (isLeaf(node)) return verdictAt(node).label;
  if (isMachine(node.test)) return subjectText(node.kind, node.test, 3);
  if (withCurves(node)) return curveCount(node.test);
  if (withTerms(node)) return `sum of ${plural(termTable(node.test, false, null).length, "term")}`;
  return subjectText(node.kind, node.test, 3);
}

// A title of a word or two, for a look from afar.
function shortTitle(node) {
  if (isLeaf(node) || "feature" in node.test) return cardTitle(node);
  return familyOf(node.kind);
}

// What the main terms or curves are of, for the same look.
function shortNames(node) {
  const most = Math.floor((cardHeight(node) - 62) / 24);
  if (withTerms(node)) return cardTermsOf(node).slice(0, most).map(({ name }) => name);
  if (!withCurves(node)) return [];
  const test = isLeaf(node) ? node.model : node.test;
  return curveOrder(linesOf(node)).slice(0, most).map((j) => features[curveFeature(test, j)].name);
}

function cardWords(node) {
  const { label, share } = verdictAt(node);
  const what = isLeaf(node) ? "leaf" : `${titleOf(node.kind)} ${cardTitle(node)}`;
  const way = node.parent < 0 ? "" : `, ${edgeText(node)}`;
  return `Node ${node.id}${way}, ${what}, ${plural(rowsAt(node), "row")}, ${label} ${shareText(share)}`.trim();
}

// What a pointer that rests on a card is told.
const cardHint = (node) => (isLeaf(node) ? cardWords(node)
  : `${subjectText(node.kind, node.test, 3)} · ${plural(rowsAt(node), "row")}`);

function makeCard(node) {
  const { width } = CARD, height = cardHeight(node), top = -height / 2;
  const formula = withFormula(node);
  const several = !isLeaf(node) && "columns" in node.test;
  const font = isLeaf(node) ? `600 13px ${FONT}` : several ? `12px ${FONT}` : `500 13px ${FONT}`;
  const lines = fitLines(cardTitle(node), width - 26, font, formula ? 2 : 1);
  const inset = isLeaf(node) ? 14 : 20;
  const below = top + height - 22;
  const names = shortNames(node);
  const siblings = node.parent < 0 ? [0] : nodes[node.parent].children;
  const card = svg("g", {
    class: `card ${isLeaf(node) ? "leaf" : several ? "tall" : "test"}`, role: "treeitem", tabindex: "-1",
    "data-node": node.id, "aria-label": cardWords(node), "aria-level": depths[node.id] + 1,
    "aria-posinset": siblings.indexOf(node.id) + 1, "aria-setsize": siblings.length,
  },
    svg("title", { text: cardHint(node) }),
    svg("rect", { class: "paper", y: top, width, height, rx: 9 }),
    svg("g", { class: "near" },
      lines.map((text, i) => svg("text", { class: "title", x: 14, y: top + 22 + 15 * i, text })),
      withCurves(node) ? cardCurves(node, 14, top + 34) : [],
      withTerms(node) ? cardTerms(node, 14, top + 30, width - 28) : [],
      svg("text", { class: "sub", x: 14, y: below, text: cardNote(node) }),
      svg("text", { class: "sub", x: width - inset, y: below, "text-anchor": "end", text: `#${node.id}` })),
    svg("text", {
      class: "short", x: 14, y: names.length ? top + 32 : top + height / 2 + 3,
      text: fitText(shortTitle(node), width - 30, `600 22px ${FONT}`),
    }),
    names.map((name, i) => svg("text", {
      class: "short name", x: 14, y: top + 58 + 24 * i, text: fitText(name, width - 30, `18px ${FONT}`),
    })),
    cardShares(node, 14, below + 8, width - 28),
  );
  if (!isLeaf(node)) card.append(foldKnob(node));
  return card;
}

function cardNote(node) {
  const rows = plural(rowsAt(node), "row");
  if (numeric && isLeaf(node)) return `${rows} · loss ${num(lossAt(node), 3)}`;
  if (isLeaf(node)) return `${rows} · ${percent(verdictAt(node).share)}`;
  const several = "columns" in node.test ? ` · ${familyOf(node.kind)}` : "";
  return rows + several;
}

// Shares of classes in a square of side 1, so that the style can make it a bar or the card.
function cardShares(node, x, y, width) {
  const bar = svg("g", { class: "shares", transform: `translate(${x} ${y}) scale(${width} 6)` });
  let at = 0;
  if (numeric) {
    const { colour } = verdictAt(node);
    bar.append(svg("rect", { class: "rest", width: 1, height: 1 }),
      svg("rect", { width: levelOf(sharesAt(node)[0]), height: 1, fill: colour }));
    return bar;
  }
  sharesAt(node).forEach((share, k) => {
    if (share > 0) bar.append(svg("rect", { x: at, width: share, height: 1, fill: colourOf(k) }));
    at += share;
  });
  return bar;
}

function foldKnob(node) {
  return svg("g", { class: "knob", "data-fold": node.id, transform: `translate(${CARD.width} 0)` },
    svg("circle", { class: "reach", r: 16 }),
    svg("circle", { r: 9 }),
    svg("path", { class: "sign", d: "" }),
  );
}
