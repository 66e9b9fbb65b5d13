// Making elements. All text goes through textContent: names from the user's data are never
// read as HTML. Attributes of null or false are left out; `style` is an object, so that the
// page needs no inline styles, and `on...` are listeners.

function make(element, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "text") element.textContent = value;
    else if (key === "style") {
      for (const [name, v] of Object.entries(value)) element.style.setProperty(name, v);
    } else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((c) => c !== null));
  return element;
}

// An HTML element with properties and children (elements, strings, null for none).
function el(tag, props = {}, ...children) {
  return make(document.createElement(tag), props, children);
}

// The same for SVG.
function svg(tag, props = {}, ...children) {
  return make(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

// Give an element other children.
function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((c) => c !== null));
}

function byId(id) {
  return document.getElementById(id);
}

const ruler = document.createElement("canvas").getContext("2d");

function textWidth(text, font) {
  ruler.font = font;
  return ruler.measureText(text).width;
}

// The text in lines of so many pixels, broken between words, the last cut with an ellipsis.
function fitLines(text, width, font, most) {
  ruler.font = font;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    const fits = ruler.measureText(longer).width <= width;
    if (fits || !lines.at(-1) || lines.length === most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => fitText(line, width, font));
}

// The text, cut with an ellipsis to so many pixels of a font.
function fitText(text, width, font) {
  ruler.font = font;
  if (ruler.measureText(text).width <= width) return text;
  const signs = Array.from(text);
  let low = 0, high = signs.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const short = signs.slice(0, middle).join("") + "…";
    if (ruler.measureText(short).width <= width) low = middle;
    else high = middle - 1;
  }
  return signs.slice(0, low).join("") + "…";
}
