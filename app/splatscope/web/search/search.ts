// The search over the whole book: a dialog that a button in the header, Ctrl+K and / open. Its index is loaded when it is opened
// first.
import {h, messageOf} from "#web/runtime/dom.ts"
import {hrefOf, UNNAMED} from "#web/runtime/address.ts"
import {request} from "#web/runtime/connection.ts"
import {addKeys, setSearchKeys} from "#web/runtime/keys.ts"
import {current, titleOf} from "#web/runtime/router.ts"
import {placeOfText} from "#web/runtime/sought.ts"
import {hasFind} from "#web/stepper/keys.ts"
import {excerpt, Index, type Kind, marked, type Marks} from "./ranking.ts"
import type {PublicEntry, SearchEntry} from "#components"

/** The groups of results, in the order in which equally good ones are shown. */
const GROUPS: Record<Kind, string> = {
  section: "Sections",
  tool: "Tools",
  heading: "Headings",
  term: "Glossary",
  text: "Text",
  code: "Code",
  claim: "Claims",
  exercise: "Exercises",
}
const MOST = 4 // results of a group at first
const ROOM = 150 // characters of a text around what was found
const REST = 600 // ms without a key press after which the number of results is announced
const FAILED = "The search could not be loaded"

let load = async (): Promise<SearchEntry[]> => {
  const answer = await request("search")
  if (!answer.ok) throw new Error(`The server answers ${answer.status}.`)
  return answer.json()
}

/** Load the index with this in place of asking the server. */
export function searchWith(loader: () => Promise<SearchEntry[]>) {
  load = loader
}

let index: Promise<{entries: SearchEntry[]; index: Index}> | null = null

/** The index, which is loaded once; after a failure, again. */
function loaded() {
  index ??= load()
    .then((entries) => ({entries, index: new Index(entries, titleOf)}))
    .catch((reason) => {
      index = null
      throw reason
    })
  return index
}

/** What is shown of an entry as a row. */
interface Row {
  entry: SearchEntry
  marks: Marks
}

interface Group {
  kind: Kind | ""
  title: string
  rows: Row[]
}

const NO_MARKS: Marks = new Map()

/** Start the search, in documents that have its dialog. Called once, by the shell. */
export function startSearch(pages: PublicEntry[]) {
  const dialog = document.getElementById("search") as HTMLDialogElement | null
  const open = document.getElementById("search-open")
  if (!dialog || !open) return
  const view = new SearchView(dialog, pages)
  open.onclick = () => view.open()
  addKeys({keys: {"Ctrl+k": () => view.open()}})
  addKeys({keys: {"/": () => view.open()}, active: () => !hasFind()})
  setSearchKeys(() => [[hasFind() ? "Ctrl+K" : "/ Ctrl+K", "Search the book"]])
}

class SearchView {
  dialog: HTMLDialogElement
  pages: PublicEntry[]
  field: HTMLInputElement
  list: HTMLElement
  heard: HTMLElement
  wider = new Set<string>() // the groups of which all results are shown
  options: HTMLElement[] = []
  at = -1 // the active option
  resting: ReturnType<typeof setTimeout> | undefined
  #drawn: Promise<void> = Promise.resolve() // the results of what the field says

  constructor(dialog: HTMLDialogElement, pages: PublicEntry[]) {
    this.dialog = dialog
    this.pages = pages
    this.field = dialog.querySelector("input") as HTMLInputElement
    this.list = dialog.querySelector("[role=listbox]") as HTMLElement
    this.heard = dialog.querySelector("[role=status]") as HTMLElement
    this.field.oninput = () => {
      this.wider.clear()
      this.show()
    }
    dialog.onkeydown = (event) => this.#keyed(event)
    dialog.onclick = (event) => {
      if (event.target === dialog || (event.target as Element).closest("[data-close]")) this.close() // the first is the backdrop
    }
    this.list.onclick = (event) => {
      const option = (event.target as Element).closest("[role=option]")
      if (option?.hasAttribute("data-more")) this.#widen(option as HTMLElement)
      else if (option && !(event.ctrlKey || event.metaKey || event.shiftKey)) this.close() // the link is followed after that
    }
    this.list.onpointermove = (event) => {
      const option = (event.target as Element).closest("[role=option]")
      if (option) this.#activate(this.options.indexOf(option as HTMLElement), false)
    }
  }

