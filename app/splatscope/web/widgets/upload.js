// Sends a file to Python in pieces.
import {messageOf} from "#web/runtime/dom.js"

/** @import {Model} from "#web/types.d.ts" */

const PIECE = 2 ** 20

/**
 * Send a file to a component's Python side.
 * @param {Model<unknown>} model
 * @param {{name: string, most: number}} item  the upload item's name, and the most bytes allowed
 * @param {File} file
 * @param {(share: number) => void} progress
 * @returns {Promise<string>} "", or one line that says why it was not sent
 */
export async function send(model, item, file, progress = () => {}) {
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

const megabytes = (/** @type {number} */ bytes) => Math.ceil(bytes / 2 ** 20).toLocaleString("en")
