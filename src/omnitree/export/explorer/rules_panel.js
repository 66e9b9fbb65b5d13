// The tree as rules: one per leaf, its conditions gathered by feature, the largest first.

let rulesOf = -1; // class whose rules show, -1: all

function drawRules() {
  const leaves = nodes.filter(isLeaf)
    .filter((n) => rulesOf < 0 || verdictAt(n).index === rulesOf)
    .sort((a, b) => rowsAt(b) - rowsAt(a) || a.id - b.id);
  fill(byId("rules"),
    el("div", { class: "tools" },
      el("span", { class: "quiet", text: plural(leaves.length, "rule") }), numeric ? null : classPicker()),
    el("ol", { class: "rules" }, leaves.map(ruleItem)),
  );
}

function classPicker() {
  const options = labels.map((text, k) => el("option", { value: k, text, selected: k === rulesOf }));
  return el("select", { "aria-label": "Rules for which class", onchange: (event) => {
    rulesOf = Number(event.target.value);
    drawRules();
  } }, el("option", { value: -1, text: "all classes", selected: rulesOf < 0 }), options);
}

function ruleItem(node) {
  const { share, colour } = verdictAt(node);
  const conditions = conditionsTo(node.id);
  const parts = conditions.flatMap((text, i) => [
    el("span", { class: "quiet", text: i ? " and " : "if " }), el("bdi", { class: "condition", text })]);
  return el("li", { class: node.id === state.selected ? "here" : null },
    el("p", {}, conditions.length ? parts : "always"),
    el("p", {}, el("span", { class: "quiet", text: "then " }), dot(colour), el("bdi", { class: "strong", text: cardTitle(node) }),
      el("span", { class: "quiet", text: numeric ? ` (${plural(rowsAt(node), "row")}) · ` : ` ${percent(share)} of ${plural(rowsAt(node), "row")} · ` }),
      nodeLink(node.id)),
  );
}

addPanel("rules", drawRules);
listen("select", () => redraw("rules"));
