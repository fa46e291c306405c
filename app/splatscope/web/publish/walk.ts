// A walk through the published book, read alone: `index.html?walk=NAME&stop=3`.
import {type Described, type Modules, Tree} from "#web/runtime/host.ts"
import {load} from "./files.ts"
import type {Place} from "#components"

/**
 * Open the walk that the address names, if the book has it.
 * @returns its start, unless in the address, and what draws its bar; or why there is none, "" if the address names no walk
 */
export async function openWalk(modules: Modules): Promise<{place: Partial<Place>; bar: () => Tree} | string> {
  const query = new URLSearchParams(location.search)
  const name = query.get("walk") ?? ""
  if (!name) return ""
  const names = await load<string[]>("walks/index").catch((): string[] => [])
  if (!names.length) return "This book has no walks."
  if (!names.includes(name))
    return `This book has no walk “${name.slice(0, 40)}”. Its ${names.length === 1 ? "walk is" : "walks are"} ${names.join(" and ")}.`
  const view = await load<Described>(`walks/${name}`).catch(() => null)
  if (!view) return `walks/${name}.js could not be loaded.`
  const stops = view.values.stops as {page: string; inputs: string}[]
  const start = Math.min(Math.max(0, Math.trunc(Number(query.get("stop")) || 0)), stops.length - 1)
  view.values.start = start
  const {page, inputs} = stops[start]
  return {place: query.has("page") ? {} : {page, inputs}, bar: () => new Tree(modules, view, () => {})}
}
