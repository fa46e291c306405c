// Draws a tree of components from its description (tree.py), whichever carrier has brought it.
import {h} from "./dom.js"

/** @import {Model} from "#web/types.d.ts" */

/**
 * A component as Python describes it.
 * @typedef {object} Described
 * @property {number} id
 * @property {string} class
 * @property {Record<string, any>} values
 * @property {Record<string, Described | Described[] | null>} children
 */
/** @typedef {Record<string, {render: (component: any) => unknown}>} Modules  by class */
/**
 * What Python changes in a component, or sends to it.
 * @typedef {object} Change
 * @property {number} id
 * @property {Record<string, unknown>} [values]
 * @property {Described["children"]} [children]
 * @property {any} [message]
 */
/**
 * A component that is drawn.
 * @typedef {object} Part
 * @property {number} id
 * @property {HTMLElement} host  has its shadow tree
 * @property {Model<any, any>} model
 * @property {(values: Record<string, unknown>) => void} set  changes values
 * @property {() => void} rendered  tells it and everything in it that it is in the document
 * @property {() => void} remove  tells it and everything in it that it was removed
 */

/** A tree of components that is drawn. */
export class Tree {
  /** @type {Map<number, Part>} */
  parts = new Map()
  #modules
  #answer

  /**
   * @param {Modules} modules
   * @param {Described} described
   * @param {(message: any, sender: Part) => void} answer  receives what the components send
   */
  constructor(modules, described, answer) {
    this.#modules = modules
    this.#answer = answer
    this.root = this.#mount(described)
  }

  /**
   * Apply a change. One of a component that is no longer there is dropped.
   * @param {Change} change
   */
  apply({id, values = {}, children = {}, message}) {
    const part = /** @type {Drawn | undefined} */ (this.parts.get(id))
    if (!part) return
    const before = Object.keys(children).flatMap((name) => part.held[name] ?? [])
    for (const [name, child] of Object.entries(children)) part.held[name] = this.#mountAll(child)
    Object.assign(part.children, children)
    part.set(values)
    for (const name of Object.keys(children)) part.tell(name)
    if (message !== undefined) part.tell("message", message)
    for (const old of before) {
      old.remove()
      this.#forget(old)
    }
    for (const name of Object.keys(children)) for (const child of part.held[name]) child.rendered()
  }

  /**
   * Answer the change of an input, as Python does: where it was made, the values replace what was typed.
   * @param {Record<string, string>} notes  shown below inputs, by name
   */
  answerInputs(notes) {
    for (const {id, model} of this.parts.values())
      if (model.groups !== undefined) this.apply({id, values: {notes}, message: {type: "answered"}})
  }

  /**
   * @param {Described} described
   * @returns {Drawn}
   */
  #mount({id, class: name, values, children}) {
    const held = Object.fromEntries(Object.entries(children).map(([child, within]) => [child, this.#mountAll(within)]))
    const part = new Drawn(id, values, children, held, this.#answer)
    this.parts.set(id, part)
    part.render(this.#modules[name])
    return part
  }

  /** @param {Described | Described[] | null} within */
  #mountAll(within) {
    return within ? [within].flat().map((each) => this.#mount(each)) : []
  }

  /** @param {Drawn} part */
  #forget(part) {
    this.parts.delete(part.id)
    for (const within of Object.values(part.held).flat()) this.#forget(within)
  }
}

/** @implements {Part} */
class Drawn {
  /** @type {[event: string, act: (message?: any) => void][]} */
  #listeners = []
  host = h("div")
  #el = h("div")

  /**
   * @param {number} id
   * @param {Record<string, any>} values
   * @param {Described["children"]} children
   * @param {Record<string, Drawn[]>} held  what is drawn of them
   * @param {(message: any, sender: Part) => void} answer
   */
  constructor(id, values, children, held, answer) {
    this.id = id
    this.values = values
    this.children = children
    this.held = held
    const own = {
      get_child: (/** @type {string} */ name) => {
        const hosts = this.held[name].map(({host}) => host)
        return Array.isArray(this.children[name]) ? hosts : (hosts[0] ?? null)
      },
      send_msg: (/** @type {unknown} */ message) => {
        queueMicrotask(() => answer(message, this)) // a message sent while drawing waits until that is done
      },
      on: (/** @type {string} */ event, /** @type {() => void} */ act) => {
        this.#listeners.push([event, act])
      },
    }
    this.model = new Proxy(own, {
      get: (_, key) => own[/** @type {keyof typeof own} */ (key)] ?? this.values[/** @type {string} */ (key)],
    })
  }

  /** @param {{render: (component: any) => unknown}} module */
  render(module) {
    this.host.attachShadow({mode: "open"}).append(this.#el)
    const root = module.render({model: this.model, el: this.#el})
    if (root instanceof Element) this.#el.append(root)
  }

  /**
   * Call what listens to an event.
   * @param {string} event
   * @param {any} [message]
   */
  tell(event, message) {
    for (const [heard, act] of this.#listeners) if (heard === event) act(message)
  }

  /** @param {Record<string, unknown>} next */
  set(next) {
    const changed = Object.keys(next).filter((name) => !alike(next[name], this.values[name]))
    Object.assign(this.values, next)
    for (const name of changed) this.tell(name)
  }

  rendered() {
    for (const part of Object.values(this.held).flat()) part.rendered()
    this.tell("after_render")
  }

  remove() {
    for (const part of Object.values(this.held).flat()) part.remove()
    this.tell("remove")
  }
}

/**
 * A described component and everything in it.
 * @param {Described} described
 * @returns {Described[]}
 */
export const flat = (described) => [
  described,
  ...Object.values(described.children).flatMap((within) => [within ?? []].flat().flatMap(flat)),
]

/** @param {unknown} value */
const isPlain = (value) =>
  typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)

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
