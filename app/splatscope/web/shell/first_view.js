// The first page, drawn before its session is there: from what the document says of its components, see component.py. Once the session
// is there, each live component takes over what was drawn in its place: nothing on the page moves or is drawn anew.
import {openFile} from "#web/stepper/model/recording.js"
import {h} from "./dom.js"
import {lose, startShell} from "./router.js"
import {standIn} from "./stand_in.js"

/**
 * @import {Render} from "#web/types.d.ts"
 * @import {Entry} from "./router.js"
 * @import {Described, Modules, StandIn} from "./stand_in.js"
 */

/** @type {Map<unknown, StandIn>} */
const standIns = new Map() // by the live model, once that is known
/** @type {StandIn | null} */
let first = null // the page's, until the live one is there

/**
 * The bundle's modules: each draws a component, unless the first view has drawn it already. Draws the first view.
 * @param {Modules} modules
 */
export function withFirstView(modules) {
  const given = document.getElementById("first-view")
  const page = document.getElementById("first")
  if (given && page) {
    const {entries, view} = JSON.parse(given.textContent ?? "")
    openFile(view.values.preload).then(
      () => draw(modules, page, entries, view), // all of it with one paint
      () => draw(modules, page, entries, view), // the figure will say what is wrong
    )
  }
  /** @type {Modules} */
  const wrapped = {}
  for (const [name, module] of Object.entries(modules))
    wrapped[name] = {...module, render: (component) => takenOver(name, component) ?? module.render(component)}
  return wrapped
}

/**
 * Draw the page in place of its words, and begin the session once it has been painted.
 * @param {Modules} modules
 * @param {HTMLElement} words  the page as the document shows it
 * @param {Entry[]} entries
 * @param {Described} view
 */
function draw(modules, words, entries, view) {
  const text = words.innerHTML
  try {
    startShell(entries)
    view.values.html = text.replaceAll(" data-first-", " data-")
    first = standIn(modules, view)
    words.className = ""
    words.replaceChildren(first.host)
    first.rendered()
    first.model.on("remove", () => words.remove())
  } catch (reason) {
    first = null // the live page draws itself
    words.innerHTML = text
    throw reason
  } finally {
    const begin = () => beginSession().catch(lose)
    if (document.hidden) setTimeout(begin)
    else requestAnimationFrame(() => setTimeout(begin)) // after the paint
  }
}

/**
 * Let a live component take over what the first view has drawn for it. Returns the place of its children, which do the same; nothing
 * of it is seen. Null where the first view has no such component.
 * @param {string} name  its class
 * @param {Render<any, any>} component
 */
function takenOver(name, {model, view}) {
  const live = /** @type {any} */ (view?.model) // Bokeh's, whose data holds the models of children
  if (first && name === "Page") {
    if (live.data.page === first.model.page) standIns.set(live, first)
    first = null // or a link led elsewhere before the session was there
  }
  const drawn = standIns.get(live)
  if (!drawn) return null
  for (const [child, held] of Object.entries(drawn.held))
    [live.data[child]].flat().forEach((one, i) => {
      if (held[i]) standIns.set(one, held[i])
    })
  drawn.connect(model)
  model.on("remove", () => standIns.delete(live))
  return h("div", {hidden: true}, ...Object.keys(drawn.held).flatMap((child) => model.get_child(child) ?? []))
}

/** Ask the server for the session of this page, put it into the document, and run its scripts: Bokeh, and what connects. */
async function beginSession() {
  const query = new URLSearchParams(location.search)
  query.set("session", "1")
  const answer = await fetch(`?${query}`)
  const text = answer.ok ? await answer.text() : ""
  if (!text) return lose()
  const session = document.createElement("template")
  session.innerHTML = text
  document.getElementById("content")?.append(...[...session.content.children].filter((el) => el.localName !== "script"))
  for (const script of session.content.querySelectorAll("script")) {
    const copy = h("script") // one that was parsed with a template does not run
    for (const {name, value} of script.attributes) copy.setAttribute(name, value)
    copy.textContent = script.textContent
    const loaded = copy.src && new Promise((resolve) => copy.addEventListener("load", resolve, {once: true}))
    document.body.append(copy)
    await loaded
  }
}
