// Moving about the tree: drag and wheel, two fingers, buttons, and the keyboard.

// Across and along may have different scales where no text shows; see `zoomBy`.
const view = { x: 0, y: 0, across: 1, along: 1 };
const canvas = byId("tree");

const NEAR = 0.6; // from here on cards show all of their text,
const MIDDLE = 0.3; // from here on a short title, and below only class shares

function applyView() {
  const { x, y, across, along } = view;
  byId("scene").setAttribute("transform", `translate(${x} ${y}) scale(${across} ${along})`);
  const scale = Math.min(across, along);
  canvas.classList.toggle("middle", scale < NEAR && scale >= MIDDLE);
  canvas.classList.toggle("far", scale < MIDDLE);
}

// Zoom by a factor about a point of the canvas, its middle if none is given. A tree that is
// shown whole may be stretched one way: each way grows up to where titles show, and from
// there on both together.
function zoomBy(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const { across, along } = view;
  const grown = (own, other) => (own < MIDDLE ? Math.min(own * factor, MIDDLE) : other < MIDDLE ? own : own * factor);
  const both = across === along || factor < 1;
  const limit = (scale) => Math.min(Math.max(scale, 0.002), 4);
  setScale(limit(both ? across * factor : grown(across, along)), limit(both ? along * factor : grown(along, across)), x, y);
}

function setScale(across, along, x, y) {
  view.x = x - ((x - view.x) * across) / view.across;
  view.y = y - ((y - view.y) * along) / view.along;
  view.across = across;
  view.along = along;
  applyView();
}

// The part of the canvas that neither the legend nor the buttons cover.
function freeRoom() {
  const whole = canvas.getBoundingClientRect(), room = { top: 14, bottom: whole.height - 14 };
  for (const box of [byId("legend"), byId("zoom")].map((e) => e.getBoundingClientRect())) {
    if (!box.height) continue;
    if (box.top + box.height / 2 < whole.top + whole.height / 2) room.top = Math.max(room.top, box.bottom - whole.top + 10);
    else room.bottom = Math.min(room.bottom, box.top - whole.top - 10);
  }
  return { left: 20, right: whole.width - 20, ...room };
}

// What all cards that show take up, with their knobs.
function treeExtent() {
  const box = { left: 0, right: 0, top: Infinity, bottom: -Infinity };
  for (const [id, { x, y }] of places) {
    const half = cardHeight(nodes[id]) / 2;
    box.right = Math.max(box.right, x + CARD.width + (isLeaf(nodes[id]) ? 0 : 10));
    box.top = Math.min(box.top, y - half);
    box.bottom = Math.max(box.bottom, y + half);
  }
  return box;
}

// The scale at which all cards fit, no larger than life.
function wholeScale() {
  const room = freeRoom(), box = treeExtent();
  const across = (room.right - room.left) / (box.right - box.left);
  const along = (room.bottom - room.top) / (box.bottom - box.top);
  return { room, box, across, along, scale: Math.min(across, along, 1.15) };
}

// The whole tree. From afar, where no text shows, it takes all of the room both ways.
function fitView() {
  const { room, box, across, along, scale } = wholeScale();
  view.across = view.along = scale;
  if (scale < MIDDLE) {
    view.across = Math.min(across, MIDDLE);
    view.along = Math.min(along, MIDDLE);
  }
  view.x = (room.left + room.right - (box.left + box.right) * view.across) / 2;
  view.y = (room.top + room.bottom - (box.top + box.bottom) * view.along) / 2;
  applyView();
}

// So large that cards can be read, about a point of the scene.
function readable(x, y) {
  setScale(Math.max(view.across, NEAR), Math.max(view.along, NEAR), view.x + x * view.across, view.y + y * view.along);
}

// Pan, and zoom out if need be, until these nodes are seen.
function showNodes(ids) {
  const spots = ids.flatMap((id) => places.get(id) ?? []);
  const room = freeRoom();
  const left = Math.min(...spots.map((p) => p.x)), top = Math.min(...spots.map((p) => p.y));
  const width = Math.max(...spots.map((p) => p.x)) + CARD.width - left;
  const height = Math.max(...spots.map((p) => p.y)) + CARD.curves - top;
  const whole = Math.min((room.right - room.left) / width, (room.bottom - room.top) / height);
  const now = Math.min(view.across, view.along);
  if (whole < now) zoomBy(Math.max(whole, MIDDLE) / now);
  for (const id of [ids[0], ids.at(-1), ids[0]]) showNode(id);
}

