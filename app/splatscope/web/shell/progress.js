// Which sections this reader has finished: kept in this browser and nowhere else, saved and loaded as a file.
import {download, h} from "./dom.js"

const KEY = "splatscope-progress"
const MOST_BYTES = 100_000
let sections = [] // names, in the order of the book
let titles = new Map()
let kept = {} // name → the day it was finished, YYYY-MM-DD
const shown = new Set() // what repaints the places that show it

// A section is finished once its figure has been stepped to the end, or all its questions have been answered.
export function startProgress(entries) {
  const read = entries.filter(({group}) => group && group !== "Tools")
  sections = read.map(({name}) => name)
  titles = new Map(read.map(({name, title}) => [name, title]))
  kept = remembered()
  window.addEventListener("splatscope:moment", ({detail: {root, moment, first}}) => {
    if (first && moment.position > 0 && moment.position >= (root.stepper.stops.at(-1) ?? moment.run.length)) finish(pageOf(root))
  })
  window.addEventListener("splatscope:answered", ({detail: {root}}) => {
    const page = pageOf(root),
      quizzes = [...(page?.querySelectorAll("[data-block^=quiz-]") ?? [])]
    const mine = quizzes.find((place) => within(root, place))
    if (mine) mine.dataset.answered = ""
    if (mine && quizzes.every((place) => "answered" in place.dataset)) finish(page)
  })
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) {
      kept = remembered()
      repaint()
    }
  })
  shown.add(() => mark(document))
  repaint()
}

// The marks in a page's words, and the panel where it has a place for one. Returns what ends it.
export function progress(root) {
  const place = root.querySelector("[data-progress]"),
    panel = place && makePanel(place)
  const paint = () => {
    mark(root)
    panel?.()
    const next = sections.find((name) => !kept[name]),
      start = root.querySelector("[data-start]")
    if (!start || !next) return
    start.setAttribute("href", `?page=${next}`)
    start.textContent = `${next === sections[0] ? "Start" : "Go on"} with ${titles.get(next)}`
  }
  paint()
  shown.add(paint)
  return () => shown.delete(paint)
}

function makePanel(place) {
  const words = h("p", {role: "status"}),
    bar = h("i"),
    said = h("p", {class: "said", role: "status"})
  const button = (label, act) => h("button", {type: "button", class: "btn", onclick: act}, label)
  const file = h("input", {type: "file", accept: ".json,application/json", hidden: true, "aria-label": "A file of progress"})
  const save = button("Save as a file", () => download(new TextEncoder().encode(asFile()), "splatscope-progress.json"))
  const clear = button("Clear", () => {
    const before = kept
    keep({})
    said.replaceChildren(
      "Cleared. ",
      h(
        "button",
        {
          type: "button",
          class: "btn quiet",
          onclick: () => {
            keep(before)
            said.textContent = ""
          },
        },
        "Undo",
      ),
    )
  })
  file.onchange = async () => {
    const [given] = file.files
    file.value = ""
    if (given) said.textContent = await load(given)
  }
  place.classList.add("progress")
  place.dataset.testid = "progress"
  place.replaceChildren(
    words,
    h("div", {class: "track", "aria-hidden": "true"}, bar),
    h(
      "div",
      {class: "acts"},
      save,
      button("Load a file", () => file.click()),
      clear,
      file,
    ),
    said,
    h(
      "p",
      {class: "hint"},
      "A section counts once its figure has been stepped to the end or all its questions have been answered. Kept in this browser alone.",
    ),
  )
  return () => {
    const n = sections.filter((name) => kept[name]).length
    place.dataset.finished = n
    words.replaceChildren(
      h("b", {}, n ? `${n} of ${sections.length}` : "None"),
      n ? " sections finished" : ` of ${sections.length} sections finished yet`,
    )
    bar.style.width = `${(n / sections.length) * 100}%`
    save.hidden = clear.hidden = !n
    if (n && said.querySelector("button")) said.textContent = "" // nothing to take back any more
  }
}

const asFile = () => JSON.stringify({splatscope: "progress", version: 1, finished: kept}, null, 1)

// Takes in what a file holds beside what is here. Resolves to one line that says what came of it.
async function load(file) {
  const wrong = `${file.name} is no file of progress: choose one that was saved here.`
  if (file.size > MOST_BYTES) return wrong
  let found
  try {
    found = JSON.parse(await file.text())
  } catch {
    return wrong
  }
  if (found?.splatscope !== "progress" || typeof found.finished !== "object" || !found.finished) return wrong
  const known = Object.fromEntries(Object.entries(sound(found.finished)).filter(([name]) => sections.includes(name)))
  const more = Object.keys(known).filter((name) => !kept[name])
  keep({...known, ...kept})
  return `${more.length || "No"} section${more.length === 1 ? "" : "s"} more, from ${file.name}.`
}

// Of anything at all, what names a page and a day.
const sound = (given) =>
  Object.fromEntries(
    Object.entries(given ?? {}).filter(([name, day]) => /^[\w-]{1,60}$/.test(name) && /^\d{4}-\d\d-\d\d$/.test(day)),
  )

function remembered() {
  try {
    return sound(JSON.parse(localStorage.getItem(KEY)))
  } catch {
    return {}
  }
}

function keep(next) {
  kept = next
  try {
    localStorage.setItem(KEY, JSON.stringify(kept))
  } catch {
    /* private mode: it lasts as long as the page */
  }
  repaint()
}

function finish(page) {
  const name = page?.dataset.page
  if (sections.includes(name) && !kept[name]) keep({...kept, [name]: new Date().toISOString().slice(0, 10)})
}

const repaint = () => {
  for (const paint of shown) paint()
}

function mark(root) {
  for (const link of root.querySelectorAll("[data-section]")) {
    if (kept[link.dataset.section]) link.dataset.done = kept[link.dataset.section]
    else delete link.dataset.done
  }
}

// Through the shadow trees: the page around an element, and whether it stands inside another.
const around = (node) => node.parentNode ?? node.host
function pageOf(node) {
  while (node && !node.dataset?.page) node = around(node)
  return node
}
function within(node, outer) {
  while (node && node !== outer) node = around(node)
  return Boolean(node)
}
