// Draws a tree of components from its description (tree.py), whichever carrier has brought it.
import {h} from "./dom.ts"
import type {ControlsParameters, ShowParameters, StepperParameters} from "#components"
import type {ModelOf} from "#web/types.ts"

/** Parameters by name. */
export type Values = Record<string, unknown>

/** A component as Python describes it. */
export interface Described {
  id: number
  class: string
  values: Values
  children: Record<string, Described | Described[] | null>
}

/** By class. Each draws components of its own class. */
export type Modules = Record<string, {render: (component: never) => unknown}>

/** What Python changes in a component, or sends to it. */
export interface Change {
  id: number
  values?: Values
  children?: Described["children"]
  message?: unknown
}

/** The parameters that carriers read of a component whose class they do not know. Each class has some of them. */
type Known = Partial<
  Pick<ControlsParameters, "groups"> &
    Pick<ShowParameters, "results"> &
    Pick<StepperParameters, "error" | "file" | "meta" | "stops"> & {busy: boolean | string}
>

/** Handles a message of a component, which is of the type that its class sends. */
type Answer = (message: never, sender: Part) => void

/** A tree of components that is drawn. */
export class Tree {
  parts = new Map<number, Part>()
  root: Part
  #modules: Modules
  #answer: Answer

  /** @param answer  receives what the components send */
  constructor(modules: Modules, described: Described, answer: Answer) {
    this.#modules = modules
    this.#answer = answer
    this.root = this.#mount(described)
  }

  /** Apply a change. One of a component that is no longer there is dropped. */
  apply({id, values = {}, children = {}, message}: Change) {
    const part = this.parts.get(id)
    if (!part) return
    const names = Object.keys(children)
    const before = names.flatMap((name) => part.held[name])
    for (const name of names) part.hold(name, children[name], this.#mountAll(children[name]))
    part.set(values)
    for (const name of names) part.tell(name)
    if (message !== undefined) part.tell("message", message)
    for (const old of before) this.#remove(old)
    for (const name of names) for (const child of part.held[name]) child.rendered()
  }

  /**
   * Answer the change of an input, as Python does: where it was made, the values replace what was typed.
   * @param notes  shown below inputs, by name
   */
  answerInputs(notes: Record<string, string>) {
    for (const {id, model} of this.parts.values()) if (model.groups) this.apply({id, values: {notes}, message: {type: "answered"}})
  }

  /** Tell all components that they are removed. */
  remove() {
    this.#remove(this.root)
  }

  #mount({id, class: name, values, children}: Described): Part {
    const part = new Part(id, name, values, this.#answer)
    for (const [holder, child] of Object.entries(children)) part.hold(holder, child, this.#mountAll(child))
    this.parts.set(id, part)
    part.render(this.#modules[name])
    return part
  }

  #mountAll(child: Described | Described[] | null) {
    return child ? [child].flat().map((each) => this.#mount(each)) : []
  }

  #remove(part: Part) {
    for (const child of part.inside) this.#remove(child)
    part.tell("remove")
    this.parts.delete(part.id)
  }
}

/** A component that is drawn. */
export class Part {
  /** Has the component's shadow tree. */
  host = h("div")
  model: ModelOf<Known, Record<string, HTMLElement>, unknown>
  /** By the name of the parameter that holds them. */
  held: Record<string, Part[]> = {}
  id: number
  /** Its class. */
  kind: string
  #el = h("div")
  #lists = new Set<string>() // the parameters that hold any number
  #listeners: [event: string, act: (message: unknown) => void][] = []
  #values: Values

  constructor(id: number, kind: string, values: Values, answer: Answer) {
    this.id = id
    this.kind = kind
    this.#values = values
    const own = {
      get_child: (name: string) => {
        const hosts = this.held[name].map(({host}) => host)
        return this.#lists.has(name) ? hosts : (hosts[0] ?? null)
      },
      send_msg: (message: unknown) => {
        queueMicrotask(() => answer(message as never, this)) // a message sent while drawing waits until that is done
      },
      on: (event: string, act: (message: unknown) => void) => {
        this.#listeners.push([event, act])
      },
    }
    this.model = new Proxy(own, {
      get: (_, key) => own[key as keyof typeof own] ?? this.#values[key as string],
    }) as unknown as Part["model"]
  }

  /** Hold other components in a parameter. */
  hold(name: string, child: Described | Described[] | null, drawn: Part[]) {
    if (Array.isArray(child)) this.#lists.add(name)
    this.held[name] = drawn
  }

  /** The components directly inside it. */
  get inside() {
    return Object.values(this.held).flat()
  }

  render(module: Modules[string] | undefined) {
    if (!module) throw new Error(`No module draws ${this.kind}: list it in the index.ts of this bundle.`)
    this.host.attachShadow({mode: "open"}).append(this.#el)
    const root = module.render({model: this.model, el: this.#el} as never)
    if (root instanceof Element) this.#el.append(root)
  }

  /** Call what listens to an event. */
  tell(event: string, message?: unknown) {
    for (const [name, act] of this.#listeners) if (name === event) act(message)
  }

  /** Change values, and call what listens to those that are others now. */
  set(values: Values) {
    const changed = Object.keys(values).filter((name) => !alike(values[name], this.#values[name]))
    Object.assign(this.#values, values)
    for (const name of changed) this.tell(name)
  }

  /** Tell it and everything in it that it is in the document. */
  rendered() {
    for (const child of this.inside) child.rendered()
    this.tell("after_render")
  }
}

/** A described component and everything in it. */
export const flat = (described: Described): Described[] => [
  described,
  ...Object.values(described.children).flatMap((child) => [child ?? []].flat().flatMap(flat)),
]

const isPlain = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)

/** Whether two values are deeply equal. */
export function alike(one: unknown, other: unknown): boolean {
  if (one === other || !isPlain(one) || !isPlain(other)) return one === other
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => alike(one[name], other[name]))
}
