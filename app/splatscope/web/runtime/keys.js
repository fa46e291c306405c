// Global keys: one listener that dispatches to registered scopes, and the list of keys that `?` opens.
import {below, h, typing} from "./dom.js"

/**
 * Keys that act without focus. A chord is a key's name, single letters in lower case, after the modifiers held: "e", "Shift+e",
 * "ArrowRight", "Shift+ArrowRight", "Ctrl+Enter" (⌘ counts as Ctrl). Signs stand alone ("?", "/"): whether Shift makes them
 * depends on the keyboard. If several active scopes have the same chord, all of them get it.
 * @typedef {object} KeyScope
 * @property {Record<string, (event: KeyboardEvent) => void>} keys  what each chord does
 * @property {() => boolean} [active]  whether the scope is active now; if left out, it always is
 * @property {boolean} [whileTyping]  also while a text field has the focus
 * @property {boolean} [inDialogs]  also while a dialog is open
 * @property {Record<string, string>} [leave]  by chord, a selector of controls that use the key themselves when focused
 * @property {Record<string, () => boolean>} [idle]  by chord, whether it has nothing to do now, so that the list leaves it out
 */

/** @type {Set<KeyScope>} */
const scopes = new Set()
let listening = false

/**
 * Register keys. A chord that is handled loses its default action in the browser, except Escape, which closes dialogs.
 * @param {KeyScope} scope
 * @returns {() => void} ends it
 */
export function addKeys(scope) {
  if (!listening) window.addEventListener("keydown", dispatch)
  listening = true
  scopes.add(scope)
  return () => scopes.delete(scope)
}

/**
 * The chord of a key press: `chordOf({key: "E", shiftKey: true, …})` is "Shift+e".
 * @param {Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">} event
 */
export function chordOf({key, ctrlKey, metaKey, altKey, shiftKey}) {
  const sign = key.length === 1 && key !== " " && key.toLowerCase() === key.toUpperCase()
  const modifiers = [ctrlKey || metaKey ? "Ctrl+" : "", altKey ? "Alt+" : "", shiftKey && !sign ? "Shift+" : ""]
  return modifiers.join("") + (key.length === 1 ? key.toLowerCase() : key)
}

/** @param {KeyboardEvent} event */
function dispatch(event) {
  const chord = chordOf(event),
    target = event.composedPath()[0]
  const inField = typing(event),
    inDialog = document.querySelector("dialog[open]") !== null
  for (const scope of [...scopes]) {
    const act = scope.keys[chord],
      leave = scope.leave?.[chord]
    if (!act || (inField && !scope.whileTyping) || (inDialog && !scope.inDialogs)) continue
    if (leave && target instanceof Element && target.matches(leave)) continue
    if (scope.active && !scope.active()) continue
    if (chord !== "Escape") event.preventDefault()
    act(event)
  }
}

/** @typedef {[keys: string, words: string]} KeyWords  "Shift+→ Shift+←" and what they do */

/** @type {KeyWords[]} */
const SHELL = [
  ["?", "Show or hide this list"],
  ["Esc", "Close the open dialog or panel"],
  ["Tab", "Move to the next control"],
]
/** @type {KeyWords[]} */
let ofPage = []
/** @type {KeyWords[]} */
let ofWalk = []

/**
 * Set the page's part of the list of keys.
 * @param {KeyWords[]} keys
 */
export function setKeys(keys) {
  ofPage = keys
}

/**
 * Set the walk's part of the list of keys.
 * @param {KeyWords[]} keys
 */
export function setWalkKeys(keys) {
  ofWalk = keys
}

/**
 * A key as `aria-keyshortcuts` has it: "Shift+→" is "Shift+ArrowRight".
 * @param {string} key
 */
export const shortcut = (key) => key.replace("→", "ArrowRight").replace("←", "ArrowLeft")

/**
 * Return a test of whether a row's key does something on this page now: not if it is idle, and not if its button is hidden, as that
 * for barriers is in a run without any.
 */
function actsHere() {
  const buttons = [...below(document)].filter((el) => el.hasAttribute("aria-keyshortcuts"))
  return (/** @type {KeyWords} */ [keys]) => {
    const [first] = keys.split(" ")
    if ([...scopes].some(({idle, active}) => active?.() !== false && idle?.[first.toLowerCase()]?.())) return false
    const own = buttons.filter((el) => el.getAttribute("aria-keyshortcuts") === shortcut(first))
    return !own.length || own.some((el) => !el.hasAttribute("hidden"))
  }
}

/** Let `?` and the button in the bar open the list of keys. Called once, by the router. */
export function startKeys() {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("keys"))
  const toggle = () => {
    if (dialog.open) return dialog.close()
    const rows = [...ofPage, ...ofWalk, ...SHELL]
      .filter(actsHere())
      .map(([keys, words]) => h("div", {}, h("dt", {}, ...caps(keys)), h("dd", {}, words)))
    dialog.querySelector("dl")?.replaceChildren(...rows)
    dialog.showModal()
  }
  const open = document.getElementById("keys-open"),
    shut = /** @type {HTMLElement | null} */ (dialog.querySelector("[data-close]"))
  if (open) open.onclick = toggle
  if (shut) shut.onclick = () => dialog.close()
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close() // a click on the backdrop
  }
  addKeys({keys: {"?": toggle}, inDialogs: true})
}

/**
 * "Shift+→ Shift+←" as separate caps.
 * @param {string} keys
 */
const caps = (keys) =>
  keys.split(" ").flatMap((chord, i) => [
    ...(i ? [" "] : []),
    ...chord
      .split("+")
      .filter(Boolean)
      .map((key) => h("kbd", {}, key)),
  ])
