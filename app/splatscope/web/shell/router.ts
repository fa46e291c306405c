// The app's root: the page, the strip of a walk above it, and what all pages have around them.
import {watchTyping} from "#web/runtime/connection.ts"
import {h} from "#web/runtime/dom.ts"
import {startKeys} from "#web/runtime/keys.ts"
import {connect, readShown, startRouting} from "#web/runtime/router.ts"
import {startTheme} from "#web/theme/theme.ts"
import {startDrawer} from "./drawer.ts"
import {startProgress} from "#web/home/progress.ts"
import {startSearch} from "#web/search/search.ts"
import type {PublicEntry, RouterMessages, RouterParameters} from "#components"
import type {Render} from "#web/types.ts"

/**
 * Start what needs no server: links, theme, keys, drawer, progress. Called by a section or the live router, whichever comes first.
 */
export function startShell(pages: PublicEntry[]) {
  if (!startRouting(pages)) return
  watchTyping()
  startTheme()
  startKeys()
  startDrawer()
  startProgress(pages)
  startSearch(pages)
}

/** Start what a session's router needs, before any part of its page is drawn. */
export function startSession({begin, entries}: RouterParameters, send: (message: RouterMessages) => void) {
  connect(begin, send)
  startShell(entries)
}

export function render({model}: Render<"Router">) {
  readShown()
  const strip = document.getElementById("walk"),
    walk = model.get_child("walk")
  if (walk && !strip?.childElementCount) strip?.append(walk)
  const content = h("div")
  const show = () => content.replaceChildren(model.get_child("view") ?? "")
  model.on("view", show)
  show()
  return content
}
