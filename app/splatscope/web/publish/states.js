// What a published page shows, for each set of inputs that was recorded. Python writes it, see states.py.
import {alike, flat} from "#web/shell/described_component.js"

/** @import {Described} from "#web/shell/described_component.js" */

/**
 * @typedef {object} State
 * @property {string} address  the inputs as they stand in the address
 * @property {Record<string, any>} inputs  those that differ from the defaults
 * @property {Record<string, Record<string, number>>} patch  by number of a component, its values that differ from the view's, each as its
 *   number in `values`
 */
/**
 * @typedef {object} Published
 * @property {boolean} figure  whether it has a figure that can stand in another page
 * @property {Described} view  in the first state
 * @property {unknown[]} values  a long one as `{$file: name}`
 * @property {Record<string, any>} defaults  of the inputs
 * @property {Record<string, any>} fix  inputs that remove what the recording finds
 * @property {State[]} states  the first is that of the view
 */

/**
 * The values of a component in a state: all those that some state changes.
 * @param {Published} page
 * @param {State} state
 * @param {number} number  of the component
 */
export function valuesIn(page, state, number) {
  const names = new Set(page.states.flatMap(({patch}) => Object.keys(patch[number] ?? {})))
  const base = flat(page.view)[number].values
  const patch = state.patch[number] ?? {}
  return Object.fromEntries([...names].map((name) => [name, name in patch ? page.values[patch[name]] : base[name]]))
}

/**
 * The state of an address, or the one nearest to it.
 * @param {Published} page
 * @param {string} address
 */
export function stateOf(page, address) {
  const query = String(new URLSearchParams(address))
  const exact = page.states.find((state) => String(new URLSearchParams(state.address)) === query)
  return exact ?? nearest(page, wantedBy(page, address), "")
}

/**
 * All inputs that an address asks for.
 * @param {Published} page
 * @param {string} address
 */
function wantedBy(page, address) {
  const wanted = {...page.defaults}
  for (const [name, text] of new URLSearchParams(address)) if (name in wanted) wanted[name] = read(text, wanted[name])
  return wanted
}

/**
 * What to say where an address asks for inputs that were not recorded: which are shown instead; "" where it has what it asks for.
 * @param {Published} page
 * @param {State} state
 * @param {string} address
 */
export function insteadOf(page, state, address) {
  if (state.address === RECORDED) return ""
  const unknown = [...new URLSearchParams(address).keys()].filter((name) => !(name in page.defaults) && !OTHERS.includes(name))
  if (unknown.length)
    return `This figure has no input ${unknown.map((name) => name.slice(0, 40)).join(", ")}. It has ${Object.keys(page.defaults).join(", ")}.`
  const [wanted, inputs] = [wantedBy(page, address), inputsOf(page, state)]
  const others = Object.keys(wanted).filter((name) => !alike(inputs[name], wanted[name]))
  if (!others.length) return ""
  const words = (/** @type {Record<string, any>} */ from) => others.map((name) => short(name, from[name])).join(", ")
  return `Not recorded: ${words(wanted)}. Shown instead: ${words(inputs)}, from where the figure opens.`
}

/**
 * @param {string} name
 * @param {any} value
 */
function short(name, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return text.length <= 24 ? `${name}=${text}` : `${name}=${text.slice(0, 23)}…`
}

/**
 * The state that is nearest to the inputs wanted: that of the input which was moved comes first.
 * @param {Published} page
 * @param {Record<string, any>} wanted
 * @param {string} moved
 */
export function nearest(page, wanted, moved) {
  const own = page.states.filter(({address}) => address !== RECORDED)
  const rated = own.map((state) => {
    const inputs = inputsOf(page, state)
    const others = Object.keys(wanted).filter((name) => name !== moved && !alike(inputs[name], wanted[name])).length
    const far = Object.keys(wanted).reduce((sum, name) => sum + distance(inputs[name], wanted[name]), 0)
    return {state, apart: moved in wanted ? distance(inputs[moved], wanted[moved]) : 0, others, far}
  })
  rated.sort((one, other) => one.apart - other.apart || one.others - other.others || one.far - other.far)
  return rated[0].state
}

const OTHERS = ["recorded", "slide"] // what an address has beside inputs
export const RECORDED = "recorded=1" // the address of the recording that ships, made elsewhere

/**
 * All inputs of a state.
 * @param {Published} page
 * @param {State} state
 */
export const inputsOf = (page, state) => ({...page.defaults, ...state.inputs})

/**
 * What to say under a control that was moved to a value that this state does not have; "" where it has all that was wanted.
 * @param {Published} page
 * @param {State} state
 * @param {Record<string, any>} wanted
 * @param {string} moved
 */
export function noteOn(page, state, wanted, moved) {
  const inputs = inputsOf(page, state)
  if (!alike(inputs[moved], wanted[moved])) {
    if (typeof wanted[moved] !== "number") return "This was not recorded for the book; the nearest is shown."
    const known = [...new Set(page.states.map((one) => inputsOf(page, one)[moved]))].sort((a, b) => a - b)
    return `Recorded for this book: ${known.map((value) => value.toLocaleString("en")).join(", ")}.`
  }
  return Object.keys(wanted).some((name) => !alike(inputs[name], wanted[name]))
    ? "Recorded with the other settings as they were at first."
    : ""
}

/**
 * @param {any} one
 * @param {any} other
 * @returns {number}
 */
function distance(one, other) {
  if (alike(one, other)) return 0
  if (typeof one === "number" && typeof other === "number") return Math.abs(one - other)
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    return one.reduce((sum, value, i) => sum + distance(value, other[i]), 0)
  return Number.MAX_VALUE
}

/**
 * The value of an input in an address.
 * @param {string} text
 * @param {any} fallback
 */
function read(text, fallback) {
  if (typeof fallback === "string") return text
  try {
    return JSON.parse(text)
  } catch {
    return fallback
  }
}
