// The HTML that shows a figure of a published book in another page.

const HEIGHT = 800 // CSS pixels, the suggested height of the frame, in which a drawing fits even if the frame is narrow

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;")

/**
 * The frame of a section's figure.
 * @param here  address of the book; one on a disk, or none, makes an address relative to the book's folder
 * @param query  step and inputs
 */
export function embedCode(name: string, title: string, here = "", query = "") {
  const file = `embed/${name}.html${query ? `?${query}` : ""}`
  const address = /^https?:/.test(here) ? new URL(file, here).href : file // an address on a disk works only for this reader
  return `<iframe src="${escaped(address)}" title="${escaped(title)}" width="100%" height="${HEIGHT}" loading="lazy"></iframe>`
}
