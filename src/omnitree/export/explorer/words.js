// Tests, branches and rules in the user's names and units.

// A number with so many digits, and a true minus sign; a very small one as a power of ten.
function num(value, digits = 6) {
  const short = Number(value.toPrecision(digits)), size = Math.abs(short);
  const text = size > 0 && size < 1e-4 ? short.toExponential() : String(short);
  return text.replaceAll("-", "−");
}

// A count of rows: weights may be fractions.
function count(value) {
  if (Number.isInteger(value)) return String(value);
  return value < 1 ? num(value, 2) : value.toFixed(1);
}

// The share behind an answer; a number has none.
const shareText = (share) => (share === null ? "" : percent(share));

const percent = (share) => {
  const p = 100 * share;
  if (p > 0 && p < 0.01) return "<0.01%";
  if (p > 99.99 && p < 100) return ">99.99%";
  return (p > 0 && p < 1) || (p > 99 && p < 100) ? `${num(p, 3)}%` : `${Math.round(p)}%`;
};

const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

const categoryText = (feature, code) => data.categories[feature]?.[code] ?? String(code);

// A cell as the user wrote it.
function cellText(feature, value) {
  if (value === null) return "missing";
  return isNumber(features[feature]) ? num(value, 15) : categoryText(feature, value);
}

function columnName(column) {
  const { feature, category } = columns[column];
  const { name } = features[feature];
  return category < 0 ? name : `[${name} = ${categoryText(feature, category)}]`;
}

// Names of what the weights of a test on several features belong to.
function termNames(test) {
  const names = test.columns.map(columnName);
  if (!("terms" in test) && !("cases" in test)) return names;
  return (test.terms ?? []).map(([a, b]) => {
    if (b < 0) return names[a];
    return a === b ? `${names[a]}²` : `${names[a]} · ${names[b]}`;
  });
}

// Terms of a sum that are written down; a longer one shows its largest.
const MOST_TERMS = 8;
const ALL_TERMS = 10; // so many are shown in full

// Positions of the largest terms, by weight times the deviations of the columns. Curves
// follow the terms; they are measured by the deviation of their values.
function mainTerms(test, weights, most, lines) {
  const used = [...weights.map(() => true), ...lines.map((line) => line.some((v) => v))];
  const at = used.map((_, t) => t).filter((t) => used[t]);
  if (at.length <= most + Math.floor(most / 4)) return at;
  const deviation = (a) => data.tree.deviations?.[test.columns[a]] ?? 1;
  const size = weights.map((w, t) =>
    termColumns(test, t).reduce((product, a) => product * deviation(a), Math.abs(w)));
  size.push(...lines.map((line) => spreadOf(line.slice(0, -1))));
  return at.sort((s, t) => size[t] - size[s] || s - t).slice(0, most);
}

function spreadOf(values) {
  const mean = sum(values) / values.length;
  return Math.sqrt(sum(values.map((v) => (v - mean) ** 2)) / values.length);
}

// From where a term of a longer sum is measured: numbers from their means, in as many digits as
// their deviations justify, unless these are small beside them; categories keep their codes, and
// flags, which go from 0 to 1, their 0 and 1.
function centreOf(test, t, weights, lines) {
  const at = termColumns(test, t);
  if (weights.length + lines.length < 2) return 0;
  if (at.some((a) => isFlag(columns[test.columns[a]]))) return 0;
  const mean = at.reduce((product, a) => product * test.fill[a], 1);
  const deviation = at.length === 1 ? data.tree.deviations?.[test.columns[at[0]]] ?? 0 : 0;
  if (!deviation) return Number(mean.toPrecision(3));
  const unit = 10 ** (1 - Math.floor(Math.log10(deviation)));
  return Math.abs(mean) < 0.1 * deviation ? 0 : Math.round(mean * unit) / unit;
}

function isFlag({ feature, category }) {
  const ends = data.tree.ranges?.[feature];
  return category >= 0 || (ends != null && ends[0] === 0 && ends[1] === 1);
}

// How much more the value of a test is than the sum that is told of it.
const offsets = new Map();

