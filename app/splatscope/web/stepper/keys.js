// Keys act without focus, on the page's primary stepper: the first in the document. Where none is in view, on a comparison that is.
import {typing} from "#web/shell/dom.js"

const live = new Set()

export function join(stepper) {
  live.add(stepper)
  return () => live.delete(stepper)
}

const beside = new Set()

export function joinBeside(comparison) {
  beside.add(comparison)
  return () => beside.delete(comparison)
}

const seen = (one) => one?.moment && !one.root.closest("[hidden]") && one.root.offsetParent

// Where an element stands in the document, through the shadow trees: comparable number by number.
function place(el) {
  const path = []
  for (let node = el; node; node = node.parentNode ?? node.host) {
    const siblings = node.parentNode?.childNodes
    path.unshift(siblings ? [].indexOf.call(siblings, node) : 0)
  }
  return path
}

function before(a, b) {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] < b[i]
  return a.length < b.length
}

export function primary() {
  let first = null
  for (const stepper of live)
    if (stepper.root.isConnected && (!first || before(place(stepper.root), place(first.root)))) first = stepper
  return first
}

const ACTS = {
  ArrowRight: (s, shift) => (shift ? s.barrier(1) : s.move(1)),
  ArrowLeft: (s, shift) => (shift ? s.barrier(-1) : s.move(-1)),
  Home: (s) => s.seek(0),
  End: (s) => s.seek(Infinity),
  " ": (s) => s.player.toggle(),
  s: (s, shift) => s.line(shift ? -1 : 1),
  n: (s) => s.statement(1),
  p: (s) => s.statement(-1),
  t: (s, shift) => s.nextThread(shift ? -1 : 1),
  m: (s) => s.followHere(),
  w: (s, shift) => s.who.jump(shift ? 1 : -1),
  b: (s, shift) => s.breakpoints.here(shift),
  "]": (s) => s.breakpoints.go(1),
  "[": (s) => s.breakpoints.go(-1),
  f: (s, shift) => s.nextFinding(shift ? -1 : 1),
  o: (s) => s.setOrder(!s.moment.lockstep),
  c: (s) => s.origin.explain(),
  a: (s) => s.showing("threads", () => s.threads.watches.input.focus()),
  "/": (s) => s.transport.find.focus(),
}
const BESIDE = {
  ...Object.fromEntries(["ArrowRight", "ArrowLeft", "Home", "End"].map((key) => [key, ACTS[key]])),
  d: (c) => c.difference(),
}
const TAKEN = {
  " ": "button, a, input, select, summary, [role=button]",
  ArrowRight: "input[type=range].own, [role=radio], [role=tab], select",
  ArrowLeft: "input[type=range].own, [role=radio], [role=tab], select",
}

window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event) || document.querySelector("dialog[open]")) return
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  const stepper = seen(primary()) ? primary() : [...beside].find(seen),
    act = (beside.has(stepper) ? BESIDE : ACTS)[key]
  if (!stepper || !act || (TAKEN[key] && event.composedPath()[0].matches?.(TAKEN[key]))) return
  event.preventDefault()
  act(stepper, event.shiftKey)
})
