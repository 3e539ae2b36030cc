/** The API key, for this tab only. It is never in an address, a log or localStorage. */

import { store } from "./store.js";

const KEY = "lineproof.key";

/** What the sign-in box says; null if no key is asked for. @type {import("./store.js").Store<string | null>} */
export const signIn = store(/** @type {string | null} */ (null));

/** Changes at every sign-in, so that views ask again. @type {import("./store.js").Store<number>} */
export const signedIn = store(0);

export const key = () => sessionStorage.getItem(KEY);

/** @param {string} value */
export function useKey(value) {
  sessionStorage.setItem(KEY, value);
  signIn.set(null);
  signedIn.set(signedIn.get() + 1);
}

export function forgetKey() {
  sessionStorage.removeItem(KEY);
  signIn.set("You are signed out.");
}