  open() {
    if (this.dialog.open) return
    this.dialog.showModal()
    this.field.select()
    this.show()
  }

  close() {
    this.dialog.close()
    this.field.blur() // it would keep the focus until the next frame if nothing had it before
  }

  /** Show what the field's words find. */
  show() {
    this.#drawn = this.#find()
    return this.#drawn
  }

  async #find() {
    const query = this.field.value.trim()
    clearTimeout(this.resting)
    try {
      const waiting = setTimeout(() => this.#say("Loading …"), 150)
      const {entries, index} = await loaded().finally(() => clearTimeout(waiting))
      if (query !== this.field.value.trim()) return
      const groups = query ? this.#found(index, query) : this.#useful(entries)
      this.#draw(groups, query)
    } catch (reason) {
      this.#say(`${FAILED}: ${messageOf(reason)}`)
    }
  }

  #found(index: Index, query: string): Group[] {
    const groups = new Map<Kind, Group>()
    const best = new Map<Kind, number>()
    for (const {entry, marks, score} of index.find(query)) {
      const [kind] = entry
      const group: Group = groups.get(kind) ?? {kind, title: GROUPS[kind], rows: []}
      group.rows.push({entry, marks})
      groups.set(kind, group)
      if (!best.has(kind)) best.set(kind, score)
    }
    const order = Object.keys(GROUPS)
    return [...groups.values()].sort((one, other) => {
      const [a, b] = [one.kind, other.kind] as [Kind, Kind]
      return (best.get(b) ?? 0) - (best.get(a) ?? 0) || order.indexOf(a) - order.indexOf(b)
    })
  }

  /** What is useful without any words: the headings of this page, where the book begins, the tools. */
  #useful(entries: SearchEntry[]): Group[] {
    const {page} = current()
    const of = (title: string, rows: SearchEntry[]): Group => ({
      kind: "",
      title,
      rows: rows.map((entry) => ({entry, marks: NO_MARKS})),
    })
    const first = this.pages.find(({section}) => section)?.name
    const next = this.pages[this.pages.findIndex(({name}) => name === page) + 1]
    const to = next?.section ? next.name : first
    return [
      of(
        "On this page",
        entries.filter(([kind, of]) => kind === "heading" && of === page),
      ),
      of(
        to === first ? "Begin here" : "Next",
        entries.filter(([kind, name]) => kind === "section" && name === to && to !== page),
      ),
      of(
        "Tools",
        entries.filter(([kind, name]) => kind === "tool" && name !== page),
      ),
    ].filter(({rows}) => rows.length)
  }

  #draw(groups: Group[], query: string) {
    const had = this.options[this.at]?.id
    this.options = []
    const drawn = groups.map(({kind, title, rows}, number) => {
      const all = !kind || this.wider.has(kind) || rows.length <= MOST + 1
      const shown = all ? rows : rows.slice(0, MOST)
      const id = `found-in-${kind || number}`
      const options: HTMLElement[] = shown.map((row, i) => optionOf(row, `found-${kind || number}-${i}`, kind === ""))
      if (!all) options.push(moreOf(kind, title, rows.length, `found-${kind}-more`))
      this.options.push(...options)
      return h("div", {role: "group", "aria-labelledby": id, class: "found-in"}, h("p", {id}, title), ...options)
    })
    const total = groups.reduce((sum, {rows}) => sum + rows.length, 0)
    if (query && !total) {
      this.list.replaceChildren()
      return this.#say(`Nothing found for “${query}”.`)
    }
    this.list.replaceChildren(...drawn)
    this.field.setAttribute("aria-expanded", "true")
    this.dialog.classList.remove("bare")
    this.at = -1
    const kept = this.wider.size ? this.options.findIndex(({id}) => id === had) : -1
    this.#activate(Math.max(kept, query ? 0 : -1))
    if (kept < 0) this.list.scrollTop = 0
    const words = query ? `${total} ${total === 1 ? "result" : "results"}` : ""
    this.heard.classList.add("sr")
    this.resting = setTimeout(() => {
      this.heard.textContent = words
    }, REST)
  }

  /** Say something in place of results. */
  #say(words: string) {
    this.options = []
    this.at = -1
    this.list.replaceChildren()
    this.field.removeAttribute("aria-activedescendant")
    this.field.setAttribute("aria-expanded", "false")
    this.dialog.classList.add("bare")
    this.heard.classList.remove("sr")
    this.heard.textContent = words
  }

  #activate(at: number, scrolls = true) {
    if (at === this.at) return
    this.options[this.at]?.setAttribute("aria-selected", "false")
    this.at = at
    const option = this.options[at]
    option?.setAttribute("aria-selected", "true")
    if (option) this.field.setAttribute("aria-activedescendant", option.id)
    else this.field.removeAttribute("aria-activedescendant")
    if (!scrolls || !option) return
    if (at === 0)
      this.list.scrollTop = 0 // with the name of its group
    else option.scrollIntoView({block: "nearest"})
  }

  #widen(option: HTMLElement) {
    const first = this.options.indexOf(option)
    this.wider.add(option.dataset.more ?? "")
    this.field.focus()
    this.show().then(() => this.#activate(first))
  }

  #keyed(event: KeyboardEvent) {
    const {key} = event
    const count = this.options.length
    const to = {ArrowDown: (this.at + 1) % count, ArrowUp: this.at <= 0 ? count - 1 : this.at - 1}[key]
    if (to !== undefined && count) {
      event.preventDefault()
      this.#activate(to)
    } else if (key === "Enter" && event.target === this.field && !event.isComposing) {
      event.preventDefault()
      const {ctrlKey, metaKey} = event
      const click = new MouseEvent("click", {bubbles: true, cancelable: true, composed: true, ctrlKey, metaKey})
      this.#drawn.then(() => this.dialog.open && this.options[this.at]?.dispatchEvent(click)) // perhaps the index is still loading
    } else if (key === "Escape" || (key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault() // the field itself would only be emptied
      this.close()
    }
  }
}

