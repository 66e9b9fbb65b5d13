// The tree as a picture: from left to right, a card per node, a band per edge as thick as the
// rows it carries. Cards are kept between drawings, so that focus stays where it is.

const CARD = { width: 200, height: 62, tall: 76, curves: 132, spaceX: 112, spaceY: 22 };
const FONT = "ui-sans-serif, system-ui, sans-serif";

const cards = new Map(); // node id -> <g>
const places = new Map(); // node id -> {x, y} of the card's left middle

// Nodes that no folded ancestor hides, parents before children.
function visibleNodes() {
  const shown = [];
  const stack = [0];
  while (stack.length) {
    const id = stack.pop();
    shown.push(id);
    if (!state.folded.has(id)) stack.push(...[...(nodes[id].children ?? [])].reverse());
  }
  return shown;
}

// Every open end gets a line of its own; a parent stands in the middle of its children.
function placeNodes(shown) {
  places.clear();
  let next = -CARD.height / 2; // where the next card may begin
  for (const id of shown) {
    const open = !isLeaf(nodes[id]) && !state.folded.has(id);
    const height = withCurves(nodes[id]) ? CARD.curves : CARD.height;
    const y = open ? null : next + height / 2;
    if (!open) next += height + CARD.spaceY;
    places.set(id, { x: depths[id] * (CARD.width + CARD.spaceX), y });
  }
  for (const id of [...shown].reverse()) {
    const place = places.get(id);
    if (place.y !== null) continue;
    const below = nodes[id].children;
    place.y = (places.get(below[0]).y + places.get(below[below.length - 1]).y) / 2;
  }
}

function drawTree() {
  const shown = visibleNodes();
  placeNodes(shown);
  for (const [id, card] of cards) {
    if (places.has(id)) continue;
    card.remove();
    cards.delete(id);
  }
  for (const id of shown) {
    if (!cards.has(id)) {
      cards.set(id, makeCard(nodes[id]));
      byId("nodes").append(cards.get(id));
    }
    const { x, y } = places.get(id);
    cards.get(id).setAttribute("transform", `translate(${x} ${y})`);
  }
  // All bands before all words, so that no band hides a word.
  const edges = shown.slice(1);
  fill(byId("edges"), edges.map(edgeBand), edges.map(edgeLabel));
  markCards();
}

function cardTitle(node) {
  if (numeric && node.model && isLeaf(node)) {
    return hasCurves(node.model) ? "additive model" : node.model.terms ? "quadratic model" : "linear model";
  }
  if (withCurves(node) && !isMachine(node.test)) return curveCount(node.test);
  return isLeaf(node) ? verdictAt(node).label : subjectText(node.kind, node.test, 3);
}

const hasTwoLines = (node) => !isLeaf(node) && "columns" in node.test;
const withCurves = (node) => !isLeaf(node) && hasCurves(node.test);
const cardHeight = (node) => (withCurves(node) ? CARD.curves : hasTwoLines(node) ? CARD.tall : CARD.height);

function cardWords(node) {
  const { label, share } = verdictAt(node);
  const what = isLeaf(node) ? "leaf" : `${titleOf(node.kind)} ${cardTitle(node)}`;
  const way = node.parent < 0 ? "" : `, ${edgeText(node)}`;
  return `Node ${node.id}${way}, ${what}, ${plural(rowsAt(node), "row")}, ${label} ${shareText(share)}`.trim();
}

