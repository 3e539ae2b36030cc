/**
 * Names and texts of producers. They can be anything: control characters, right-to-left overrides, 2,000 characters.
 * `visible` makes a text that shows what is in it; markup puts it into `<bdi>` (../parts/name.js), so that it cannot
 * turn what stands around it.
 */

const C0 = 0x2400; // ␀ ␁ ␂ …
const DELETE = 0x2421; // ␡

/** Control characters, and characters that turn the text around them or cannot be seen at all. */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * The text with a picture for each control character (␛), and a code for each other character that cannot be seen.
 * @param {unknown} value
 * @param {{lines?: boolean}} [how] lines: line breaks and tabs stay, for SQL and documentation
 */
export function visible(value, { lines = false } = {}) {
  return String(value ?? "").replace(HIDDEN, (character) => {
    if (lines && (character === "\n" || character === "\t")) return character;
    if (lines && character === "\r") return "";
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(C0 + code);
    if (code === 0x7f) return String.fromCharCode(DELETE);
    return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/**
 * The beginning of a text, cut between characters.
 * @param {unknown} value
 * @param {number} length
 */
export function shortened(value, length) {
  const characters = [...visible(value)];
  return characters.length <= length ? characters.join("") : `${characters.slice(0, length - 1).join("")}…`;
}

/**
 * An id or hash with its middle left out, as 01a1ef07…4e95.
 * @param {string | null | undefined} id
 */
export function shortId(id) {
  const text = visible(id);
  return text.length <= 16 ? text : `${text.slice(0, 8)}…${text.slice(-4)}`;
}
