// Numbers as pitches. Nothing sounds before the reader has pressed the speaker, on every visit anew.
import {h} from "#web/runtime/dom.ts"
import {s} from "./svg.ts"

const [LOWEST, OCTAVES] = [180, 3] // Hz, and the range above it
const LOUD = 0.08
const FADE = 0.02 // s in which a tone begins and ends, so that it does not click

let context: AudioContext | null = null

/** The pitch of a number from 0, the lowest, to 1, in Hz. */
export const pitch = (part: number) => LOWEST * 2 ** (OCTAVES * Math.min(1, Math.max(0, part)))

/** Play a tone of some seconds, `after` seconds from now. */
function tone(hertz: number, seconds: number, after = 0) {
  if (!context) return
  const [oscillator, gain] = [context.createOscillator(), context.createGain()]
  const begin = context.currentTime + after
  oscillator.type = "triangle"
  oscillator.frequency.value = hertz
  gain.gain.setValueAtTime(0, begin)
  gain.gain.linearRampToValueAtTime(LOUD, begin + FADE)
  gain.gain.setValueAtTime(LOUD, begin + Math.max(FADE, seconds - FADE))
  gain.gain.linearRampToValueAtTime(0, begin + seconds + FADE)
  oscillator.connect(gain).connect(context.destination)
  oscillator.start(begin)
  oscillator.stop(begin + seconds + 2 * FADE)
}

/**
 * A speaker, which is off at first, and what plays through it.
 * @param what  is heard, for its name: "the sort"
 */
export function speaker(what: string) {
  let isOn = false
  const wave = s("path", {d: "M11 5.5a4 4 0 0 1 0 5M13 3.5a7 7 0 0 1 0 9", class: "wave"})
  const icon = s(
    "svg",
    {viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true"},
    s("path", {d: "M2 6h3l4-3v10l-4-3H2z", class: "horn"}),
    wave,
  )
  const button = h("button", {
    type: "button",
    class: "btn quiet speaker",
    "aria-pressed": "false",
    "aria-label": `Hear ${what}`,
    title: `Hear ${what}`,
  })
  button.append(icon)
  button.onclick = () => {
    isOn = !isOn
    button.setAttribute("aria-pressed", String(isOn))
    context ??= new AudioContext()
    if (isOn) context.resume()
  }
  return {
    el: button,
    get isOn() {
      return isOn
    },
    /** Play numbers, each from 0 to 1, one after the other within some seconds. Without a press, nothing sounds. */
    play(parts: number[], within = 0.4) {
      if (!isOn || document.hidden) return
      const each = Math.min(0.12, within / Math.max(1, parts.length))
      parts.forEach((part, i) => tone(pitch(part), each, i * each))
      button.dataset.played = String(Number(button.dataset.played ?? 0) + parts.length)
    },
  }
}
