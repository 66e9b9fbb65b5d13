// What if: a control per feature; every change is routed again, here, as the library does it.
// The strip under a slider shows the answer along its range, all else as it is.

// Features that something looks at, those that decide about most rows first.
const used = new Set(Object.entries(rowsDecided()).sort(([, a], [, b]) => b - a).map(([j]) => Number(j)));
const controls = new Map(); // feature -> {read(), write(value), paint(row)}
const STRIP_STEPS = 60;
const BARS_SHOWN = 5;

// By feature: the rows of nodes that test it or of leaves with a model of it, divided among
// the features of each; a stand-in for a missing value counts for little.
function rowsDecided() {
  const found = {};
  const count = (holder, rows) => {
    const named = featuresOf(holder);
    for (const j of named) found[j] = (found[j] ?? 0) + rows / named.length;
  };
  for (const node of nodes) {
    if (!isLeaf(node)) count(node.test, rowsAt(node));
    else if (node.model) count(node.model, rowsAt(node) / 10);
    for (const { test } of node.surrogates ?? []) count(test, rowsAt(node) / 1000);
  }
  return found;
}

// The row to begin with: the first of the table, else the middle of every range.
function firstRow() {
  if (sample?.values.length) return [...sample.values[0]];
  return features.map((feature, j) => {
    if (!isNumber(feature)) return feature.categories.length ? 0 : null;
    const [low, high] = data.ranges[j];
    return niceNumber((low + high) / 2, high - low);
  });
}

// A value with as many digits as a range of this width needs.
function niceNumber(value, width) {
  const digits = Math.min(Math.max(2 - Math.floor(Math.log10(width || 1)), 0), 15);
  return Number(value.toFixed(digits));
}

function buildWhatIf() {
  const line = (j) => el("div", { class: "control", "data-feature": j }, makeControl(j));
  const inUse = [...used].map(line);
  const idle = features.flatMap((_, j) => (used.has(j) ? [] : [line(j)]));
  fill(byId("whatif"),
    el("div", { class: "tools" },
      el("h3", { id: "whatif-title" }),
      el("button", { type: "button", id: "whatif-reset", text: "Reset", onclick: resetRow }),
      el("button", { type: "button", text: "Clear", onclick: forgetRow })),
    el("div", { id: "whatif-answer", class: "sticky", "aria-live": "polite" }),
    el("div", { class: "controls" }, inUse),
    idle.length ? el("details", {},
      el("summary", { text: `${plural(idle.length, "feature")} that nothing looks at` }), idle) : null,
    el("details", { open: true }, el("summary", { text: "Its way through the tree" }), el("div", { id: "whatif-steps" })),
  );
}

function resetRow() {
  if (state.startedFrom === null) tryRow([...state.start]);
  else pickRow(state.startedFrom);
}

// -- one control -----------------------------------------------------------------------

function makeControl(j) {
  const { name } = features[j];
  const field = isNumber(features[j]) ? numberField(j) : categoryField(j);
  const setMissing = (missing) => {
    missingBox.checked = missing;
    for (const input of field.inputs) input.disabled = missing;
  };
  const missingBox = el("input", {
    type: "checkbox", class: "missing-box", "aria-label": `${name} is missing`,
    onchange: () => {
      setMissing(missingBox.checked);
      changed();
    },
  });
  controls.set(j, {
    read: () => (missingBox.checked ? null : field.read()),
    write: (value) => {
      setMissing(value === null);
      if (value !== null) field.write(value);
    },
    paint: field.paint,
  });
  return [
    el("div", { class: "control-head" },
      el("label", { class: "control-name", for: `feature-${j}` }, el("bdi", { text: name })),
      el("label", { class: "choice" }, missingBox, "missing")),
    field.box,
  ];
}

function numberField(j) {
  const [low, high] = data.ranges[j];
  let value = niceNumber((low + high) / 2, high - low);
  const slider = el("input", {
    type: "range", min: 0, max: 1000, step: 1, "aria-label": `${features[j].name}, slider`,
    oninput: () => {
      value = niceNumber(low + ((high - low) * Number(slider.value)) / 1000, high - low);
      exact.value = value;
      changed();
    },
  });
  const moveSlider = () => {
    slider.value = Math.round((1000 * (value - low)) / (high - low || 1));
  };
  const exact = el("input", {
    type: "number", step: "any", id: `feature-${j}`, value,
    oninput: () => {
      if (!Number.isFinite(exact.valueAsNumber)) return; // half typed
      value = exact.valueAsNumber;
      moveSlider();
      changed();
    },
  });
  const strip = el("div", { class: "strip", "aria-hidden": "true" });
  return {
    inputs: [slider, exact],
    box: el("div", { class: "number-field" }, el("div", { class: "slide" }, slider, strip), exact),
    read: () => value,
    write: (given) => {
      value = given;
      exact.value = value;
      moveSlider();
    },
    paint: (row) => strip.style.setProperty("background", answerStrip(j, row, low, high)),
  };
}

