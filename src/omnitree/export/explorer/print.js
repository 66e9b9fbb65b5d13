// On paper: the tree as it is unfolded, over the width of the page, then the panel in view and
// the rules. The style does the rest.

let kept = null; // what the screen had, while printing

addEventListener("beforeprint", () => {
  kept = { ...view };
  const box = treeExtent(), margin = 12;
  const width = box.right - box.left + 2 * margin, height = box.bottom - box.top + 2 * margin;
  Object.assign(view, { x: margin - box.left, y: margin - box.top, across: 1, along: 1 });
  applyView();
  canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
  // So small that nobody can read it on 190 mm: class shares alone.
  canvas.classList.toggle("far", width > 4200 || height > 5600);
  if (panels.rules.stale) panels.rules.draw();
});

addEventListener("afterprint", () => {
  canvas.removeAttribute("viewBox");
  Object.assign(view, kept);
  kept = null;
  applyView();
});
