/** Numbers, sizes, durations and times. Times are UTC, as in the tables; a missing value is "–". */

const NONE = "–";

/**
 * 12,345. Counts beyond 2^53 come as text and stay exact.
 * @param {number | string | null | undefined} value
 */
export function count(value) {
  if (value === null || value === undefined || value === "") return NONE;
  if (typeof value === "string" && /^-?\d+$/.test(value)) return BigInt(value).toLocaleString("en");
  const number = Number(value);
  return Number.isFinite(number) ? number.toLocaleString("en", { maximumFractionDigits: 2 }) : String(value);
}

/**
 * "1 record", "2 records"
 * @param {number | string | null | undefined} value
 * @param {string} singular
 * @param {string} [plural]
 */
export function counted(value, singular, plural = `${singular}s`) {
  return `${count(value)} ${String(value) === "1" ? singular : plural}`;
}

/** @param {number | null | undefined} bytes */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return NONE;
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let [value, unit] = [Number(bytes), 0];
  while (Math.abs(value) >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value.toLocaleString("en", { maximumSignificantDigits: unit ? 3 : 15 })} ${units[unit]}`;
}

/**
 * 41 ms, 10.0 s, 3 min, 2 h 5 min, 3 d
 * @param {number | null | undefined} ms
 */
export function duration(ms) {
  if (ms === null || ms === undefined) return NONE;
  const sign = ms < 0 ? "−" : "";
  const value = Math.abs(Number(ms));
  if (value < 1000) return `${sign}${Math.round(value)} ms`;
  if (value < 60_000) return `${sign}${(value / 1000).toFixed(1)} s`;
  if (value < 3_600_000) return `${sign}${pair(value / 60_000, 60, "min", "s")}`;
  if (value < 86_400_000) return `${sign}${pair(value / 3_600_000, 60, "h", "min")}`;
  return `${sign}${pair(value / 86_400_000, 24, "d", "h")}`;
}

/**
 * @param {number} value
 * @param {number} parts
 * @param {string} unit
 * @param {string} smaller
 */
function pair(value, parts, unit, smaller) {
  const whole = Math.floor(value);
  const rest = Math.round((value - whole) * parts);
  if (rest === parts) return `${whole + 1} ${unit}`;
  return rest && whole < 10 ? `${whole} ${unit} ${rest} ${smaller}` : `${Math.round(value)} ${unit}`;
}

/** @param {number | null | undefined} seconds */
export const seconds = (seconds) => duration(seconds === null || seconds === undefined ? seconds : seconds * 1000);

/**
 * 14:19:53, with the date if it is not today's (UTC).
 * @param {string | null | undefined} iso
 * @param {{ms?: boolean, now?: Date}} [how]
 */
export function time(iso, { ms = false, now = new Date() } = {}) {
  if (!iso) return NONE;
  const clock = ms ? iso.slice(11, 23).replace(/Z$/, "") : iso.slice(11, 19);
  return iso.slice(0, 10) === now.toISOString().slice(0, 10) ? clock : `${iso.slice(0, 10)} ${clock}`;
}

/**
 * 2026-11-19 14:19:53 UTC
 * @param {string | null | undefined} iso
 */
export const fullTime = (iso) => (iso ? `${iso.slice(0, 10)} ${iso.slice(11).replace(/Z$/, "")} UTC` : NONE);

/**
 * "3 min ago"
 * @param {string | null | undefined} iso
 * @param {number} [now]
 */
export function ago(iso, now = Date.now()) {
  if (!iso) return "never";
  const ms = now - Date.parse(iso);
  return ms < 0 ? `in ${duration(-ms)}` : ms < 1000 ? "now" : `${duration(ms)} ago`;
}

/** @param {number | null | undefined} share 0 to 1 */
export const percent = (share) =>
  share === null || share === undefined ? NONE : `${(100 * share).toLocaleString("en", { maximumSignificantDigits: 3 })} %`;
