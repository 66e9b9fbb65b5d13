// The table of rows: pick one, and its way lights up in the tree.

const answers = sample ? sample.values.map((row) => verdict(follow(row).answer)) : [];
let wrongOnly = false;
let hereOnly = false;

const isWrong = (i) => sample.labels !== null && answers[i].index !== sample.labels[i];

function drawRows() {
  if (!sample) {
    fill(byId("rows"), el("p", { class: "note", text: "This page was made without rows. Make it with to_html(path, X, y) to see them here." }));
    return;
  }
  fill(byId("rows"),
    el("div", { class: "tools" }, rowsSummary(),
      sample.labels ? filterBox("wrong only", wrongOnly, (on) => { wrongOnly = on; }) : null,
      filterBox("at the selected node", hereOnly, (on) => { hereOnly = on; })),
    el("div", { class: "scroll" }, rowTable()),
    el("div", { id: "picked" }),
  );
  drawPicked();
}

function rowsSummary() {
  const shown = sample.values.length;
  const all = shown < sample.n_rows ? `${shown} of ${sample.n_rows} rows, evenly spread` : plural(shown, "row");
  return el("span", { class: "quiet", text: all });
}

function filterBox(text, checked, change) {
  return el("label", { class: "choice" },
    el("input", { type: "checkbox", checked, onchange: (event) => {
      change(event.target.checked);
      drawRows();
    } }), text);
}

function rowTable() {
  const names = features.map((f) => f.name);
  const known = sample.labels ? ["class"] : sample.target ? ["target"] : [];
  const head = ["row", ...known, "answer", ...names];
  const keep = sample.values.flatMap((row, i) => {
    if (wrongOnly && !isWrong(i)) return [];
    return hereOnly && !follow(row).part.has(state.selected) ? [] : [i];
  });
  return el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, el("bdi", { text }))))),
    el("tbody", {}, keep.map(rowLine)),
  );
}

function rowLine(i) {
  const { label, colour } = answers[i];
  const pick = () => pickRow(i);
  return el("tr", {
    tabindex: "0", "data-row": i, "aria-selected": state.picked === i,
    class: isWrong(i) ? "wrong" : null, onclick: pick,
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick();
    },
  },
    el("th", { scope: "row", text: sample.index[i] }),
    sample.labels ? el("td", {}, dot(colourOf(sample.labels[i])), el("bdi", { text: labels[sample.labels[i]] })) : null,
    sample.target ? el("td", { class: "number", text: num(sample.target[i], 6) }) : null,
    el("td", {}, dot(colour), el("bdi", { text: label }), isWrong(i) ? el("span", { class: "cross", text: " ✗", title: "not the row's class" }) : null),
    sample.values[i].map((v, j) => el("td", { class: v === null ? "missing" : isNumber(features[j]) ? "number" : null }, el("bdi", { text: cellText(j, v) }))),
  );
}

// The row that is followed: marked in the table, explained below it.
function drawPicked() {
  for (const line of byId("rows").querySelectorAll("[data-row]")) {
    line.setAttribute("aria-selected", Number(line.dataset.row) === state.picked);
  }
  const box = byId("picked");
  if (!box) return;
  if (state.picked === null) {
    fill(box, el("p", { class: "note", text: "Pick a row to see its way through the tree." }));
    return;
  }
  fill(box,
    el("div", { class: "tools" },
      el("h3", { text: `Row ${sample.index[state.picked]}` }),
      el("button", { type: "button", text: "What if …", onclick: () => showTab("whatif") }),
      el("button", { type: "button", text: "Clear", onclick: forgetRow })),
    answerBox(state.way),
    stepList(state.way),
  );
}

addPanel("rows", drawRows);
listen("row", () => {
  if (byId("rows").hidden) redraw("rows");
  else drawPicked(); // the table stays as it is, with its place in the scroll
});
listen("select", () => { if (hereOnly) redraw("rows"); });