/** The address of an entry. */
function addressOf([kind, page, , words, place]: SearchEntry) {
  const inputs = place.startsWith("&") ? place.slice(1) : ""
  const own = kind === "section" || kind === "tool" || place
  return (
    hrefOf({page, step: UNNAMED, inputs}) +
    (own ? place.slice(inputs ? place.length : 0) : placeOfText(kind === "code" ? "code" : "text", words))
  )
}

/** @param plain  without the name of its page, which all have in common */
function optionOf({entry, marks}: Row, id: string, plain: boolean) {
  const [kind, page, title, words] = entry
  const isTitled = ["section", "tool", "term", "exercise"].includes(kind)
  const main = isTitled ? title : kind === "code" ? words : kind === "heading" ? words : excerpt(words, marks, ROOM)
  const named = marked(title, marks).some(([, found]) => found) // then its words are shown from their beginning
  const about = isTitled
    ? excerpt(words, named ? NO_MARKS : marks, ROOM)
    : plain
      ? ""
      : [titleOf(page), title].filter(Boolean).join(" › ")
  const classes = `found ${kind}`
  const parts = [
    h(kind === "code" ? "code" : "span", {class: "what"}, ...piecesOf(main, marks)),
    about ? h("span", {class: "about"}, ...(isTitled ? piecesOf(about, marks) : [about])) : null,
  ]
  return h("a", {role: "option", id, class: classes, href: addressOf(entry), tabindex: "-1", "aria-selected": "false"}, ...parts)
}

function moreOf(kind: string, title: string, count: number, id: string) {
  const words = `All ${count} in ${title.toLowerCase()}`
  return h("div", {role: "option", id, class: "found more", "data-more": kind, "aria-selected": "false"}, words)
}

const piecesOf = (text: string, marks: Marks) => marked(text, marks).map(([piece, found]) => (found ? h("mark", {}, piece) : piece))
