// The states of a published page: its contents for each set of inputs that was recorded. Written by states.py.
import {alike, type Described, flat} from "#web/runtime/host.ts"

/** Values of inputs by name. */
type Inputs = Record<string, unknown>

export interface State {
  /** The inputs as in an address. */
  address: string
  /** Those that differ from the defaults. */
  inputs: Inputs
  /** By number of a component, its values that differ from the view's, each as an index into `values`. */
  patch: Record<string, Record<string, number>>
}

export interface Published {
  /** Whether it has a figure that can be embedded. */
  figure: boolean
  /** The page in its first state. */
  view: Described
  /** Long ones as `{$file: name}`. */
  values: unknown[]
  /** Defaults of the inputs. */
  defaults: Inputs
  /** Inputs with which the recording's finding disappears. */
  fix: Inputs
  /** The first is that of the view. */
  states: State[]
}

/**
 * The values of a component in a state: all those that differ between states.
 * @param number  of the component
 */
export function valuesIn(page: Published, state: State, number: number) {
  const names = new Set(page.states.flatMap(({patch}) => Object.keys(patch[number] ?? {})))
  const base = flat(page.view)[number].values
  const patch = state.patch[number] ?? {}
  return Object.fromEntries([...names].map((name) => [name, name in patch ? page.values[patch[name]] : base[name]]))
}

/** The state for an address, or the nearest one. */
export function stateOf(page: Published, address: string) {
  const query = String(new URLSearchParams(address))
  const exact = page.states.find((state) => String(new URLSearchParams(state.address)) === query)
  return exact ?? nearest(page, wantedBy(page, address), "")
}

/** All inputs of an address. */
function wantedBy(page: Published, address: string) {
  const wanted = {...page.defaults}
  const query = new URLSearchParams(address)
  const pixel = /^(\d+),(\d+)$/.exec(query.get("pixel") ?? "")
  if (query.get("picture") && pixel && "at" in wanted) {
    wanted.at = [Number(pixel[1]), Number(pixel[2])]
    query.delete("pixel") // of the trained picture, not of the section's own
  }
  for (const [name, text] of query) if (name in wanted) wanted[name] = read(text, wanted[name])
  return wanted
}

/** The note for an address whose inputs were not recorded, about the inputs shown instead; "" if they were recorded. */
export function insteadOf(page: Published, state: State, address: string) {
  if (state.address === RECORDED) return ""
  const unknown = [...new URLSearchParams(address).keys()].filter((name) => !(name in page.defaults) && !OTHERS.includes(name))
  if (unknown.length)
    return `This figure has no input ${unknown.map((name) => name.slice(0, 40)).join(", ")}. It has ${Object.keys(page.defaults).join(", ")}.`
  const [wanted, inputs] = [wantedBy(page, address), inputsOf(page, state)]
  const others = Object.keys(wanted).filter((name) => !alike(inputs[name], wanted[name]))
  if (!others.length) return ""
  const words = (from: Inputs) => others.map((name) => short(name, from[name])).join(", ")
  return `Not recorded: ${words(wanted)}. Shown instead: ${words(inputs)}, from where the figure opens.`
}

function short(name: string, value: unknown) {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return text.length <= 24 ? `${name}=${text}` : `${name}=${text.slice(0, 23)}…`
}

/** The state nearest to the wanted inputs. The input that was moved counts first. */
export function nearest(page: Published, wanted: Inputs, moved: string) {
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

const OTHERS = ["recorded", "slide", "picture", "pixel"] // parameters of an address that are not inputs
export const RECORDED = "recorded=1" // the address of the shipped recording, made on another device

/** All inputs of a state. */
export const inputsOf = (page: Published, state: State) => ({...page.defaults, ...state.inputs})

/** The note below a control that was moved to a value that this state does not have; "" if the state has all wanted inputs. */
export function noteOn(page: Published, state: State, wanted: Inputs, moved: string) {
  const inputs = inputsOf(page, state)
  if (!alike(inputs[moved], wanted[moved])) {
    if (typeof wanted[moved] !== "number") return "This value was not recorded for the book. The nearest one is shown."
    const known = [...new Set(page.states.map((one) => inputsOf(page, one)[moved] as number))].sort((a, b) => a - b)
    return `Recorded for this book: ${known.map((value) => value.toLocaleString("en")).join("; ")}.`
  }
  return Object.keys(wanted).some((name) => !alike(inputs[name], wanted[name]))
    ? "Recorded only with the initial values of the other settings, which are shown."
    : ""
}

function distance(one: unknown, other: unknown): number {
  if (alike(one, other)) return 0
  if (typeof one === "number" && typeof other === "number") return Math.abs(one - other)
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    return one.reduce((sum, value, i) => sum + distance(value, other[i]), 0)
  return Number.MAX_VALUE
}

/** The value of an input in an address. */
function read(text: string, fallback: unknown) {
  if (typeof fallback === "string") return text
  try {
    return JSON.parse(text)
  } catch {
    return fallback
  }
}
