/** Texts that fit: too long ones lose their middle, because names of datasets differ at their ends. */

import { visible } from "../lib/text.js";

const ELLIPSIS = "…";
const LONGEST = 240;
/** @type {Map<string, string>} */
const fitted = new Map();
const KEPT = 20_000;

/** @type {CanvasRenderingContext2D | null} */
let context = null;

/**
 * A name.
 * @param {string} text
 * @param {number} width in pixels
 * @param {string} font as CSS has it
 */
export const fit = (text, width, font) => fitting(text, width, font, true);

/**
 * A sentence: its beginning says most.
 * @param {string} text
 * @param {number} width
 * @param {string} font
 */
export const begin = (text, width, font) => fitting(text, width, font, false);

/**
 * @param {string} text
 * @param {number} width
 * @param {string} font
 * @param {boolean} both whether both ends stay
 */
function fitting(text, width, font, both) {
  const key = `${both} ${width} ${font} ${text}`;
  let found = fitted.get(key);
  if (found === undefined) {
    found = shorten(visible(text), width, font, both);
    if (fitted.size > KEPT) fitted.clear();
    fitted.set(key, found);
  }
  return found;
}

/**
 * @param {string} text
 * @param {number} width
 * @param {string} font
 * @param {boolean} both
 */
function shorten(text, width, font, both) {
  let characters = [...text];
  if (characters.length > LONGEST) characters = [...characters.slice(0, LONGEST / 2), ...characters.slice(-LONGEST / 2)];
  else if (measure(text, font) <= width) return text;
  let [low, high] = [0, characters.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(without(characters, middle, both), font) <= width) low = middle;
    else high = middle - 1;
  }
  return without(characters, low, both);
}

/**
 * So many characters of both ends, or of the beginning.
 * @param {string[]} characters
 * @param {number} count
 * @param {boolean} both
 */
function without(characters, count, both) {
  const end = both ? Math.floor(count / 2) : 0;
  return characters.slice(0, count - end).join("") + ELLIPSIS + (end ? characters.slice(-end).join("") : "");
}

/**
 * @param {string} text
 * @param {string} font
 */
export function measure(text, font) {
  context ??= document.createElement("canvas").getContext("2d");
  if (!context) return text.length * 7;
  if (context.font !== font) context.font = font;
  return context.measureText(text).width;
}

/** The font of the page, for `fit`. @param {number} size @param {number} [weight] */
export const sans = (size, weight = 400) => `${weight} ${size}px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif`;

/** @param {number} size @param {number} [weight] */
export const mono = (size, weight = 400) => `${weight} ${size}px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace`;
