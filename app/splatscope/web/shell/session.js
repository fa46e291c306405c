// A session with the server, for pages that need one: asked for when a reader first goes to such a page.
import {h} from "./dom.js"

/**
 * Ask the server for the session of the page that the address names, put it into the document, and run its scripts: Bokeh, and what
 * connects.
 * @returns {Promise<void>}
 */
export async function beginSession() {
  const query = new URLSearchParams(location.search)
  query.set("session", "1")
  const answer = await fetch(`?${query}`)
  const text = answer.ok ? await answer.text() : ""
  if (!text) throw new Error(`the server answers ${answer.status}`)
  const session = document.createElement("template")
  session.innerHTML = text
  document.getElementById("content")?.append(...[...session.content.children].filter((el) => el.localName !== "script"))
  for (const script of session.content.querySelectorAll("script")) {
    const address = script.getAttribute("src")
    if (address && document.querySelector(`script[src="${CSS.escape(address)}"]`)) continue // Bokeh, which a chart needed before
    const copy = h("script") // one that was parsed with a template does not run
    for (const {name, value} of script.attributes) copy.setAttribute(name, value)
    copy.textContent = script.textContent
    const loaded = copy.src && new Promise((resolve) => copy.addEventListener("load", resolve, {once: true}))
    document.body.append(copy)
    await loaded
  }
}
