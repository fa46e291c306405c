// The presenter's second window: the notes, the time, the next stop, and how many students follow.
import {UNNAMED} from "#web/runtime/address.ts"
import {h} from "#web/runtime/dom.ts"
import {asked, attendance} from "./attendance.ts"
import type {Guide, Heads} from "./guide.ts"

/** "23 follow, 2 on their own" */
export const headsText = ({follow, apart}: Heads) =>
  [`${follow} follow${follow === 1 ? "s" : ""}`, apart ? `${apart} on their own` : ""].filter(Boolean).join(", ")

/** Minutes and seconds: "12:05". */
export const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`

/**
 * A stop as it is announced, with its notes.
 * @param words  the notes
 */
export const stopAloud = (number: string, title: string, words: HTMLElement) =>
  [`${number}: ${title.replace(/[^.?!]$/, "$&.")}`, ...[...words.children].map((block) => block.textContent)].join(" ")

/** Fill the window. Returns the function that repaints it. */
export function notes(root: HTMLElement, guide: Guide) {
  const {model, stops} = guide
  const ends = stops.map((_, i) => stops.slice(0, i + 1).reduce((sum, stop) => sum + stop.minutes, 0) * 60)
  const title = h("h1")
  const number = h("p", {class: "dim num"})
  const words = h("div", {class: "prose", "data-testid": "notes"})
  const heard = h("p", {class: "sr", role: "status", "data-testid": "notes-heard"}) // announces a stop with its notes
  let announced = -1 // the stop that was announced last
  const next = h("p", {class: "next"})
  const heads = h("p", {class: "dim num"})
  const why = h("span", {})
  const gone = h(
    "p",
    {class: "gone", role: "status"},
    why,
    h(
      "button",
      {type: "button", class: "btn", onclick: () => open(`?walk=${model.walk}&class=${model.code}&stop=${guide.stop}`)},
      "Open it",
    ),
  )
  const tally = h("div", {class: "attendance", "data-testid": "current-question"}) // of the question or claim that this stop shows
  let counted = ""
  const people = attendance()
  const inside = h("details", {class: "people"}, h("summary", {}, "Who is where"), people.el)
  const time = h("span", {class: "elapsed num"})
  const plan = h("span", {class: "dim num"})
  const [done, due] = [h("i"), h("b")]
  const move = (label: string, by: number, name: string) =>
    h("button", {type: "button", class: `btn ${name}`, onclick: () => guide.go(guide.stop + by)}, label)
  const again = h(
    "button",
    {type: "button", class: "btn quiet", onclick: () => model.send_msg({type: "clock"})},
    "Start the clock now",
  )
  const own = h(
    "button",
    {
      type: "button",
      class: "btn quiet",
      title: "Opens this class as its presenter, on another device or later. Keep it private.",
      onclick: () => copyOwn(),
    },
    "Copy the presenter's link",
  )
  const copyOwn = async () => {
    const link = `${location.origin}${location.pathname}?walk=${model.walk}&key=${encodeURIComponent(guide.key)}`
    try {
      await navigator.clipboard.writeText(link)
      own.textContent = "Copied"
    } catch {
      prompt("The presenter's link", link) // without https there is no clipboard
    }
  }
  const exercises = h("button", {
    type: "button",
    class: "btn",
    onclick: () => guide.go(guide.stop, isBeside() ? null : {page: "exercises", step: UNNAMED, inputs: ""}),
  })
  const isBeside = () => guide.last.page === "exercises"
  const back = move("Previous", -1, "")
  const on = move("Next", 1, "pri")
  root.classList.add("notes")
  root.replaceChildren(
    h("header", {}, h("div", {class: "clock"}, time, plan, again), h("div", {class: "track", "aria-hidden": "true"}, done, due)),
    h("article", {}, number, title, tally, words, heard, inside),
    h("footer", {}, gone, next, h("div", {class: "acts"}, back, on, exercises), heads, own),
  )

  const tick = () => {
    const {stop, began} = guide
    const passed = began ? Math.max(0, Date.now() / 1000 - began) : 0
    const whole = ends[ends.length - 1]
    time.textContent = clock(passed)
    plan.textContent = `of ${clock(whole)}. This stop: ${clock(ends[stop] - stops[stop].minutes * 60)} to ${clock(ends[stop])}`
    done.style.width = `${Math.min(100, (passed / whole) * 100)}%`
    due.style.left = `${(ends[stop] / whole) * 100}%`
    root.classList.toggle("late", passed > ends[stop])
  }
  setInterval(tick, 1000)

  return () => {
    const {role, last, heads: seen} = guide
    const stop = last.stop ?? guide.stop
    guide.stop = stop
    Object.assign(root.dataset, {role, stop: String(stop)})
    document.documentElement.dataset.walk = "notes"
    document.title = `Notes · ${model.title}`
    const after = stops[stop + 1]
    const mine = role === "present"
    number.textContent = `Stop ${stop + 1} of ${stops.length}, ${stops[stop].minutes} min`
    title.textContent = stops[stop].title
    const said = mine
      ? (model.notes[stop] ?? "")
      : "<p>These are the presenter's notes. Open them from the presenter's own window.</p>"
    if (words.innerHTML !== said) words.innerHTML = said
    if (announced >= 0 && announced !== stop) {
      heard.textContent = stopAloud(`${number.textContent}`, stops[stop].title, words)
    }
    announced = stop
    next.replaceChildren(...(after ? [h("span", {class: "dim"}, "Next: "), after.title] : ["This is the last stop"]))
    heads.textContent = mine ? headsText(seen) : ""
    back.disabled = !mine || stop === 0
    on.disabled = !mine || !after
    exercises.disabled = !mine
    exercises.textContent = isBeside() ? "Back to this stop" : "Exercises"
    inside.hidden = !mine
    const {page, show} = stops[stop]
    const question = guide.attended.find((one) => one.page === page)?.questions.find(({name}) => name === show)
    const counts = JSON.stringify(question ?? null)
    if (counts !== counted) tally.replaceChildren(...(question ? asked(question, true).filter((el) => el !== null) : []))
    counted = counts
    tally.hidden = !mine || !question
    people.paint(guide.attended, show)
    why.textContent = `${guide.ended ? "The class has ended" : "The presenter's page is not open"}, so Previous and Next have no effect. `
    gone.hidden = !mine || guide.present
    again.hidden = !mine
    own.hidden = !mine
    tick()
  }
}
