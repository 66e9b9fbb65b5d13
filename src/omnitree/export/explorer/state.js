// What the reader has chosen. Panels change it through these functions only and listen for
// what concerns them: "select" (a node), "fold", "row" (a row to follow), "match" (a search).

const state = {
  selected: 0,
  folded: new Set(),
  way: null, // what `follow` says of the row in the what-if controls, or null: none lit
  picked: null, // position of the row in the table, if it is still as picked
  start: null, // the row that "reset" goes back to,
  startedFrom: null, // and its position in the table, if it has one
  matches: new Set(),
};

const listeners = {};

function listen(event, listener) {
  (listeners[event] ??= []).push(listener);
}

function tell(event) {
  for (const listener of listeners[event] ?? []) listener();
}

// Panels: drawn when seen. What changes under a hidden panel is drawn once it shows.
const panels = {}; // name -> {draw, stale}

function addPanel(name, draw) {
  panels[name] = { draw, stale: true };
}

function redraw(name) {
  const panel = panels[name];
  panel.stale = byId(name).hidden;
  if (!panel.stale) panel.draw();
}

function showTab(name) {
  for (const other of Object.keys(panels)) {
    const on = other === name;
    byId(other).hidden = !on;
    byId(`tab-${other}`).setAttribute("aria-selected", on);
    byId(`tab-${other}`).setAttribute("tabindex", on ? "0" : "-1");
  }
  if (panels[name].stale) redraw(name);
}

function select(id, { reveal = true } = {}) {
  state.selected = id;
  let unfolded = false;
  for (const above of ancestry(id).slice(0, -1)) {
    unfolded = state.folded.delete(above) || unfolded;
  }
  if (unfolded) tell("fold");
  tell("select");
  if (reveal) showNode(id);
}

function toggleFold(id) {
  if (isLeaf(nodes[id])) return;
  if (!state.folded.delete(id)) state.folded.add(id);
  tell("fold");
}

// Unfold from the root while at most so many nodes show; the rest stays folded. Who calls it
// tells of it.
function foldBeyond(limit) {
  state.folded = new Set(nodes.filter((n) => !isLeaf(n)).map((n) => n.id));
  let shown = 1;
  const queue = [0];
  for (const id of queue) {
    const below = nodes[id].children ?? [];
    if (!below.length || shown + below.length > limit) continue;
    state.folded.delete(id);
    shown += below.length;
    queue.push(...below);
  }
}

// Follow a row of the table.
function pickRow(position) {
  state.picked = state.startedFrom = position;
  state.start = [...sample.values[position]];
  state.way = follow([...state.start]);
  for (const id of state.way.part.keys()) state.folded.delete(id);
  tell("fold");
  tell("row");
  showNodes([...state.way.part.keys()]);
}

// Follow a row made by hand.
function tryRow(row) {
  state.picked = null;
  state.way = follow(row);
  tell("row");
}

function forgetRow() {
  state.picked = null;
  state.way = null;
  tell("row");
}
