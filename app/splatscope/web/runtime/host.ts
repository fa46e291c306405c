// Draws a tree of components from its description (tree.py), whichever carrier has brought it.
import {h} from "./dom.ts"
import type {Model} from "#web/types.ts"

/** A component as Python describes it. */
export interface Described {
  id: number
  class: string
  values: Record<string, any>
  children: Record<string, Described | Described[] | null>
}

/** By class. */
export type Modules = Record<string, {render: (component: any) => unknown}>

/** What Python changes in a component, or sends to it. */
export interface Change {
  id: number
  values?: Record<string, unknown>
  children?: Described["children"]
  message?: any
}

/** A component that is drawn. */
export interface Part {
  id: number
  /** Has its shadow tree. */
  host: HTMLElement
  model: Model<any, any>
  /** Changes values. */
  set: (values: Record<string, unknown>) => void
  /** Tells it and everything in it that it is in the document. */
  rendered: () => void
  /** Tells it and everything in it that it was removed. */
  remove: () => void
}

/** A tree of components that is drawn. */
export class Tree {
  parts = new Map<number, Part>()
  #modules
  #answer
  root: Drawn

  /** @param answer  receives what the components send */
  constructor(modules: Modules, described: Described, answer: (message: any, sender: Part) => void) {
    this.#modules = modules
    this.#answer = answer
    this.root = this.#mount(described)
  }

  /** Apply a change. One of a component that is no longer there is dropped. */
  apply({id, values = {}, children = {}, message}: Change) {
    const part = this.parts.get(id) as Drawn | undefined
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
   * @param notes  shown below inputs, by name
   */
  answerInputs(notes: Record<string, string>) {
    for (const {id, model} of this.parts.values())
      if (model.groups !== undefined) this.apply({id, values: {notes}, message: {type: "answered"}})
  }

  #mount({id, class: name, values, children}: Described): Drawn {
    const held = Object.fromEntries(Object.entries(children).map(([child, within]) => [child, this.#mountAll(within)]))
    const part = new Drawn(id, values, children, held, this.#answer)
    this.parts.set(id, part)
    part.render(this.#modules[name])
    return part
  }

  #mountAll(within: Described | Described[] | null) {
    return within ? [within].flat().map((each) => this.#mount(each)) : []
  }

  #forget(part: Drawn) {
    this.parts.delete(part.id)
    for (const within of Object.values(part.held).flat()) this.#forget(within)
  }
}

/** @implements {Part} */
class Drawn {
  #listeners: [event: string, act: (message?: any) => void][] = []
  host = h("div")
  #el = h("div")
  id: number
  values: Record<string, any>
  children: Described["children"]
  held: Record<string, Drawn[]>
  model

  /** @param held  what is drawn of them */
  constructor(
    id: number,
    values: Record<string, any>,
    children: Described["children"],
    held: Record<string, Drawn[]>,
    answer: (message: any, sender: Part) => void,
  ) {
    this.id = id
    this.values = values
    this.children = children
    this.held = held
    const own = {
      get_child: (name: string) => {
        const hosts = this.held[name].map(({host}) => host)
        return Array.isArray(this.children[name]) ? hosts : (hosts[0] ?? null)
      },
      send_msg: (message: unknown) => {
        queueMicrotask(() => answer(message, this)) // a message sent while drawing waits until that is done
      },
      on: (event: string, act: () => void) => {
        this.#listeners.push([event, act])
      },
    }
    this.model = new Proxy(own, {
      get: (_, key) => own[key as keyof typeof own] ?? this.values[key as string],
    })
  }

  render(module: {render: (component: any) => unknown}) {
    this.host.attachShadow({mode: "open"}).append(this.#el)
    const root = module.render({model: this.model, el: this.#el})
    if (root instanceof Element) this.#el.append(root)
  }

  /** Call what listens to an event. */
  tell(event: string, message?: any) {
    for (const [heard, act] of this.#listeners) if (heard === event) act(message)
  }

  set(next: Record<string, unknown>) {
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

/** A described component and everything in it. */
export const flat = (described: Described): Described[] => [
  described,
  ...Object.values(described.children).flatMap((within) => [within ?? []].flat().flatMap(flat)),
]

const isPlain = (value: unknown) =>
  typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)

/** Whether two values are deeply equal. */
export function alike(one: any, other: any): boolean {
  if (one === other || !isPlain(one) || !isPlain(other)) return one === other
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => alike(one[name], other[name]))
}
