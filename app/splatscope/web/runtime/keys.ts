// Global keys: one listener that dispatches to registered scopes, and the list of keys that `?` opens.
import {below, h, typing} from "./dom.ts"
import type {KeyWords} from "#components"

/**
 * Keys that act without focus. A chord is a key's name, single letters in lower case, after the modifiers held: "e", "Shift+e",
 * "ArrowRight", "Shift+ArrowRight", "Ctrl+Enter" (⌘ counts as Ctrl). Signs stand alone ("?", "/"): whether Shift makes them
 * depends on the keyboard. If several active scopes have the same chord, all of them get it.
 */
interface KeyScope {
  /** What each chord does. */
  keys: Record<string, (event: KeyboardEvent) => void>
  /** Whether the scope is active now; if left out, it always is. */
  active?: () => boolean
  /** Also while a text field has the focus. */
  whileTyping?: boolean
  /** Also while a dialog is open. */
  inDialogs?: boolean
  /** By chord, a selector of controls that use the key themselves when focused. */
  leave?: Record<string, string>
  /** By chord, whether it has nothing to do now, so that the list leaves it out. */
  idle?: Record<string, () => boolean>
}

const scopes = new Set<KeyScope>()
let listening = false

/**
 * Register keys. A chord that is handled loses its default action in the browser, except Escape, which closes dialogs.
 * @returns ends it
 */
export function addKeys(scope: KeyScope): () => void {
  if (!listening) window.addEventListener("keydown", dispatch)
  listening = true
  scopes.add(scope)
  return () => scopes.delete(scope)
}

/** The chord of a key press: `chordOf({key: "E", shiftKey: true, …})` is "Shift+e". */
export function chordOf({
  key,
  ctrlKey,
  metaKey,
  altKey,
  shiftKey,
}: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">) {
  const sign = key.length === 1 && key !== " " && key.toLowerCase() === key.toUpperCase()
  const modifiers = [ctrlKey || metaKey ? "Ctrl+" : "", altKey ? "Alt+" : "", shiftKey && !sign ? "Shift+" : ""]
  return modifiers.join("") + (key.length === 1 ? key.toLowerCase() : key)
}

function dispatch(event: KeyboardEvent) {
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

const SHELL: KeyWords[] = [
  ["?", "Show or hide this list"],
  ["Esc", "Close the open dialog or panel"],
  ["Tab", "Move to the next control"],
]
let ofPage: KeyWords[] = []
let ofWalk: KeyWords[] = []
let ofSearch = (): KeyWords[] => []

/** Set the page's part of the list of keys. */
export function setKeys(keys: KeyWords[]) {
  ofPage = keys
}

/** Set the walk's part of the list of keys. */
export function setWalkKeys(keys: KeyWords[]) {
  ofWalk = keys
}

/** Set the search's part of the list of keys, which depends on the page. */
export function setSearchKeys(keys: () => KeyWords[]) {
  ofSearch = keys
}

/** A key as `aria-keyshortcuts` has it: "Shift+→" is "Shift+ArrowRight". */
export const shortcut = (key: string) => key.replace("→", "ArrowRight").replace("←", "ArrowLeft")

/**
 * Return a test of whether a row's key does something on this page now: not if it is idle, and not if its button is hidden, as that
 * for barriers is in a run without any.
 */
function actsHere() {
  const buttons = [...below(document)].filter((el) => el.hasAttribute("aria-keyshortcuts"))
  return ([keys]: KeyWords) => {
    const [first] = keys.split(" ")
    if ([...scopes].some(({idle, active}) => active?.() !== false && idle?.[first.toLowerCase()]?.())) return false
    const own = buttons.filter((el) => el.getAttribute("aria-keyshortcuts") === shortcut(first))
    return !own.length || own.some((el) => !el.hasAttribute("hidden"))
  }
}

/** Let `?` and the button in the bar open the list of keys. Called once, by the router. */
export function startKeys() {
  const dialog = document.getElementById("keys") as HTMLDialogElement
  const toggle = () => {
    if (dialog.open) return dialog.close()
    const rows = [...ofPage, ...ofWalk, ...ofSearch(), ...SHELL]
      .filter(actsHere())
      .map(([keys, words]) => h("div", {}, h("dt", {}, ...caps(keys)), h("dd", {}, words)))
    dialog.querySelector("dl")?.replaceChildren(...rows)
    dialog.showModal()
  }
  const open = document.getElementById("keys-open"),
    shut = dialog.querySelector("[data-close]") as HTMLElement | null
  if (open) open.onclick = toggle
  if (shut) shut.onclick = () => dialog.close()
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close() // a click on the backdrop
  }
  addKeys({keys: {"?": toggle}, inDialogs: true})
}

/** "Shift+→ Shift+←" as separate caps. */
const caps = (keys: string) =>
  keys.split(" ").flatMap((chord, i) => [
    ...(i ? [" "] : []),
    ...chord
      .split("+")
      .filter(Boolean)
      .map((key) => h("kbd", {}, key)),
  ])
