// Header, tabs, theme, and the first drawing.

const FEWEST = 7; // nodes that show at first, however small the window
const LEGEND = 12; // classes named below the tree

const tabs = Object.keys(panels); // in the order of the page

tabs.forEach((name, i) => {
  const tab = byId(`tab-${name}`);
  tab.addEventListener("click", () => {
    showTab(name);
    if (name === "whatif" && !state.way) resetRow();
  });
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(i + step + tabs.length) % tabs.length];
    showTab(next);
    byId(`tab-${next}`).focus();
  });
});

// -- theme -----------------------------------------------------------------------------

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
}

prefersDark.addEventListener("change", (event) => setTheme(event.matches));
byId("theme").addEventListener("click", () => {
  setTheme(document.documentElement.dataset.theme !== "dark");
});

// -- header ----------------------------------------------------------------------------

function drawHeader() {
  const leaves = nodes.filter(isLeaf).length;
  byId("title").textContent = data.title;
  byId("made-by").textContent = `${data.made_by} · arrow keys walk the tree, Enter folds, / finds`;
  byId("summary").textContent = [
    plural(nodes.length, "node"), plural(leaves, "leaf", "leaves"),
    `depth ${Math.max(...depths)}`, `${plural(rowsAt(nodes[0]), "training row")}`,
  ].join(" · ");
  if (numeric) {
    fill(byId("legend"), [...new Set([lowest, highest])].map((number) =>
      el("span", {}, dot(colourOfNumber(number)), num(number, 4))));
    return;
  }
  const entries = labels.map((text, k) => el("span", {}, dot(colourOf(k)), el("bdi", { text })));
  fill(byId("legend"), entries.slice(0, LEGEND),
    entries.length > LEGEND ? el("span", { text: `and ${entries.length - LEGEND} more` }) : null);
}

byId("unfold").addEventListener("click", () => {
  if (state.folded.size) {
    state.folded.clear();
    tell("fold");
    fitView();
  } else firstView();
});

listen("fold", () => { byId("unfold").textContent = state.folded.size ? "Unfold" : "Fold"; });

// The whole tree if at least its short titles can be read, else as many of its upper levels
// as can be read in full. Places are tried out without drawing: a tree may have thousands.
function firstView() {
  const small = canvas.clientWidth < 600;
  const scaleWith = (limit) => {
    foldBeyond(limit);
    placeNodes(visibleNodes());
    return wholeScale().scale;
  };
  if (scaleWith(nodes.length) < (small ? MIDDLE : 0.42)) {
    let few = 1, many = nodes.length; // so many fit, so many do not
    while (many - few > 1) {
      const middle = (few + many) >> 1;
      if (scaleWith(middle) >= (small ? 0.45 : 0.68)) few = middle;
      else many = middle;
    }
    foldBeyond(Math.max(few, FEWEST, 1 + nodes[0].children.length));
  }
  tell("fold");
  fitView();
}

// -- start -----------------------------------------------------------------------------

setTheme(prefersDark.matches);
drawHeader();
state.start = firstRow();
state.startedFrom = sample?.values.length ? 0 : null;
buildWhatIf();
firstView();
// A frame may get its size after this page is read: until somebody touches it, begin anew.
const sizes = new ResizeObserver(() => { if (!kept) firstView(); });
sizes.observe(canvas);
for (const kind of ["pointerdown", "keydown", "wheel"]) {
  addEventListener(kind, () => sizes.disconnect(), { once: true, capture: true, passive: true });
}
select(0, { reveal: false });
showTab("node");
