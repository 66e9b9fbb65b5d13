// Curves: what each value of a feature adds, as a line a sum, with the rows of the node under
// it; small ones on a card, larger ones beside it.

const CURVE = { width: 380, height: 190, left: 44, right: 10, top: 12, foot: 22, rows: 44 };
const SMALL = { width: 54, height: 44, left: 0, right: 0, top: 3, foot: 0, rows: 12 };
const MOST_CURVES = 6;

const hasCurves = (test) => Boolean(test?.curve_values?.flat(2).some((v) => v));
const curveFeature = (test, j) => columns[test.curve_columns[j]].feature;

// The lines of all curves of a test or a model: {name, colour, values (a list a curve)}. Of
// two sums only the difference matters: one line.
function curveLines(test, names, colours) {
  const values = test.curve_values;
  if (!isMachine(test)) return [{ name: "to the sum", colour: "var(--ink)", values }];
  if (values.length === 1) return [{ name: "to the answer", colour: "var(--ink)", values: values[0] }];
  if (values.length === 2) {
    const less = values[0].map((line, j) => line.map((v, i) => v - values[1][j][i]));
    return [{ name: `for ${names[0]} rather than ${names[1]}`, colour: "var(--ink)", values: less }];
  }
  return values.map((own, k) => ({ name: names[k], colour: colours[k], values: own }));
}

// The lines of a node's test, or of a leaf's model, in the colours of the classes.
function linesOf(node) {
  if (isLeaf(node)) return curveLines(node.model, labels, labels.map((_, k) => colourOf(k)));
  const colours = (node.children ?? []).map((id) => verdictAt(nodes[id]).colour);
  const apart = new Set(colours).size === colours.length;
  const names = isMachine(node.test) ? sumNames(node.test) : [];
  return curveLines(node.test, names, apart ? colours : colours.map((_, k) => branchColour(k)));
}

// Positions of the curves, those that vary most first; those that are 0 are left out.
function curveOrder(lines) {
  const size = lines[0].values.map((_, j) =>
    Math.max(...lines.map(({ values }) => extent(values[j].slice(0, -1)))));
  const used = size.map((_, j) => j).filter((j) => lines.some(({ values }) => values[j].some((v) => v)));
  return used.sort((a, b) => size[b] - size[a] || a - b);
}

const extent = (values) => Math.max(...values) - Math.min(...values);

// How a curve is laid out: where x and y values are, and which x stands for a missing cell.
function curveScale(box, knots, lines, rows) {
  let low = knots[0], high = knots[knots.length - 1];
  if (rows?.counts) {
    low = Math.min(low, rows.low);
    high = Math.max(high, rows.low + rows.width * rows.counts[0].length);
  }
  const hasMissing = Boolean(rows?.missing) || lines.some((line) => line[knots.length] !== 0);
  const left = box.left + (hasMissing ? 0.07 * box.width : 0);
  const bottom = box.height - box.foot - box.rows - (box.rows ? 4 : 0);
  const least = Math.min(0, ...lines.flat()), most = Math.max(0, ...lines.flat());
  return {
    low, high, least, most, hasMissing, missing: box.left + 0.025 * box.width,
    x: (v) => left + ((v - low) / (high - low || 1)) * (box.width - box.right - left),
    y: (v) => bottom - ((v - least) / (most - least || 1)) * (bottom - box.top),
  };
}

// Lines, zero and missing values, and the rows; `lines` are those of one curve.
function curveShapes(box, knots, lines, colours, rows) {
  const at = curveScale(box, knots, lines, rows);
  const shapes = [svg("line", {
    class: "zero", x1: box.left, x2: box.width - box.right, y1: at.y(0), y2: at.y(0),
  })];
  lines.forEach((line, k) => {
    const places = [at.low, ...knots, at.high];
    const heights = [line[0], ...line.slice(0, -1), line[knots.length - 1]];
    const points = places.map((v, i) => `${at.x(v)},${at.y(heights[i])}`).join(" ");
    shapes.push(svg("polyline", { class: "curve", points, style: { stroke: colours[k] } }));
    if (!at.hasMissing) return;
    const y = at.y(line[knots.length]), r = box === SMALL ? 2 : 4;
    shapes.push(svg("path", {
      class: "missing", d: `M${at.missing} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`, style: { fill: colours[k] },
    }));
  });
  return { at, shapes: [...rowBars(box, at, rows), ...shapes] };
}