// Pan just enough for a node to be seen; from afar it comes near.
function showNode(id) {
  const place = places.get(id);
  if (!place) return;
  if (Math.min(view.across, view.along) < MIDDLE) readable(place.x, place.y);
  const room = freeRoom();
  const left = view.x + place.x * view.across, middle = view.y + place.y * view.along;
  const half = (cardHeight(nodes[id]) / 2) * view.along, right = left + (CARD.width + 20) * view.across;
  if (right > room.right) view.x -= right - room.right;
  if (left < room.left) view.x += room.left - left;
  if (middle + half > room.bottom) view.y -= middle + half - room.bottom;
  if (middle - half < room.top) view.y += room.top - (middle - half);
  applyView();
}

// -- pointer ---------------------------------------------------------------------------

const pointers = new Map();
let dragged = false;

canvas.addEventListener("pointerdown", (event) => {
  pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  if (pointers.size === 1) dragged = false;
});

canvas.addEventListener("pointermove", (event) => {
  const last = pointers.get(event.pointerId);
  if (!last) return;
  const box = canvas.getBoundingClientRect();
  const now = { x: event.clientX - box.left, y: event.clientY - box.top };
  if (!dragged) {
    if (Math.hypot(now.x - last.x, now.y - last.y) < 4) return;
    dragged = true; // captured only now: before, a click belongs to the card
    canvas.setPointerCapture(event.pointerId);
  }
  const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
  if (other) {
    const before = Math.hypot(last.x - other.x, last.y - other.y) || 1;
    const after = Math.hypot(now.x - other.x, now.y - other.y) || 1;
    zoomBy(after / before, (now.x + other.x) / 2, (now.y + other.y) / 2);
  }
  const share = other ? 0.5 : 1;
  view.x += (now.x - last.x) * share;
  view.y += (now.y - last.y) * share;
  pointers.set(event.pointerId, now);
  applyView();
});

for (const end of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
}

// Inside another page (a notebook) the plain wheel belongs to that page.
const embedded = window.self !== window.top;
canvas.addEventListener("wheel", (event) => {
  if (embedded && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  const speed = event.deltaMode === 1 ? 0.05 : 0.0018;
  zoomBy(Math.exp(-event.deltaY * speed), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

canvas.addEventListener("click", (event) => {
  if (dragged) return;
  const knob = event.target.closest("[data-fold]");
  const card = event.target.closest("[data-node]");
  if (knob) toggleFold(Number(knob.dataset.fold));
  else if (card) {
    card.focus({ preventScroll: true });
    select(Number(card.dataset.node), { reveal: false });
    showTab("node");
  }
});

// -- keyboard --------------------------------------------------------------------------

// The next card in the same column, upwards (-1) or downwards (+1).
function besideNode(id, step) {
  const column = [...places.keys()].filter((n) => depths[n] === depths[id]);
  return column[column.indexOf(id) + step];
}

function walk(id) {
  if (id === undefined || id < 0) return;
  select(id);
  cards.get(id).focus({ preventScroll: true });
}

const KEYS = {
  ArrowLeft: (id) => walk(nodes[id].parent),
  ArrowRight: (id) => walk(nodes[id].children?.[0]),
  ArrowUp: (id) => walk(besideNode(id, -1)),
  ArrowDown: (id) => walk(besideNode(id, 1)),
  Home: () => walk(0),
  End: () => walk([...places.keys()].at(-1)),
  Enter: (id) => toggleFold(id),
  " ": (id) => toggleFold(id),
  "+": () => zoomBy(1.25),
  "=": () => zoomBy(1.25),
  "-": () => zoomBy(0.8),
  0: () => fitView(),
};

canvas.addEventListener("keydown", (event) => {
  const card = event.target.closest("[data-node]");
  const act = KEYS[event.key];
  if (!card || !act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(Number(card.dataset.node));
});

byId("zoom-in").addEventListener("click", () => zoomBy(1.25));
byId("zoom-out").addEventListener("click", () => zoomBy(0.8));
byId("zoom-fit").addEventListener("click", () => fitView());
