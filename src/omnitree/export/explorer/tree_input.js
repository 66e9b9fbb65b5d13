// Moving about the tree: drag and wheel, two fingers, buttons, and the keyboard.

const view = { x: 0, y: 0, scale: 1 };
const canvas = byId("tree");

function applyView() {
  byId("scene").setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
}

// Zoom by a factor about a point of the canvas, its middle if none is given.
function zoomBy(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const scale = Math.min(Math.max(view.scale * factor, 0.05), 4);
  view.x = x - ((x - view.x) * scale) / view.scale;
  view.y = y - ((y - view.y) * scale) / view.scale;
  view.scale = scale;
  applyView();
}

// The whole tree, but no larger than life; `least` keeps cards readable at the start.
function fitView(least = 0.05) {
  const xs = [...places.values()].map((p) => p.x), ys = [...places.values()].map((p) => p.y);
  const width = Math.max(...xs) + CARD.width, low = Math.min(...ys), high = Math.max(...ys);
  const roomX = canvas.clientWidth - 48, roomY = canvas.clientHeight - 88;
  const whole = Math.min(roomX / width, roomY / (high - low + CARD.height), 1.15);
  view.scale = Math.max(whole, least);
  const fits = width * view.scale <= roomX;
  view.x = fits ? 24 + (roomX - width * view.scale) / 2 : 24;
  const middle = whole >= least ? (low + high) / 2 : places.get(0).y;
  view.y = canvas.clientHeight / 2 - middle * view.scale;
  applyView();
}

// Pan, and zoom out if need be, until these nodes are seen.
function showNodes(ids) {
  const spots = ids.flatMap((id) => places.get(id) ?? []);
  const left = Math.min(...spots.map((p) => p.x)), top = Math.min(...spots.map((p) => p.y));
  const width = Math.max(...spots.map((p) => p.x)) + CARD.width - left;
  const height = Math.max(...spots.map((p) => p.y)) + CARD.tall - top;
  const whole = Math.min((canvas.clientWidth - 48) / width, (canvas.clientHeight - 90) / height);
  if (whole < view.scale) zoomBy(Math.max(whole, 0.3) / view.scale);
  for (const id of [ids[0], ids.at(-1), ids[0]]) showNode(id);
}

// Pan just enough for a node to be seen.
function showNode(id) {
  const place = places.get(id);
  if (!place) return;
  const left = view.x + place.x * view.scale, middle = view.y + place.y * view.scale;
  const half = (CARD.height / 2) * view.scale, right = left + (CARD.width + 20) * view.scale;
  const roomX = canvas.clientWidth - 16, roomY = canvas.clientHeight - 60;
  if (right > roomX) view.x -= right - roomX;
  if (left < 16) view.x += 16 - left;
  if (middle + half > roomY) view.y -= middle + half - roomY;
  if (middle - half < 16) view.y += 16 - (middle - half);
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
