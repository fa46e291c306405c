// The carrier of a component in somebody else's page (embedded.py): puts a frame there, in which frame.ts draws the component. The frame
// holds its own script and style sheet, so that nothing is fetched, and has no access to the page.
import {SCRIPT, STYLE} from "#frame"
import {flat, type Change, type Described} from "#web/runtime/host.ts"
import type {FromFrame, Linked, ToFrame} from "./frame_messages.ts"

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
const PAGE = `<!doctype html><html lang="en" class="framed"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="color-scheme" content="light dark">
<title>Splatscope</title><style id="splatscope-css">${STYLE}</style><body><script>${SCRIPT}</script></body></html>`
const LINKED = ["step", "thread"] as const

/** Panel's side of the carrier: the tree, and the parameters that are linked, of which a component has some. */
interface Model extends Linked {
  tree: Described
  title: string
  /** Whether the frame is as high as what it shows. */
  grows: boolean
  send_msg: (message: unknown) => void
  on: (event: string, act: (data: {changes: Change[]}) => void) => void
}

/** Apply a change to a description, so that a frame that is drawn anew begins with it. */
function keep(tree: Described, {id, values, children}: Change) {
  const part = flat(tree).find((each) => each.id === id)
  if (!part) return
  Object.assign(part.values, values)
  Object.assign(part.children, children)
}

/** Whether an element's text is light, so that what is around it is dark: every notebook and template has its own switch. */
function isDark(el: Element) {
  const [red, green, blue] = (getComputedStyle(el).color.match(/[\d.]+/g) ?? []).map(Number)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 140
}

export default {
  render({model, el}: {model: Model; el: HTMLElement}) {
    const tree = structuredClone(model.tree)
    const frame = document.createElement("iframe")
    frame.title = model.title
    frame.setAttribute("sandbox", "allow-scripts allow-downloads")
    frame.style.cssText = "display: block; width: 100%; height: 100%; border: 0; color-scheme: normal"
    let port: MessagePort | null = null
    let reporting = false // while a parameter takes the value that the frame reports
    const send = (message: ToFrame) => port?.postMessage(message)
    const linked = () => Object.fromEntries(LINKED.filter((name) => model[name] !== undefined).map((name) => [name, model[name]]))
    const receive = ({data}: MessageEvent<FromFrame>) => {
      if (data.height !== undefined && model.grows) frame.style.height = `${data.height}px`
      if (data.message !== undefined) model.send_msg({id: data.id, message: data.message})
      if (!data.linked) return
      reporting = true
      Object.assign(model, data.linked)
      reporting = false
    }
    // a frame begins anew when a page moves it to another place
    frame.addEventListener("load", () => {
      const {port1, port2} = new MessageChannel()
      port = port1
      port.onmessage = receive
      const opening: ToFrame = {tree, linked: linked(), dark: isDark(el)}
      frame.contentWindow?.postMessage(opening, "*", [port2])
      model.send_msg({drawn: true})
    })
    for (const name of LINKED)
      if (model[name] !== undefined)
        model.on(name, () => {
          if (!reporting) send({linked: {[name]: model[name]}})
        })
    model.on("msg:custom", ({changes}) => {
      for (const change of changes) keep(tree, change)
      send({changes})
    })
    const scheme = matchMedia("(prefers-color-scheme: dark)")
    const sendScheme = () => send({dark: isDark(el)})
    scheme.addEventListener("change", sendScheme)
    model.on("remove", () => scheme.removeEventListener("change", sendScheme))
    frame.srcdoc = PAGE
    return frame
  },
}
