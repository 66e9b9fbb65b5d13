// Finding nodes: by a feature they test, by the class a leaf answers, by number.

const findBox = byId("search");

function matching(query) {
  const q = query.trim().toLowerCase();
  if (!q) return [];
  const id = /^#?\d+$/.test(q) ? Number(q.replace("#", "")) : -1;
  const has = (text) => text.toLowerCase().includes(q);
  return nodes.filter((node) => {
    if (node.id === id) return true;
    if (isLeaf(node)) return has(verdictAt(node).label);
    return featuresOf(node.test).some((j) => has(features[j].name));
  }).map((node) => node.id);
}

function search() {
  const found = matching(findBox.value);
  state.matches = new Set(found);
  byId("found").textContent = findBox.value.trim() ? plural(found.length, "node") : "";
  tell("match");
  return found;
}

// Enter goes from match to match, beginning behind the selected node.
function nextMatch() {
  const found = search();
  if (!found.length) return;
  const behind = found.find((id) => id > state.selected);
  goTo(behind ?? found[0]);
}

findBox.addEventListener("input", search);
findBox.addEventListener("keydown", (event) => {
  if (event.key === "Enter") nextMatch();
  if (event.key === "Escape") {
    findBox.value = "";
    search();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
  event.preventDefault();
  findBox.focus();
});
