// One button for all that a reader can take along from a run: a film, a link, and a figure for another page.
import {hrefOf, isBook, UNNAMED} from "#web/runtime/address.ts"
import {download, h, messageOf} from "#web/runtime/dom.ts"
import {embedCode} from "#web/runtime/embed_code.ts"
import type {Clip} from "./clip.ts"
import {filmType} from "./clip.ts"

const FIGURES = [
  ["gaussian", "What is a Gaussian splat?"],
  ["blending", "Blending"],
  ["training-loop", "The training loop"],
  ["bitonic-sort", "Bitonic sort"],
] as const

/**
 * The button, with the dialog that it opens.
 * @param sample  the name of the sample that is fitted; "" for a picture of the reader's
 * @param pixel  the one that was opened last
 */
export function shareButton(
  clip: Clip,
  target: () => Blob | null,
  sample: () => string,
  pixel: () => [x: number, y: number] | null,
) {
  const status = h("p", {class: "hint", role: "status", "data-testid": "share-status"})
  const film = h(
    "button",
    {type: "button", class: "btn pri", "data-testid": "share-film", onclick: () => encode()},
    "Save the film",
  )
  const about = h("p", {class: "hint"})
  const link = h("input", {type: "text", readonly: true, "aria-label": "The link", "data-testid": "share-link"})
  const linked = h("p", {class: "hint"})
  const figure = h("select", {"aria-label": "Figure"}, ...FIGURES.map(([name, title]) => h("option", {value: name}, title)))
  const code = h("textarea", {readonly: true, rows: 3, "aria-label": "The code", "data-testid": "share-code"})
  figure.onchange = () => {
    const title = FIGURES.find(([name]) => name === figure.value)?.[1] ?? ""
    code.value = embedCode(figure.value, title, isBook() ? location.href : "")
  }
  const copy = (from: HTMLInputElement | HTMLTextAreaElement) => {
    const button = h("button", {type: "button", class: "btn"}, "Copy")
    button.onclick = async () => {
      from.select()
      await navigator.clipboard.writeText(from.value).catch(() => {}) // it is selected, and may be copied by hand
      button.textContent = "Copied"
      setTimeout(() => button.replaceChildren("Copy"), 2000)
    }
    return button
  }
  const close = h("button", {type: "button", class: "btn quiet"}, "Close")
  const dialog = h(
    "dialog",
    {class: "share", "aria-label": "Share", "data-testid": "share"},
    h("header", {}, h("h2", {}, "Share"), close),
    h("section", {}, h("h3", {}, "The run as a film"), about, film, status),
    h("section", {}, h("h3", {}, "A link"), h("div", {class: "row"}, link, copy(link)), linked),
    h(
      "section",
      {},
      h("h3", {}, "A figure in another page"),
      h("p", {class: "hint"}, "The code is for a page beside a published book: “splatscope publish” writes one."),
      figure,
      h("div", {class: "row"}, code, copy(code)),
    ),
  )
  close.onclick = () => dialog.close()
  dialog.onkeydown = (event) => event.stopPropagation() // letters and arrows are the dialog's, not the run's

  const encode = async () => {
    if (film.getAttribute("aria-disabled") === "true") return
    film.setAttribute("aria-disabled", "true")
    try {
      const file = await clip.film(target(), (share) => (status.textContent = `Encoding: ${Math.round(100 * share)}%`))
      download(new Uint8Array(await file.arrayBuffer()), `training.${file.type.endsWith("mp4") ? "mp4" : "webm"}`)
      status.textContent = `Saved, ${Math.ceil(file.size / 1000).toLocaleString("en")} kB.`
    } catch (reason) {
      status.textContent = messageOf(reason)
    }
    film.setAttribute("aria-disabled", "false")
  }
  const open = () => {
    const count = clip.frames.length
    about.textContent = !filmType()
      ? "This browser cannot encode films."
      : count < 2
        ? "Train first: the film has the pictures that were shown."
        : `${count} pictures beside the target. Encoding takes as long as the film lasts.`
    film.hidden = !filmType() || count < 2
    const inputs = new URLSearchParams(sample() ? {sample: sample()} : {})
    for (const [i, place] of (pixel() ?? []).entries()) inputs.set("xy"[i], String(place))
    link.value = new URL(hrefOf({page: "train", step: UNNAMED, inputs: inputs.toString()}), location.href).href
    linked.textContent = sample()
      ? "It opens this picture, and the pixel that you chose last."
      : "Your own picture stays with you: the link opens the page without it."
    status.textContent = ""
    figure.dispatchEvent(new Event("change"))
    dialog.showModal()
  }
  return {button: h("button", {type: "button", class: "btn", "data-testid": "train-share", onclick: open}, "Share"), dialog}
}
