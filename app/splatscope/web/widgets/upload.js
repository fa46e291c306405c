// A file to Python, a piece at a time. Resolves to "" or to one line that says why it was not sent.

const PIECE = 2 ** 20

export async function send(model, item, file, progress = () => {}) {
  if (file.size > item.most) return `${file.name} has ${megabytes(file.size)} MB; up to ${megabytes(item.most)} MB are allowed.`
  if (file.size === 0) return `${file.name} is empty.`
  try {
    for (let offset = 0; offset < file.size; offset += PIECE) {
      const data = await file.slice(offset, offset + PIECE).arrayBuffer()
      model.send_msg({type: "chunk", name: item.name, filename: file.name, offset, total: file.size, data})
      progress(offset / file.size)
      await new Promise((resume) => setTimeout(resume)) // let the socket and the page breathe
    }
  } catch (reason) {
    return `${file.name} cannot be read: ${reason.message}`
  } finally {
    progress(1)
  }
  return ""
}

const megabytes = (bytes) => Math.ceil(bytes / 2 ** 20).toLocaleString("en")