function makeCard(node) {
  const { width } = CARD;
  const top = -cardHeight(node) / 2;
  const title = cardTitle(node);
  const font = isLeaf(node) ? `600 13px ${FONT}` : hasTwoLines(node) ? `12px ${FONT}` : `500 13px ${FONT}`;
  const lines = fitLines(title, width - 26, font, hasTwoLines(node) && !withCurves(node) ? 2 : 1);
  const below = top + (withCurves(node) ? 109 : hasTwoLines(node) ? 53 : 40);
  const inset = isLeaf(node) ? 14 : 20;
  const siblings = node.parent < 0 ? [0] : nodes[node.parent].children;
  const card = svg("g", {
    class: `card ${isLeaf(node) ? "leaf" : hasTwoLines(node) ? "tall" : "test"}`, role: "treeitem", tabindex: "-1",
    "data-node": node.id, "aria-label": cardWords(node), "aria-level": depths[node.id] + 1,
    "aria-posinset": siblings.indexOf(node.id) + 1, "aria-setsize": siblings.length,
  },
    svg("title", { text: title }),
    svg("rect", { class: "paper", y: top, width, height: cardHeight(node), rx: 9 }),
    lines.map((text, i) => svg("text", { class: "title", x: 14, y: top + 22 + 15 * i, text })),
    withCurves(node) ? cardCurves(node, 14, top + 34) : [],
    svg("text", { class: "sub", x: 14, y: below, text: cardNote(node) }),
    svg("text", { class: "sub", x: width - inset, y: below, "text-anchor": "end", text: `#${node.id}` }),
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

function cardShares(node, x, y, width) {
  const bar = svg("g", {});
  let at = x;
  if (numeric) {
    const { colour } = verdictAt(node);
    bar.append(svg("rect", { x, y, width: levelOf(sharesAt(node)[0]) * width, height: 6, fill: colour }));
    return bar;
  }
  sharesAt(node).forEach((share, k) => {
    const w = share * width;
    if (w > 0) bar.append(svg("rect", { x: at, y, width: w, height: 6, fill: colourOf(k) }));
    at += w;
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

const edgeText = (node) => {
  const { test } = nodes[node.parent];
  const branch = branchOfNode(node);
  // Its parent's card says that the largest sum decides: the name is enough, and has room.
  return isMachine(test) ? sumNames(test)[branch] : sideText(test, branch);
};

function edgeBand(id) {
  const node = nodes[id];
  const from = places.get(node.parent), to = places.get(id);
  const x1 = from.x + CARD.width, x2 = to.x, bend = CARD.spaceX * 0.5;
  const share = rowsAt(node) / (rowsAt(nodes[0]) || 1);
  return svg("path", {
    class: "edge" + (state.way?.part.has(id) ? " lit" : ""), "data-edge": id,
    d: `M${x1} ${from.y}C${x1 + bend} ${from.y} ${x2 - bend} ${to.y} ${x2} ${to.y}`,
    "stroke-width": 1.5 + 9 * share,
  });
}

// The side of the test, where the band leaves room: above it if it rises, else below.
function edgeLabel(id) {
  const node = nodes[id];
  const { x, y } = places.get(id);
  const lit = state.way?.part.get(id);
  const part = lit && lit < 1 ? `${percent(lit)} ` : "";
  const side = edgeText(node);
  const falls = y > places.get(node.parent).y;
  const text = fitText(part + side, CARD.spaceX - 22, `${lit ? "600 " : ""}12px ${FONT}`);
  return svg("text", {
    class: "edge-label" + (lit ? " lit" : ""), x: x - 8, y: falls ? y + 19 : y - 10,
    "text-anchor": "end",
  }, svg("title", { text: side }), text);
}

// Selection, path, matches and folds: what changes without a new drawing of the cards.
function markCards() {
  for (const [id, card] of cards) {
    const lit = state.way?.part.has(id) ?? false;
    card.classList.toggle("lit", lit);
    card.classList.toggle("dim", state.way !== null && !lit);
    card.classList.toggle("match", state.matches.has(id));
    card.classList.toggle("selected", id === state.selected);
    card.setAttribute("aria-selected", id === state.selected);
    card.setAttribute("tabindex", id === focusTarget() ? "0" : "-1");
    if (isLeaf(nodes[id])) continue;
    const folded = state.folded.has(id);
    card.classList.toggle("folded", folded);
    card.setAttribute("aria-expanded", !folded);
    card.querySelector(".sign").setAttribute("d", folded ? "M-4 0h8M0 -4v8" : "M-4 0h8");
  }
}

// The card that Tab comes to: the selected one, or what hides it.
function focusTarget() {
  return ancestry(state.selected).findLast((id) => places.has(id));
}

listen("fold", drawTree);
listen("row", drawTree);
listen("select", markCards);
listen("match", markCards);
