// The sections that the reader has finished. This is stored in the browser only, and can be saved and loaded as a file.
import {attempts, onAttempts, takeIn} from "#web/runtime/attempts.ts"
import {hrefOf, UNNAMED} from "#web/runtime/address.ts"
import {answers, keepAnswers, validAnswers} from "#web/runtime/answers.ts"
import {around, download, h} from "#web/runtime/dom.ts"
import {on} from "#web/runtime/events.ts"
import type {PublicEntry} from "#components"

/** Name of a section → the day it was finished, YYYY-MM-DD. */
type Finished = Record<string, string>

const KEY = "splatscope-progress"
const MOST_BYTES = 4_000_000 // a progress file includes the kernels of the exercises
const MOMENTS = 3 // a figure counts as used once this many of its moments were seen
let sections: string[] = [] // names, in the order of the book
let titles = new Map<string, string>()
let finished: Finished = {}
const seen = new Map<string, Set<number>>() // by section: the moments of its figure that were in view
const answered = new Set<string>() // sections in which a question was answered rightly
const stepped = new Set<string>() // sections whose figure was stepped to the answer of a question
const painters = new Set<() => void>() // each repaints one part of the page that shows progress

/**
 * Start tracking finished sections: those in which a question was answered rightly and the figure was used, by the reader or by a
 * step to the answer. Called once, by the router.
 */
export function startProgress(entries: PublicEntry[]) {
  const read = entries.filter(({group}) => group && group !== "Tools")
  sections = read.map(({name}) => name)
  titles = new Map(read.map(({name, title}) => [name, title]))
  finished = stored()
  on("moment", ({root, moment, first}) => {
    const page = first ? pageOf(root) : null
    if (!page) return
    const name = page.dataset.page ?? ""
    seen.set(name, (seen.get(name) ?? new Set()).add(moment.position))
    finish(page)
  })
  on("answered", ({root, right, steps}) => {
    const page = pageOf(root)
    if (!page) return
    const name = page.dataset.page ?? ""
    if (right) answered.add(name)
    if (steps) stepped.add(name)
    finish(page)
  })
  window.addEventListener("storage", ({key}) => {
    if (key === KEY || key === null) {
      // null: everything was cleared
      finished = stored()
      repaint()
    }
  })
  painters.add(() => mark(document))
  onAttempts(repaint)
  repaint()
}

/**
 * Mark the finished sections among a page's links, and fill its progress panel, if it has one.
 * @returns ends it
 */
export function progress(root: HTMLElement): () => void {
  const holder = root.querySelector("[data-progress]") as HTMLElement | null,
    panel = holder && makePanel(holder)
  const paint = () => {
    mark(root)
    panel?.()
    const next = sections.find((name) => !finished[name]),
      start = root.querySelector("[data-start]")
    if (!start || !next) return
    start.setAttribute("href", hrefOf({page: next, step: UNNAMED, inputs: ""}))
    start.textContent = startWords(titles.get(next) ?? "", next === sections[0])
  }
  paint()
  painters.add(paint)
  return () => painters.delete(paint)
}

/** The label of the button that leads to a section. For the first section, home.py has the same text. */
function startWords(title: string, first: boolean) {
  if (!first) return `Continue with ${title}`
  return title.endsWith("?") ? `Start: ${title[0].toLowerCase()}${title.slice(1)}` : `Start with ${title}`
}