// The rows under a curve, stacked by class.
function rowBars(box, at, rows) {
  if (!rows?.counts) return [];
  const n = rows.counts[0].length;
  const totals = Array.from({ length: n }, (_, i) => sum(rows.counts.map((c) => c[i])));
  const scale = box.rows / (Math.max(...totals) || 1);
  const step = at.x(at.low + rows.width) - at.x(at.low);
  const bars = [];
  for (let i = 0; i < n; i++) {
    let y = box.height - box.foot;
    rows.counts.forEach((c, k) => {
      const h = c[i] * scale;
      if (!(h > 0)) return;
      y -= h;
      bars.push(svg("rect", {
        x: at.x(rows.low + i * rows.width), y, width: Math.max(step - 0.5, 0.5), height: h, fill: chartColour(rows, k),
      }));
    });
  }
  return bars;
}

// One curve with its axes; `value` is that of the row that is followed, undefined for none.
function curveChart(test, j, lines, rows, value) {
  const box = CURVE, knots = test.knots[j], own = lines.map(({ values }) => values[j]);
  const { at, shapes } = curveShapes(box, knots, own, lines.map(({ colour }) => colour), rows);
  const feature = curveFeature(test, j);
  const picture = svg("svg", {
    class: "chart curves", viewBox: `0 0 ${box.width} ${box.height}`, role: "img",
    "aria-label": own.map((line, k) => curveText(test, j, line, lines[k].name)).join("; "),
  }, shapes);
  const axis = box.height - box.foot;
  const tick = (x, y, anchor, text) => svg("text", { class: "tick", x, y, "text-anchor": anchor, text });
  const end = (v) => (isNumber(features[feature]) ? num(v, 4) : categoryText(feature, Math.round(v)));
  picture.append(
    svg("line", { class: "axis", x1: box.left, x2: box.width - box.right, y1: axis, y2: axis }),
    tick(at.x(at.low), box.height - 7, "start", end(at.low)),
    tick(box.width - box.right, box.height - 7, "end", end(at.high)),
    tick(box.left - 6, at.y(at.most) + 4, "end", num(at.most, 3)),
    tick(box.left - 6, at.y(at.least) + 4, "end", num(at.least, 3)),
  );
  if (at.hasMissing) picture.append(tick(at.missing, box.height - 7, "middle", "◆"));
  if (value !== undefined) {
    const x = value === null ? at.missing : Math.min(Math.max(at.x(value), box.left), box.width - box.right);
    own.forEach((line, k) => picture.append(svg("circle", {
      class: "here", cx: x, cy: at.y(curveAt(knots, line, value)), r: 4, style: { fill: lines[k].colour },
    }, svg("title", { text: `this row: ${num(curveAt(knots, line, value), 4)}` }))));
  }
  return picture;
}

// The range and the effect of a feature in words: ends and highest and lowest points.
function curveText(test, j, line, name = "") {
  const knots = test.knots[j], feature = curveFeature(test, j), last = knots.length - 1;
  let digits = 4;
  const place = (i) => (isNumber(features[feature]) ? num(knots[i], digits) : categoryText(feature, Math.round(knots[i])));
  const signed = (v) => (v > 0 ? "+" : "") + num(v, 3);
  const values = line.slice(0, -1);
  const inner = [largest(values), largest(values.map((v) => -v))].filter((i) => i > 0 && i < last);
  const told = [...new Set([0, ...inner.sort((a, b) => a - b), last])];
  // Places that are told apart, and where a curve leaves the value that it has inside.
  while (digits < 17 && new Set(told.map(place)).size < told.length) digits++;
  const endOf = (i) => {
    let end = i;
    while (i > 0 && end + 1 < last && values[end + 1] === values[i]) end++;
    return end;
  };
  const where = (i) => (i === 0 ? `at ≤ ${place(i)}` : i === last ? `at ≥ ${place(i)}`
    : endOf(i) > i ? `from ${place(i)} to ${place(endOf(i))}` : `at ${place(i)}`);
  const parts = told.map((i) => `${signed(values[i])} ${where(i)}`);
  const missing = line[knots.length] ? `, ${signed(line[knots.length])} if missing` : "";
  const text = parts.length === 2 ? `from ${parts[0]} to ${parts[1]}` : parts.join(", ");
  return `${name ? `${name}: ` : ""}${text}${missing}`;
}

