// Draws a component from its description (component.py). A stand-in takes the place of the model that Python would hold.
import {h} from "./dom.js"

/** @import {Render} from "#web/types.d.ts" */

/**
 * A component as Python describes it.
 * @typedef {object} Described
 * @property {string} name
 * @property {string} class
 * @property {Record<string, unknown>} values
 * @property {Record<string, Described | Described[] | null>} children
 */
/** @typedef {Record<string, {render: (component: any) => unknown}>} Modules  by class */
/** @typedef {Render<any, any>["model"]} Live */
/** @typedef {(message: any, sender: StandIn) => void} Answer */
/**
 * A component that was drawn without a live model.
 * @typedef {object} StandIn
 * @property {HTMLElement} host  takes the place of a live view's element
 * @property {Live} model
 * @property {Record<string, StandIn[]>} held  by the name of the parameter that holds them
 * @property {() => void} rendered  tells it and everything in it that it is in the document
 * @property {(values: Record<string, unknown>) => void} set  changes values, as Python would
 * @property {() => void} remove  tells it and everything in it that it was removed
 */

/**
 * Draw a component and everything in it.
 * @param {Modules} modules
 * @param {Described} described
 * @param {Answer} answer  receives what the component sends
 * @returns {StandIn}
 */
export function mountDescribed(modules, {class: name, values, children}, answer) {
  /** @type {Record<string, StandIn[]>} */
  const held = {}
  for (const [child, one] of Object.entries(children))
    held[child] = one ? [one].flat().map((each) => mountDescribed(modules, each, answer)) : []
  /** @type {[name: string, act: () => void][]} */
  const listeners = []
  const own = {
    get_child: (/** @type {string} */ child) => {
      const hosts = held[child].map(({host}) => host)
      return Array.isArray(children[child]) ? hosts : (hosts[0] ?? null)
    },
    send_msg: (/** @type {unknown} */ message) => {
      queueMicrotask(() => answer(message, self)) // a message sent while drawing waits until that is done
    },
    on(/** @type {string} */ event, /** @type {() => void} */ act) {
      listeners.push([event, act])
    },
  }
  const tell = (/** @type {string} */ event) => {
    for (const [heard, act] of listeners) if (heard === event) act()
  }
  const model = new Proxy(own, {
    get: (_, key) => own[/** @type {keyof typeof own} */ (key)] ?? values[/** @type {string} */ (key)],
  })
  const host = h("div"),
    el = h("div")
  host.attachShadow({mode: "open"}).append(el) // as in Bokeh's views
  const root = modules[name].render({model, el, view: null})
  if (root instanceof Element) el.append(root)
  const inside = () => Object.values(held).flat()
  /** @type {StandIn} */
  const self = {
    host,
    model,
    held,
    rendered() {
      for (const one of inside()) one.rendered()
      tell("after_render")
    },
    set(next) {
      const changed = Object.keys(next).filter((key) => !alike(next[key], values[key]))
      Object.assign(values, next)
      for (const key of changed) tell(key)
    },
    remove() {
      for (const one of inside()) one.remove()
      tell("remove")
    },
  }
  return self
}

/**
 * A described component and everything in it, in the order in which Python numbers them.
 * @param {Described} described
 * @returns {Described[]}
 */
export const flat = (described) => [
  described,
  ...Object.values(described.children).flatMap((one) => [one ?? []].flat().flatMap(flat)),
]

/**
 * A drawn component and everything in it, in the same order.
 * @param {StandIn} part
 * @returns {StandIn[]}
 */
export const partsOf = (part) => [part, ...Object.values(part.held).flat().flatMap(partsOf)]

/**
 * Add the counters that Python would increase: the number of the recording, and that of an answer to a control.
 * @param {StandIn} part
 * @param {Record<string, any>} values
 * @param {Record<string, string>} notes  shown under controls, by input
 */
export function counted({model}, values, notes) {
  if (model.revision !== undefined) return {...values, notes, revision: model.revision + 1}
  if (!values.meta || values.meta.recording === model.meta.recording) return values
  return {...values, sequence: model.sequence + 1}
}

/** @param {unknown} value */
const isPlain = (value) => typeof value === "object" && value !== null && !ArrayBuffer.isView(value)

/**
 * Whether two values are deeply equal.
 * @param {any} one
 * @param {any} other
 * @returns {boolean}
 */
export function alike(one, other) {
  if (one === other || !isPlain(one) || !isPlain(other)) return one === other
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => alike(one[name], other[name]))
}