function offsetOf(test) {
  if (!("weights" in test) || isMachine(test)) return 0;
  if (!offsets.has(test)) {
    const lines = test.curve_values ?? [];
    offsets.set(test, sum(test.weights.map((w, t) => w * centreOf(test, t, test.weights, lines))));
  }
  return offsets.get(test);
}

// The sum of a test's terms and curves, or the largest of them and how many more there are.
// What those add for an average row is part of the constant; so are the centres, unless the
// constant is null, as for the sum of a test, whose cut is told without them (`offsetOf`).
function termsText(test, weights, constant = null, digits = 4, most = MOST_TERMS, lines = []) {
  const n = weights.length;
  const centres = weights.map((_, t) => centreOf(test, t, weights, lines));
  const names = termNames(test).map((name, t) => {
    const centre = centres[t];
    return centre ? `(${name} ${centre < 0 ? "+" : "−"} ${num(Math.abs(centre), 6)})` : name;
  });
  const shown = mainTerms(test, weights, most, lines);
  const all = mainTerms(test, weights, Infinity, lines);
  const rest = all.length - shown.length;
  const atMean = (t) => termColumns(test, t).reduce((product, a) => product * test.fill[a], weights[t]);
  const hidden = all.filter((t) => t < n && !shown.includes(t));
  const given = constant === null ? 0 : constant + sum(weights.map((w, t) => w * centres[t]));
  const start = hidden.reduce((total, t) => total + atMean(t) - weights[t] * centres[t], given);
  const plain = shown.filter((t) => t < n);
  const bent = shown.filter((t) => t >= n).map((t) => `curve(${columnName(test.curve_columns[t - n])})`);
  const sumOfTerms = sumText(plain.map((t) => weights[t]), plain.map((t) => names[t]), start, digits);
  const text = [sumOfTerms, ...bent].filter((part) => part).join(" + ");
  return rest ? `${text} + … (${rest} smaller terms, 0 for an average row)` : text;
}

// Weights, then values of curves or weights of cases, of one sum of a model (`flat_weights`): apart again.
function splitFlat(model, flat) {
  const n = termNames(model).length;
  let at = n;
  const lines = (model.knots ?? []).map((knots) => flat.slice(at, at += knots.length + 1));
  return { weights: flat.slice(0, n), lines, alike: flat.slice(at) };
}

// One sum of a test or a model, curves by name and cases by their number.
function scoreText(test, k, most = MOST_TERMS) {
  const text = termsText(test, test.weights[k], test.bias[k], 4, most, test.curve_values?.[k]);
  return withCases(text, test.case_weights?.[k]);
}

// What the cases of a test or a model add to a sum (export/case_words.py).
function withCases(text, weights = []) {
  const used = weights.filter((w) => w);
  if (!used.length) return text || "0";
  const ends = [Math.min(...used), Math.max(...used)].map((w) => num(w, 4));
  const likeness = `likeness to ${plural(used.length, "case")}, weighted ${[...new Set(ends)].join(" to ")}`;
  return text ? `${text} + ${likeness}` : likeness;
}

// How far apart a row and a case may be in each column, those that matter most first.
function widthsText({ columns: own, precision }) {
  const deviation = (j) => data.tree.deviations?.[own[j]] || 1;
  const width = (j) => 1 / Math.sqrt(precision[j]);
  const size = (j) => Number((width(j) / deviation(j)).toPrecision(3));
  const at = own.map((_, j) => j).filter((j) => precision[j] > 0).sort((i, j) => size(i) - size(j) || i - j);
  const names = at.map((j) => `${columnName(own[j])} ${num(width(j), 4)}`);
  if (names.length > ALL_TERMS) names.splice(MOST_TERMS, Infinity, `… ${names.length - MOST_TERMS} more`);
  return names.length ? `Widths: ${names.join(", ")}.` : "No column counts: every row is like every case.";
}

// "−3 + 0.8 petal length + 1.2 petal width": a constant, then weights times names.
function sumText(weights, names, constant = 0, digits = 4) {
  const alone = weights.length === 1 && !constant && Math.abs(weights[0]) === 1;
  const term = (w, name) => (alone ? name : `${num(Math.abs(w), digits)} ${name}`);
  const signed = weights.map((w, j) => [w, term(w, names[j])]);
  if (constant) signed.unshift([constant, num(Math.abs(constant), digits)]);
  return signed
    .map(([w, text], j) => (j ? (w < 0 ? " − " : " + ") : w < 0 ? "−" : "") + text)
    .join("");
}