function makePanel(holder: HTMLElement) {
  const words = h("p"),
    bar = h("i"),
    said = h("p", {class: "said", role: "status"})
  const button = (label: string, act: () => void) => h("button", {type: "button", class: "btn", onclick: act}, label)
  const file = h("input", {type: "file", accept: ".json,application/json", hidden: true, "aria-label": "Progress file"})
  const saver = button("Save as a file", () => download(new TextEncoder().encode(asFile()), "splatscope-progress.json"))
  const clear = button("Clear", () => {
    const [before, answersBefore] = [finished, answers()]
    save({})
    keepAnswers({})
    said.replaceChildren(
      "Cleared. ",
      h(
        "button",
        {
          type: "button",
          class: "btn quiet",
          onclick: () => {
            save(before)
            keepAnswers(answersBefore)
            said.textContent = ""
          },
        },
        "Undo",
      ),
    )
  })
  file.onchange = async () => {
    const given = file.files?.[0]
    file.value = ""
    if (given) said.textContent = await load(given)
  }
  holder.classList.add("progress")
  holder.dataset.testid = "progress"
  holder.replaceChildren(
    words,
    h("div", {class: "track", "aria-hidden": "true"}, bar),
    h(
      "div",
      {class: "acts"},
      saver,
      button("Load a file", () => file.click()),
      clear,
      file,
    ),
    said,
    h(
      "p",
      {class: "hint"},
      "A section is finished once you have used its figure and answered one of its questions rightly. Progress is stored in this browser only.",
    ),
  )
  return () => {
    const n = sections.filter((name) => finished[name]).length
    const tried = Object.values(attempts())
    const solved = tried.filter((one) => one.solved).length
    holder.dataset.finished = String(n)
    words.replaceChildren(
      h("b", {}, n ? `${n} of ${sections.length}` : "None"),
      n ? " sections finished" : ` of ${sections.length} sections finished yet`,
      solved ? `, ${solved} exercise${solved === 1 ? "" : "s"} solved` : "",
    )
    bar.style.width = `${(n / sections.length) * 100}%`
    saver.hidden = !n && !tried.length
    clear.hidden = !n
    if (n && said.querySelector("button")) said.textContent = "" // there is nothing left to undo
  }
}

const asFile = () =>
  JSON.stringify({splatscope: "progress", version: 1, finished, exercises: attempts(), answers: answers()}, null, 1)

/**
 * Add the progress in a file to what is here.
 * @returns the result, in one line
 */
async function load(file: File): Promise<string> {
  const wrong = `${file.name} is not a progress file. Choose one that was saved on this page.`
  if (file.size > MOST_BYTES) return wrong
  let found: {splatscope?: unknown; finished?: unknown; exercises?: unknown; answers?: unknown} | null
  try {
    found = JSON.parse(await file.text())
  } catch {
    return wrong
  }
  if (found?.splatscope !== "progress" || typeof found.finished !== "object" || !found.finished) return wrong
  const known = Object.fromEntries(Object.entries(valid(found.finished)).filter(([name]) => sections.includes(name)))
  const more = Object.keys(known).filter((name) => !finished[name])
  save({...known, ...finished})
  const solved = takeIn(found.exercises)
  keepAnswers({...validAnswers(found.answers), ...answers()})
  const tasks = solved ? ` and ${solved} new exercise${solved === 1 ? "" : "s"}` : ""
  return `Loaded ${more.length || "no"} new section${more.length === 1 ? "" : "s"}${tasks} from ${file.name}.`
}

/** Keep the valid entries, page names with a day, of a value from outside. */
const valid = (given: unknown): Finished =>
  Object.fromEntries(
    Object.entries(given ?? {}).filter(([name, day]) => /^[\w-]{1,60}$/.test(name) && /^\d{4}-\d\d-\d\d$/.test(day)),
  )

function stored() {
  try {
    return valid(JSON.parse(localStorage.getItem(KEY) ?? "null"))
  } catch {
    return {}
  }
}

function save(next: Finished) {
  finished = next
  try {
    localStorage.setItem(KEY, JSON.stringify(finished))
  } catch {
    /* private mode: progress lasts as long as the page */
  }
  repaint()
}

function finish(page: HTMLElement) {
  const name = page.dataset.page ?? ""
  const used = (seen.get(name)?.size ?? 0) >= MOMENTS || stepped.has(name) || !page.querySelector("[data-block=figure]")
  if (!used || !answered.has(name) || !sections.includes(name) || finished[name]) return
  save({...finished, [name]: new Date().toISOString().slice(0, 10)})
}

const repaint = () => {
  for (const paint of painters) paint()
}

function mark(root: ParentNode) {
  for (const link of root.querySelectorAll("[data-section]")) {
    const day = finished[link.getAttribute("data-section") ?? ""]
    if (day) link.setAttribute("data-done", day)
    else link.removeAttribute("data-done")
  }
}

/** The page that contains a node. */
function pageOf(node: Node): HTMLElement | null {
  for (let outer = node as Node | null; outer; outer = around(outer))
    if (outer instanceof HTMLElement && outer.dataset.page) return outer
  return null
}