// All curves of a node's test or of a leaf's model, the largest at once, others on demand.
function curveSection(node) {
  const test = isLeaf(node) ? node.model : node.test;
  if (!hasCurves(test)) return null;
  const lines = linesOf(node), order = curveOrder(lines);
  const row = state.way?.row;
  const one = (j) => {
    const feature = curveFeature(test, j);
    const words = lines.length === 1 ? el("p", { class: "note", text: curveText(test, j, lines[0].values[j]) }) : null;
    return el("div", { class: "curve-box" }, el("h4", {}, el("bdi", { text: features[feature].name })),
      curveChart(test, j, lines, sample?.views[node.id]?.curves?.[j], row?.[feature]), words);
  };
  const rest = order.slice(MOST_CURVES);
  const legend = lines.length > 1 ? el("p", { class: "note" }, lines.flatMap(({ name, colour }) =>
    [dot(colour), el("bdi", { text: name }), " "])) : null;
  return section("Curves",
    el("p", { class: "note", text: `What each value adds${lines.length === 1 ? ` ${lines[0].name}` : ", a line a score"}; below, the rows here. A diamond: the value is missing.` }),
    legend, order.slice(0, MOST_CURVES).map(one),
    rest.length ? el("details", {}, el("summary", { text: plural(rest.length, "smaller curve") }), rest.map(one)) : null);
}

// What a test with curves adds up, counted.
function curveCount(test) {
  const used = (values) => values.filter((v) => [v].flat().some((one) => one)).length;
  const terms = used(test.weights), curves = plural(used(test.curve_values), "curve");
  return terms ? `sum of ${curves} and ${plural(terms, "term")}` : `sum of ${curves}`;
}

// Up to three small curves for a card, with their features' names; where a test has fewer, its
// main terms follow as straight lines over the range of their feature.
function cardCurves(node, x, y) {
  const lines = linesOf(node), test = isLeaf(node) ? node.model : node.test;
  const colours = lines.map(({ colour }) => colour);
  const bent = curveOrder(lines).map((j) => ({
    name: features[curveFeature(test, j)].name, knots: test.knots[j],
    values: lines.map(({ values }) => values[j]), rows: sample?.views[node.id]?.curves?.[j],
  }));
  return [...bent, ...straightLines(test, lines.length)].slice(0, 3).map(({ name, knots, values, rows }, i) => {
    const { shapes } = curveShapes(SMALL, knots, values, colours, rows);
    return svg("g", { class: "small-curve", transform: `translate(${x + i * (SMALL.width + 5)} ${y})` },
      svg("rect", { class: "ground", width: SMALL.width, height: SMALL.height, rx: 3 }), shapes,
      svg("text", { class: "name", y: SMALL.height + 11, text: fitText(name, SMALL.width, `10px ${FONT}`) }));
  });
}

// Terms that are one number, as curves of two knots: what they add over their feature's range.
function straightLines(test, nLines) {
  return termTable(test, false, null).flatMap(({ name, t, values }) => {
    const [a, ...more] = termColumns(test, t);
    const { feature, category } = columns[test.columns[a]];
    if (more.length || category >= 0 || !data.ranges[feature]) return [];
    const knots = data.ranges[feature];
    const slopes = values.length === 2 && nLines === 1 ? [values[0] - values[1]] : values;
    return [{ name, knots, values: slopes.map((w) => [...knots.map((v) => w * (v - test.fill[a])), 0]) }];
  });
}