// What to call the sums of a machine: as the classes its branches answer, if all differ.
const namesOfSums = new Map();

function sumNames(test) {
  if (!namesOfSums.has(test)) {
    const owner = nodes.find((node) => node.test === test);
    const found = (owner?.children ?? []).map((id) => verdictAt(nodes[id]).label);
    const n = nValues(test);
    const named = found.length === n && new Set(found).size === n;
    namesOfSums.set(test, named ? found : Array.from({ length: n }, (_, k) => `branch ${k + 1}`));
  }
  return namesOfSums.get(test);
}

// What a kind of test is called, in a word and in a few.
const familyOf = (kind) => data.kinds[kind]?.[0] ?? kind;
const titleOf = (kind) => data.kinds[kind]?.[1] ?? kind;

// What a test looks at.
function subjectText(kind, test, digits = 4) {
  if ("feature" in test) return features[test.feature].name;
  if (isMachine(test)) return `largest of ${nValues(test)} scores`;
  return "value" in test ? functionText(kind, test) : termsText(test, test.weights, null, digits, MOST_TERMS, test.curve_values);
}

// What is no sum of terms, by the columns that it is a function of.
function functionText(kind, test) {
  const names = test.columns.map(columnName);
  const rest = names.length - MOST_TERMS;
  if (rest > 0) names.splice(MOST_TERMS, rest, `… ${rest} more`);
  return `${kind}(${names.join(", ")})`;
}

// A value of nested lists; a function of something gets a name, and a line in `named`.
function valueText(value, named, most, bare = false) {
  if (typeof value === "number") return num(value, 4);
  const [name, ...parts] = value;
  const inside = (part) => valueText(part, named, most);
  if (name === "column") return columnName(parts[0]);
  if (name === "curve") return `curve(${columnName(parts[0])})`;
  if (name === "at_most") return `[${parts.map(inside).join(" ≤ ")}]`;
  if (name === "product") return parts.map(inside).join(" ");
  if (name === "sum") {
    const rest = parts.length > most + 1 ? " + …" : "";
    const text = signedText(parts.slice(0, most + 1).map(inside)) + rest;
    return bare ? text : `(${text})`;
  }
  const at = named.push("") - 1;
  named[at] = `h${at + 1} = ${name}(${valueText(parts[0], named, most, true)})`;
  return `h${at + 1}`;
}

// Terms with their signs between them.
const signedText = (terms) => terms
  .map((t, i) => (i === 0 ? t : t.startsWith("−") ? ` − ${t.slice(1)}` : ` + ${t}`)).join("");

// What the subject must be for a branch: "≤ 2.45", "in {a, b}".
function sideText(test, branch) {
  if ("branch" in test) {
    const names = categoriesOf(test, branch).map((s) => categoryText(test.feature, s));
    return names.length === 1 ? `= ${names[0]}` : `in {${names.join(", ")}}`;
  }
  if ("feature" in test) {
    const sign = branch === test.low ? "≤" : ">";
    const { feature, threshold } = test;
    const exact = isNumber(features[feature]);
    return `${sign} ${exact ? num(threshold) : categoryText(feature, Math.floor(threshold))}`;
  }
  if (isMachine(test)) return `${sumNames(test)[branch]} is largest`;
  return `${branch === 0 ? "≤" : ">"} ${num(cutOf(test) - offsetOf(test))}`;
}

// Codes that a category test sends down a branch.
function categoriesOf(test, branch) {
  return test.branch.flatMap((to, code) => (to === branch ? [code] : []));
}

// The whole condition of a branch.
function conditionText(kind, test, branch) {
  const side = sideText(test, branch);
  const alone = test.weights?.length === 1 && !isMachine(test) && !test.terms && !hasCurves(test);
  if (alone && test.weights[0] < 0) {
    const mirrored = termsText(test, [-test.weights[0]]);
    return `${mirrored} ${branch === 0 ? "≥" : "<"} ${num(-cutOf(test))}`;
  }
  if (!isMachine(test)) return `${subjectText(kind, test)} ${side}`;
  if ("values" in test) return side;
  return `${side}: ${scoreText(test, branch)}`;
}

