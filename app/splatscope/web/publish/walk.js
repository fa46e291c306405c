// A walk through the published book, read alone: `index.html?walk=NAME&stop=3`.
import {standIn} from "#web/shell/described_component.js"
import {load} from "./files.js"

/**
 * @import {Place} from "#web/shell/address.js"
 * @import {Described, Modules, StandIn} from "#web/shell/described_component.js"
 */

/**
 * Open the walk that the address names, if the book has it.
 * @param {Modules} modules
 * @returns {Promise<{place: Partial<Place>, bar: () => StandIn} | null>} its start, unless in the address, and what draws its bar
 */
export async function openWalk(modules) {
  const query = new URLSearchParams(location.search)
  const name = query.get("walk") ?? ""
  if (!/^[\w-]+$/.test(name)) return null
  /** @type {Described} */
  const view = await load(`walks/${name}`).catch(() => null)
  if (!view) return null
  const stops = /** @type {{page: string, inputs: string}[]} */ (view.values.stops)
  const start = Math.min(Math.max(0, Math.trunc(Number(query.get("stop")) || 0)), stops.length - 1)
  view.values.start = start
  const {page, inputs} = stops[start]
  return {place: query.has("page") ? {} : {page, inputs}, bar: () => standIn(modules, view, () => {})}
}
