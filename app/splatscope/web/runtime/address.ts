// The query of an address: `?page=NAME&step=N`, followed by the page's inputs.
import type {Place} from "#components"

export const UNNAMED = -1 // the step of an address without one: the page opens at a step of its own choice
const RESERVED = ["page", "step", "walk", "class", "key", "stop", "notes", "slide"] // all other parameters are inputs of the page

/** Read the query of an address. "" is the home page. A step that is not a whole number from 0 counts as none. */
export function parse(search: string): Place {
  const query = new URLSearchParams(search)
  const step = Number(query.get("step") || UNNAMED)
  const page = query.get("page") || "home"
  for (const name of RESERVED) query.delete(name)
  return {page, step: Number.isInteger(step) && step >= 0 ? step : UNNAMED, inputs: query.toString()}
}

/** Write the query of an address. */
export function format({page, step, inputs}: Place) {
  return `?page=${encodeURIComponent(page)}${step === UNNAMED ? "" : `&step=${step}`}${inputs ? `&${inputs}` : ""}`
}

/** The address of a place, for links. */
export const hrefOf = (place: Place) => format(place)
