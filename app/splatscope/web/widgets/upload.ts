// Sends a file to Python in pieces.
import {messageOf} from "#web/runtime/dom.ts"

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
