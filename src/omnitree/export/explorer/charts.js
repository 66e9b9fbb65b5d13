// Small pictures: shares of classes, weights as bars, histograms by class.

function dot(colour) {
  return el("span", { class: "dot", style: { background: colour }, "aria-hidden": "true" });
}

// One bar divided by class; of a number, how far up it is.
function shareBar(shares) {
  if (numeric) {
    const { colour } = verdict(shares);
    return el("div", { class: "share-bar", "aria-hidden": "true" },
      el("span", { style: { width: `${100 * levelOf(shares[0])}%`, background: colour } }));
  }
  const parts = shares.map((s, k) =>
    s > 0 ? el("span", { style: { width: `${100 * s}%`, background: colourOf(k) } }) : null,
  );
  return el("div", { class: "share-bar", "aria-hidden": "true" }, parts);
}

// A table of classes: bar, share and, if given, counts; the largest first, many cut short.
function classTable(shares, counts = null, limit = 12) {
  const order = shares.map((_, k) => k).sort((a, b) => shares[b] - shares[a] || a - b);
  const few = shares.length <= 4;
  const shown = order.filter((k) => few || shares[k] > 0).slice(0, limit);
  const rows = shown.map((k) =>
    el("tr", {},
      el("th", { scope: "row" }, dot(colourOf(k)), el("bdi", { text: labels[k] })),
      el("td", { class: "grow" },
        el("span", { class: "bar", style: { width: `${100 * shares[k]}%`, background: colourOf(k) } })),
      el("td", { class: "number", text: percent(shares[k]) }),
      counts && el("td", { class: "number quiet", text: count(counts[k]) }),
    ),
  );
  const rest = order.length - shown.length;
  return el("div", {},
    el("table", { class: "classes" }, el("tbody", {}, rows)),
    rest > 0 ? el("p", { class: "quiet", text: `and ${rest} more with less or none` }) : null,
  );
}

// What a node of a tree for numbers says of its training rows.
function numberTable(node) {
  const facts = [["rows", count(rowsAt(node))], ["answer without a model", num(sharesAt(node)[0], 6)],
    ["mean loss", num(lossAt(node), 4)]];
  return el("table", { class: "classes" }, el("tbody", {}, facts.map(([name, text]) =>
    el("tr", {}, el("th", { scope: "row", text: name }), el("td", { class: "number", text })))));
}

// Named numbers as bars to both sides of zero, the greatest first.
function signedBars(items, limit = 16) {
  const sorted = [...items].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const top = Math.abs(sorted[0]?.value ?? 0) || 1;
  const rows = sorted.slice(0, limit).map(({ name, value, note }) => {
    const width = `${(50 * Math.abs(value)) / top}%`;
    const side = value < 0 ? { right: "50%", width } : { left: "50%", width };
    return el("tr", {},
      el("th", { scope: "row" }, el("bdi", { text: name }),
        note ? el("span", { class: "quiet", text: ` ${note}` }) : null),
      el("td", { class: "grow" }, el("span", { class: "signed" },
        el("span", { class: value < 0 ? "minus" : "plus", style: side }))),
      el("td", { class: "number", text: num(value, 4) }),
    );
  });
  const rest = sorted.length - rows.length;
  return el("div", {},
    el("table", { class: "bars" }, el("tbody", {}, rows)),
    rest > 0 ? el("p", { class: "quiet", text: `and ${rest} smaller ones` }) : null,
  );
}

const CHART = { width: 380, height: 150, left: 4, right: 4, top: 18, bottom: 22 };

// Histogram of what a test looks at, stacked by class, with the cut; `mark` is the value of
// the row that is followed, or null.
function histogram(chart, mark, words) {
  const { width, height, left, right, top, bottom } = CHART;
  const n = chart.counts[0].length;
  const step = (width - left - right) / n;
  const at = (value) => left + ((value - chart.low) / chart.width) * step;
  const picture = svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words,
  });
  picture.append(...stackedBars(chart, step, step > 4 ? 1 : 0));
  const axis = height - bottom;
  picture.append(svg("line", { class: "axis", x1: left, x2: width - right, y1: axis, y2: axis }));
  for (const value of roundTicks(chart.low, chart.low + n * chart.width)) {
    const text = num(value, 4), half = textWidth(text, `12px ${FONT}`) / 2;
    const x = Math.min(Math.max(at(value), left + half), width - right - half);
    picture.append(
      svg("line", { class: "axis", x1: at(value), x2: at(value), y1: axis, y2: axis + 4 }),
      svg("text", { class: "tick", x, y: height - 6, "text-anchor": "middle", text }));
  }
  const x = Math.min(Math.max(at(chart.cut), left), width - right);
  picture.append(
    svg("line", { class: "cut", x1: x, x2: x, y1: top - 6, y2: axis }),
    svg("text", {
      class: "tick strong", x, y: 9, text: `cut ${num(chart.cut, 4)}`,
      "text-anchor": x < 60 ? "start" : x > width - 60 ? "end" : "middle",
    }),
  );
  if (mark !== null && Number.isFinite(mark)) {
    const m = Math.min(Math.max(at(mark), left), width - right);
    picture.append(svg("path", { class: "mark", d: `M${m} ${axis}l-6 11h12z` },
      svg("title", { text: `this row: ${num(mark)}` })));
  }
  return picture;
}

// A few round numbers of a range.
function roundTicks(low, high) {
  const rough = (high - low) / 6, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5].find((m) => m * power >= rough) ?? 10);
  const first = Math.ceil(low / step), last = Math.floor(high / step);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function stackedBars(chart, step, space) {
  const { height, left, top, bottom } = CHART;
  const n = chart.counts[0].length;
  const totals = Array.from({ length: n }, (_, i) => sum(chart.counts.map((c) => c[i])));
  const scale = (height - top - bottom) / (Math.max(...totals) || 1);
  const bars = [];
  for (let i = 0; i < n; i++) {
    let y = height - bottom;
    for (let k = 0; k < chart.counts.length; k++) {
      const h = chart.counts[k][i] * scale;
      if (!(h > 0)) continue;
      y -= h;
      bars.push(svg("rect", {
        x: left + i * step, y, width: step - space, height: h, fill: chartColour(chart, k),
      }));
    }
  }
  return bars;
}

// Rows without known classes have one list of counts and one colour.
function chartColour(chart, k) {
  return !numeric && chart.counts.length === labels.length ? colourOf(k) : "var(--accent)";
}

// Counts by category: a line each, with the branch it takes.
function categoryChart(chart, node, marked) {
  const { feature } = node.test;
  const totals = data.categories[feature].map((_, s) => sum(chart.counts.map((c) => c[s])));
  const top = Math.max(...totals) || 1;
  const rows = totals.map((total, s) => {
    const parts = chart.counts.map((c, k) => el("span", {
      style: { width: `${(100 * c[s]) / top}%`, background: chartColour(chart, k) },
    }));
    const row = features.map(() => null);
    row[feature] = s;
    const branch = branchOf(node.test, row);
    return el("tr", { class: marked === s ? "marked" : null },
      el("th", { scope: "row" }, el("bdi", { text: categoryText(feature, s) })),
      el("td", { class: "grow" }, el("div", { class: "stack" }, parts)),
      el("td", { class: "number", text: count(total) }),
      el("td", { class: "quiet to", text: branch < 0 ? "no branch" : `→ ${node.children[branch]}` }),
    );
  });
  return el("table", { class: "bars" }, el("tbody", {}, rows));
}