function categoryField(j) {
  const options = features[j].categories.map((_, s) => el("option", { value: s, text: categoryText(j, s) }));
  const choice = el("select", { id: `feature-${j}`, onchange: changed },
    options, el("option", { value: "other", text: "another value, never seen" }));
  return {
    inputs: [choice],
    box: choice,
    read: () => (choice.value === "other" ? null : Number(choice.value)),
    write: (value) => { choice.value = String(value); },
    paint: () => {},
  };
}

// A gradient of the answers along a feature's range, the other cells of the row as they are.
function answerStrip(j, row, low, high) {
  const row2 = [...row];
  const stops = [];
  for (let i = 0; i < STRIP_STEPS; i++) {
    row2[j] = low + ((high - low) * (i + 0.5)) / STRIP_STEPS;
    const { colour } = verdict(follow(row2).answer);
    stops.push(`${colour} ${(100 * i) / STRIP_STEPS}% ${(100 * (i + 1)) / STRIP_STEPS}%`);
  }
  return `linear-gradient(90deg, ${stops.join(", ")})`;
}

// -- together --------------------------------------------------------------------------

function changed() {
  tryRow(features.map((_, j) => controls.get(j).read()));
}

function drawWhatIf() {
  const { way, start } = state;
  const row = way?.row ?? start;
  for (const [j, control] of controls) {
    // A control that says so already is left alone: the reader may be typing in it, and
    // "another value" is missing for the tree but not the box "missing".
    if (control.read() !== row[j]) control.write(row[j]);
    if (used.has(j)) control.paint(row);
    const box = byId("whatif").querySelector(`[data-feature="${j}"]`);
    box.classList.toggle("moved", row[j] !== start[j]);
  }
  const shown = way ?? follow(row);
  const asStart = row.every((v, j) => v === start[j]);
  byId("whatif-title").textContent = asStart && state.startedFrom !== null
    ? `Row ${sample.index[state.startedFrom]}` : "A row of your own";
  fill(byId("whatif-answer"), verdictLine(shown), numeric ? shareBar(shown.answer) : answerChange(shown),
    leafLine(shown), asStart ? null : beforeNote(shown), other ? otherNote(row) : null);
  fill(byId("whatif-steps"), stepList(shown));
}

// A bar for each of the likeliest classes, now or at the start, with a mark where it was.
function answerChange(way) {
  const before = follow(state.start).answer, { answer } = way;
  const order = answer.map((_, k) => k)
    .sort((a, b) => Math.max(answer[b], before[b]) - Math.max(answer[a], before[a]) || a - b);
  const shown = order.slice(0, BARS_SHOWN).sort((a, b) => a - b);
  const rest = order.length - shown.length;
  return el("div", { class: "answer-bars" }, shown.map((k) => el("div", { class: "answer-bar", "data-class": k },
    el("span", {}, dot(colourOf(k)), el("bdi", { text: labels[k] })),
    el("span", { class: "track", title: `at the start ${percent(before[k])}` },
      el("span", { class: "bar", style: { width: `${100 * answer[k]}%`, background: colourOf(k) } }),
      el("span", { class: "was", style: { left: `${100 * before[k]}%` } })),
    el("span", { class: "number", text: percent(answer[k]) }))),
  rest > 0 ? el("p", { class: "quiet", text: `and ${rest} more with less` }) : null);
}

// What the tree that this one is compared with answers.
function otherNote(row) {
  const { label, share, colour } = otherVerdict(otherWay(row));
  return el("p", { class: "note", id: "whatif-other" }, el("bdi", { text: other.title }), ": ", dot(colour),
    el("bdi", { class: "strong", text: label }), ` ${shareText(share)}`);
}

// What the answer was before the first change.
function beforeNote(way) {
  const before = verdict(follow(state.start).answer), now = verdict(way.answer);
  const same = before.index === now.index;
  return el("p", { class: "note" },
    same ? "The same answer as at the start: " : "At the start: ",
    el("bdi", { text: before.label }), ` ${shareText(before.share)}`);
}

addPanel("whatif", drawWhatIf);
listen("row", () => redraw("whatif"));
