// A walk through the published book, read alone: `index.html?walk=NAME&stop=3`.
import {Tree} from "#web/runtime/host.js"
import {load} from "./files.js"

/**
 * @import {Place} from "#web/runtime/address.js"
 * @import {Described, Modules} from "#web/runtime/host.js"
 */

/**
 * Open the walk that the address names, if the book has it.
 * @param {Modules} modules
 * @returns {Promise<{place: Partial<Place>, bar: () => Tree} | string>} its start, unless in the address, and what draws its bar;
 *   or why there is none, "" if the address names no walk
 */
export async function openWalk(modules) {
  const query = new URLSearchParams(location.search)
  const name = query.get("walk") ?? ""
  if (!name) return ""
  /** @type {string[]} */
  const names = await load("walks/index").catch(() => [])
  if (!names.length) return "This book has no walks."
  if (!names.includes(name))
    return `This book has no walk “${name.slice(0, 40)}”. Its ${names.length === 1 ? "walk is" : "walks are"} ${names.join(" and ")}.`
  /** @type {Described | null} */
  const view = await load(`walks/${name}`).catch(() => null)
  if (!view) return `walks/${name}.js could not be loaded.`
  const stops = /** @type {{page: string, inputs: string}[]} */ (view.values.stops)
  const start = Math.min(Math.max(0, Math.trunc(Number(query.get("stop")) || 0)), stops.length - 1)
  view.values.start = start
  const {page, inputs} = stops[start]
  return {place: query.has("page") ? {} : {page, inputs}, bar: () => new Tree(modules, view, () => {})}
}
