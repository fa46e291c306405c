// The presenter's second window: what to say, how long, what comes next, who follows.
import {h} from "#web/shell/dom.js"

// "23 follow, 2 on their own"
export const inWords = ({follow, apart}) =>
  [`${follow} follow${follow === 1 ? "s" : ""}`, apart ? `${apart} on their own` : ""].filter(Boolean).join(", ")

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`

export function notes(root, guide) {
  const {model, stops} = guide
  const ends = stops.map((_, i) => stops.slice(0, i + 1).reduce((sum, stop) => sum + stop.minutes, 0) * 60)
  const title = h("h1"),
    place = h("p", {class: "dim num"}),
    words = h("div", {class: "prose", "data-testid": "notes"}),
    next = h("p", {class: "next"}),
    heads = h("p", {class: "dim num"})
  const time = h("span", {class: "elapsed num"}),
    plan = h("span", {class: "dim num"}),
    done = h("i"),
    due = h("b")
  const way = (label, by, klass) =>
    h("button", {type: "button", class: `btn ${klass}`, onclick: () => guide.go(guide.stop + by)}, label)
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
      title: "It opens this class as its presenter: on another device, or later. Keep it to yourself.",
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
      prompt("The presenter's link", link)
    } // without https there is no clipboard
  }
  const back = way("Previous", -1, ""),
    on = way("Next", 1, "pri")
  root.classList.add("notes")
  root.replaceChildren(
    h("header", {}, h("div", {class: "clock"}, time, plan, again), h("div", {class: "track", "aria-hidden": "true"}, done, due)),
    h("article", {}, place, title, words),
    h("footer", {}, next, h("div", {class: "acts"}, back, on), heads, own),
  )

  const tick = () => {
    const {stop, began} = guide,
      passed = began ? Math.max(0, Date.now() / 1000 - began) : 0,
      whole = ends.at(-1)
    time.textContent = clock(passed)
    plan.textContent = `of ${clock(whole)}. This stop: ${clock(ends[stop] - stops[stop].minutes * 60)} to ${clock(ends[stop])}`
    done.style.width = `${Math.min(100, (passed / whole) * 100)}%`
    due.style.left = `${(ends[stop] / whole) * 100}%`
    root.classList.toggle("late", passed > ends[stop])
  }
  setInterval(tick, 1000)

  return () => {
    const {role, last, heads: seen} = guide
    const stop = (guide.stop = last.stop ?? guide.stop)
    Object.assign(root.dataset, {role, stop})
    document.documentElement.dataset.walk = "notes"
    document.title = `Notes · ${model.title}`
    const after = stops[stop + 1],
      mine = role === "present"
    place.textContent = `Stop ${stop + 1} of ${stops.length}, ${stops[stop].minutes} min`
    title.textContent = stops[stop].title
    const said = mine
      ? (model.notes[stop] ?? "")
      : "<p>These are the presenter's notes. Open them from the presenter's own window.</p>"
    if (words.innerHTML !== said) words.innerHTML = said
    next.replaceChildren(...(after ? [h("span", {class: "dim"}, "Next: "), after.title] : ["The last stop"]))
    heads.textContent = mine ? inWords(seen) : ""
    back.disabled = !mine || stop === 0
    on.disabled = !mine || !after
    again.hidden = own.hidden = !mine
    tick()
  }
}
