// Takes files that are dropped, and sends one to Python in pieces.
import {enclosing, messageOf} from "#web/runtime/dom.ts"

const PIECE = 2 ** 20

/** As `Inbox.take` takes it. */
type Chunk = {type: "chunk"; name: string; filename: string; offset: number; total: number; data: ArrayBuffer}

/**
 * Send a file to a component's Python side.
 * @param item  the upload item's name, and the most bytes allowed
 * @returns "", or one line that says why it was not sent
 */
export async function send(
  model: {send_msg(chunk: Chunk): void},
  item: {name: string; most: number},
  file: File,
  progress: (share: number) => void = () => {},
): Promise<string> {
  if (file.size > item.most) return `${file.name} has ${megabytes(file.size)} MB; up to ${megabytes(item.most)} MB are allowed.`
  if (file.size === 0) return `${file.name} is empty.`
  try {
    for (let offset = 0; offset < file.size; offset += PIECE) {
      const data = await file.slice(offset, offset + PIECE).arrayBuffer()
      model.send_msg({type: "chunk", name: item.name, filename: file.name, offset, total: file.size, data})
      progress(offset / file.size)
      await new Promise((resume) => setTimeout(resume)) // let the socket and the page do other work
    }
  } catch (reason) {
    return `${file.name} cannot be read: ${messageOf(reason)}`
  } finally {
    progress(1)
  }
  return ""
}

const megabytes = (bytes: number) => Math.ceil(bytes / 2 ** 20).toLocaleString("en")

/**
 * Take files that are dropped on an element, while a field for them is seen. The field is marked meanwhile.
 * @param el  where they are dropped
 * @param field  the field
 */
export function dropsOn(el: HTMLElement, field: HTMLElement, take: (file: File) => void) {
  const isMine = (event: DragEvent) => !event.defaultPrevented && field.checkVisibility()
  el.addEventListener("dragover", (event) => {
    if (!isMine(event)) return
    event.preventDefault()
    field.classList.add("over")
  })
  el.addEventListener("dragleave", () => field.classList.remove("over"))
  el.addEventListener("drop", (event) => {
    field.classList.remove("over")
    if (!isMine(event)) return
    event.preventDefault()
    const file = event.dataTransfer?.files[0]
    if (file) take(file)
  })
}

/** Take files that are dropped anywhere on the page of a field: a browser would open those that miss it. */
export const dropsAnywhereAround = (field: HTMLElement, take: (file: File) => void) =>
  queueMicrotask(() => dropsOn(enclosing(field, ".page") ?? field, field, take))
