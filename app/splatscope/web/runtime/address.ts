// The address of a page: `?page=NAME&step=N`, followed by the page's inputs. In the published book, each page is a document of its
// own, `NAME.html?step=N`.
import type {Place} from "#components"

export const UNNAMED = -1 // the step of an address without one: the page opens at a step of its own choice
const RESERVED = ["page", "step", "walk", "class", "key", "stop", "notes", "slide"] // all other parameters are inputs of the page
const LINK = /^(\?page=|[\w-]+\.html(?=[?#]|$))/

/** Whether this is a document of the published book. The frames of embedded figures are none. */
export const isBook = () => document.documentElement.dataset.book !== undefined

/** Read an address, with or without its path. Without a name, it is that of the home page. A step that is no whole number is none. */
export function parse(address: string): Place {
  const [path] = address.split("?", 1)
  const query = new URLSearchParams(address.slice(path.length))
  const step = Number(query.get("step") || UNNAMED)
  const file = /([\w-]+)\.html$/.exec(path)?.[1] ?? ""
  const page = query.get("page") || (file === "index" ? "" : file) || "home"
  for (const name of RESERVED) query.delete(name)
  return {page, step: Number.isInteger(step) && step >= 0 ? step : UNNAMED, inputs: query.toString()}
}

/** The place that this window's address names. */
export const parseHere = () => parse(location.pathname + location.search)

/** The place that a link leads to, if it is a page of the app or of the book; else null. */
export const placeOfLink = (link: HTMLAnchorElement) =>
  LINK.test(link.getAttribute("href") ?? "") ? parse(link.pathname + link.search) : null

/** Write the query of an address. */
export function format({page, step, inputs}: Place) {
  return `?page=${encodeURIComponent(page)}${step === UNNAMED ? "" : `&step=${step}`}${inputs ? `&${inputs}` : ""}`
}

/** Write an address, relative to the current one. */
export function hrefOf(place: Place) {
  const query = format(place)
  if (!isBook()) return query
  const rest = query.slice(1).split("&").slice(1).join("&")
  return `${place.page === "home" ? "index" : place.page}.html${rest ? `?${rest}` : ""}`
}
