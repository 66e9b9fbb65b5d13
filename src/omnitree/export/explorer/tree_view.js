// The tree as a picture: from left to right, a card per node (cards.js), a band per edge as
// thick as the rows it carries. Cards are kept between drawings, so that focus stays.

const cards = new Map(); // node id -> <g>
const places = new Map(); // node id -> {x, y} of the card's left middle
const SPACE = { least: 72, most: 112 };
let spaceX = SPACE.most; // between columns of cards: as the words at the edges need

const edgeWidths = []; // by node: what the words at its edge need, near and from afar

function edgeWidth(id) {
  return edgeWidths[id] ??= Math.max(textWidth(edgeText(nodes[id]), `600 12px ${FONT}`) + 24,
    textWidth(shortEdgeText(nodes[id], Infinity, ""), `18px ${FONT}`) + 16);
}

function spaceFor(shown) {
  let widest = SPACE.least;
  for (const id of shown.slice(1)) widest = Math.max(widest, edgeWidth(id));
  return Math.min(widest, SPACE.most);
}

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
  spaceX = spaceFor(shown);
  let next = 0; // where the next card may begin
  for (const id of shown) {
    const open = !isLeaf(nodes[id]) && !state.folded.has(id);
    const height = cardHeight(nodes[id]);
    const y = open ? null : next + height / 2;
    if (!open) next += height + CARD.spaceY;
    places.set(id, { x: depths[id] * (CARD.width + spaceX), y });
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
  fill(byId("edges"), edges.map(edgeBand), edges.flatMap(edgeLabel));
  markCards();
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
  const x1 = from.x + CARD.width, x2 = to.x, bend = spaceX * 0.5;
  const share = rowsAt(node) / (rowsAt(nodes[0]) || 1);
  return svg("path", {
    class: "edge" + (state.way?.part.has(id) ? " lit" : ""), "data-edge": id,
    d: `M${x1} ${from.y}C${x1 + bend} ${from.y} ${x2 - bend} ${to.y} ${x2} ${to.y}`,
    style: { "--share": share },
  });
}

// The side of the test for a look from afar, with as many digits as there is room for.
function shortEdgeText(node, room, font) {
  const { test } = nodes[node.parent];
  const isCut = "threshold" in test && (!("feature" in test) || isNumber(features[test.feature]));
  if (!isCut) return edgeText(node);
  const [sign] = sideText(test, branchOfNode(node));
  const texts = [4, 3, 2].map((digits) => `${sign} ${num(test.threshold - offsetOf(test), digits)}`);
  return texts.find((text) => textWidth(text, font) <= room) ?? texts.at(-1);
}

// The side of the test, where the band leaves room: above it if it rises, else below. Once in
// the size of the cards, and once, shorter, for a look from afar.
function edgeLabel(id) {
  const node = nodes[id];
  const { x, y } = places.get(id);
  const lit = state.way?.part.get(id);
  const part = lit && lit < 1 ? `${percent(lit)} ` : "";
  const side = edgeText(node);
  const falls = y > places.get(node.parent).y;
  const font = (size) => `${lit ? "600 " : ""}${size}px ${FONT}`;
  const label = (text, kind, above, below) => svg("text", {
    class: `edge-label ${kind}${lit ? " lit" : ""}`, x: x - 8, y: falls ? y + below : y - above, "text-anchor": "end",
  }, svg("title", { text: side }), text);
  const room = spaceX - 14;
  return [
    label(fitText(part + side, spaceX - 22, font(12)), "near", 10, 19),
    label(fitText(shortEdgeText(node, room, font(18)), room, font(18)), "short", 12, 26),
  ];
}

// Selection, path, matches and folds: what changes without a new drawing of the cards.
function markCards() {
  for (const [id, card] of cards) {
    const lit = state.way?.part.has(id) ?? false;
    card.classList.toggle("lit", lit);
    card.classList.toggle("dim", state.way !== null && !lit);
    card.classList.toggle("match", state.matches.has(id));
    card.classList.toggle("only-here", isOnlyHere(id));
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