// What is tested on the way to a node, each feature once: bounds meet, sets of categories
// intersect. Tests on several features stand as they are.
function conditionsTo(id) {
  const bounds = new Map();
  const others = [];
  for (const at of ancestry(id).slice(1)) {
    const { kind, test } = nodes[nodes[at].parent];
    const branch = branchOfNode(nodes[at]);
    if (!("feature" in test)) {
      others.push(conditionText(kind, test, branch));
      continue;
    }
    const known = bounds.get(test.feature) ?? { above: -Infinity, upTo: Infinity, categories: null };
    if (!("branch" in test)) {
      if (branch === test.low) known.upTo = Math.min(known.upTo, test.threshold);
      else known.above = Math.max(known.above, test.threshold);
    } else {
      const here = categoriesOf(test, branch);
      known.categories = known.categories?.filter((s) => here.includes(s)) ?? here;
    }
    bounds.set(test.feature, known);
  }
  return [...[...bounds].map(([feature, known]) => boundText(feature, known)), ...others];
}

function boundText(feature, { above, upTo, categories }) {
  const { name } = features[feature];
  if (categories) {
    const names = categories.map((s) => categoryText(feature, s));
    return names.length === 1 ? `${name} = ${names[0]}` : `${name} in {${names.join(", ")}}`;
  }
  const text = (v) => (isNumber(features[feature]) ? num(v) : categoryText(feature, Math.floor(v)));
  if (above === -Infinity) return `${name} ≤ ${text(upTo)}`;
  if (upTo === Infinity) return `${name} > ${text(above)}`;
  return `${text(above)} < ${name} ≤ ${text(upTo)}`;
}

// How the leaves below a node make probabilities of the functions of its test.
function probabilityText({ id, test, children }) {
  const { scale, classes, others } = data.shared[id];
  const { model } = nodes[children[0]];
  const unit = isMachine(test) ? scale : 1; // a machine's scores are told before scaling
  const rest = Object.entries(others).map(([k, [bias, flat]]) => {
    const { weights, lines, alike } = splitFlat(model, flat.map((w) => w / unit));
    const constant = !flat.some((w) => w);
    const score = constant ? num(bias / unit, 4)
      : withCases(termsText(model, weights, bias / unit, 4, MOST_TERMS, lines), alike);
    return `, ${score} for ${labels[k]}`;
  });
  if (isMachine(test)) {
    return `softmax of the scores${rest.join("")}, calibrated (scale ${num(scale, 4)})`;
  }
  const cut = cutOf(test) - offsetOf(test);
  const apart = cut ? `sum ${cut < 0 ? "+" : "−"} ${num(Math.abs(cut))}` : "sum";
  const scaled = `${num(scale, 4)} (${apart})`;
  const [low, high] = classes.map((k) => labels[k]);
  if (!rest.length) return `${high}: logistic(${scaled}) = 1 / (1 + exp(−${scaled}))`;
  return `softmax of t for ${high}, −t for ${low}${rest.join("")}; t = ${num(scale / 2, 4)} (${apart})`;
}

// What happens to a row that the main test cannot place.
function missingText(node) {
  if (!("feature" in node.test)) {
    const counts = "A missing value counts as the mean of the training rows here";
    return hasCurves(node.test) ? `${counts}; curves have a value for it.` : `${counts}.`;
  }
  const rest = node.missing === "divide"
    ? "it goes down every branch, in parts as large as the training rows were"
    : `it goes to node ${node.children[node.missing]}`;
  const tries = (node.surrogates ?? []).map(
    (s) => `${conditionText(s.kind, s.test, 0)} (node ${node.children[0]}, else node ${node.children[1]})`,
  );
  if (!tries.length) return `If the value is missing, ${rest}.`;
  return `If the value is missing, these stand in: ${tries.join("; ")}. If they are missing too, ${rest}.`;
}
