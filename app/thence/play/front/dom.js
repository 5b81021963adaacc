// Elements of the page. Texts become text nodes, never markup: a specification cannot put elements into the page.

/**
 * An element with its properties, attributes and listeners (`onclick`), and its children.
 * @param {string} name
 * @param {Record<string, any>} [given]
 * @param {...any} children
 * @returns {any}
 */
export function h(name, given = {}, ...children) {
  const element = document.createElement(name);
  applyTo(element, given);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * An element of a picture.
 * @param {string} name
 * @param {Record<string, any>} [given]
 * @param {...any} children
 * @returns {any}
 */
export function svg(name, given = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(given)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function applyTo(element, given) {
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
}

/**
 * Puts these children into an element, in place of what it had. The focus stays where it was, by `data-key`.
 * @param {Element} parent
 * @param {...any} children
 */
export function fill(parent, ...children) {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && parent.contains(focused) ? focused.dataset.key : undefined;
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  if (key !== undefined) {
    const again = parent.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }
}
