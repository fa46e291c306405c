// A session with the server, requested when a reader first goes to a page that needs one.
import {request} from "./connection.ts"
import {h} from "./dom.ts"

/** Request a session for the page in the address, add it to the document, and run its scripts: Bokeh, and the one that connects. */
export async function beginSession(): Promise<void> {
  const query = new URLSearchParams(location.search)
  query.set("session", "1")
  const answer = await request(`?${query}`)
  const text = answer.ok ? await answer.text() : ""
  if (!text) throw new Error(`The server answers ${answer.status}.`)
  const session = document.createElement("template")
  session.innerHTML = text
  document.getElementById("content")?.append(...[...session.content.children].filter((el) => el.localName !== "script"))
  for (const script of session.content.querySelectorAll("script")) {
    const address = script.getAttribute("src")
    if (address && document.querySelector(`script[src="${CSS.escape(address)}"]`)) continue // Bokeh, already loaded for a chart
    const copy = h("script") // a script parsed as part of a template does not run
    for (const {name, value} of script.attributes) copy.setAttribute(name, value)
    copy.textContent = script.textContent
    const loaded = copy.src && new Promise((resolve) => copy.addEventListener("load", resolve, {once: true}))
    document.body.append(copy)
    await loaded
  }
}
