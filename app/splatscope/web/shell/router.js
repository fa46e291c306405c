// The app's root: the page, the strip of a walk above it, and what all pages have around them.
import {watchTyping} from "#web/runtime/connection.js"
import {h} from "#web/runtime/dom.js"
import {startKeys} from "#web/runtime/keys.js"
import {connect, readShown, startRouting} from "#web/runtime/router.js"
import {startTheme} from "#web/theme/theme.js"
import {startDrawer} from "./drawer.js"
import {startProgress} from "#web/home/progress.js"

/**
 * @import {Render} from "#web/types.d.ts"
 * @import {Entry, RouterChildren, RouterParameters} from "#web/runtime/router.js"
 */

/**
 * Start what needs no server: links, theme, keys, drawer, progress. Called by a section or the live router, whichever comes first.
 * @param {Entry[]} pages
 */
export function startShell(pages) {
  if (!startRouting(pages)) return
  watchTyping()
  startTheme()
  startKeys()
  startDrawer()
  startProgress(pages)
}

/** @param {Render<RouterParameters, RouterChildren>} component */
export function render({model}) {
  connect(model)
  startShell(model.entries)
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
