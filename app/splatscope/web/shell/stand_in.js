// A component that is drawn from its description, without the model that Python holds: see component.py.
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
 * A component that was drawn without its live model.
 * @typedef {object} StandIn
 * @property {HTMLElement} host  as a live view's element
 * @property {Live} model
 * @property {Record<string, StandIn[]>} held  by the parameter that holds them
 * @property {() => void} rendered  tells it, and what it holds, that it stands in the document
 * @property {(model: Live) => void} connect  has it use the live model from then on
 * @property {(values: Record<string, unknown>) => void} set  changes values, as Python would
 * @property {() => void} remove  tells it, and what it holds, that it is gone
 */

/**
 * Draw a component and what it holds. Its model is stood in for until the live one is there, and all goes to that one from then on.
 * @param {Modules} modules
 * @param {Described} described
 * @param {Answer} [answer]  takes what the component sends, where there is nobody else to answer; otherwise it waits for the live model
 * @returns {StandIn}
 */
export function standIn(modules, {class: name, values, children}, answer) {
  /** @type {Record<string, StandIn[]>} */
  const held = {}
  for (const [child, one] of Object.entries(children))
    held[child] = one ? [one].flat().map((each) => standIn(modules, each, answer)) : []
  /** @type {Live | null} */
  let live = null
  /** @type {[name: string, act: () => void][]} */
  const listeners = []
  /** @type {unknown[]} */
  const messages = []
  const own = {
    get_child: (/** @type {string} */ child) => {
      const hosts = held[child].map(({host}) => host)
      return Array.isArray(children[child]) ? hosts : (hosts[0] ?? null)
    },
    send_msg: (/** @type {unknown} */ message) => {
      if (live) live.send_msg(message)
      else if (answer)
        queueMicrotask(() => answer(message, self)) // a message that is sent while it is drawn waits for that
      else messages.push(message)
    },
    on(/** @type {string} */ event, /** @type {() => void} */ act) {
      listeners.push([event, act])
      live?.on(event, act)
    },
  }
  const tell = (/** @type {string} */ event) => {
    for (const [heard, act] of listeners) if (heard === event) act()
  }
  const model = new Proxy(own, {
    get: (_, key) => own[/** @type {keyof typeof own} */ (key)] ?? (live ? live[key] : values[/** @type {string} */ (key)]),
  })
  const host = h("div"),
    el = h("div")
  host.attachShadow({mode: "open"}).append(el) // as Bokeh's views have it
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
    connect(there) {
      live = there
      for (const [event, act] of listeners) there.on(event, act)
      for (const [key, value] of Object.entries(values)) if (!alike(value, there[key])) tell(key)
      for (const message of messages.splice(0)) there.send_msg(message)
    },
  }
  return self
}

/**
 * Whether two values are the same to whoever reads them.
 * @param {unknown} one
 * @param {unknown} other
 */
export function alike(one, other) {
  if (one === other || ArrayBuffer.isView(one) || ArrayBuffer.isView(other)) return one === other
  return JSON.stringify(one) === JSON.stringify(other)
}
