// Files that a page loads once it needs them: kernels, Gaussians, pictures.

async function answerAt(address: string) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`)
  return answer
}

let sources = {
  json: async (address: string): Promise<unknown> => (await answerAt(address)).json(),
  blob: async (address: string) => (await answerAt(address)).blob(),
}

/** Have them loaded otherwise: the published book has them in its own files. */
export function loadWith(others: typeof sources) {
  sources = others
}

const loaded = new Map<string, Promise<unknown>>()

/** The content of the JSON file at an address, which is of this type. It is loaded once, unless that failed. */
export function jsonAt<Content>(address: string) {
  const known = loaded.get(address)
  if (known) return known as Promise<Content>
  const made = sources.json(address)
  made.catch(() => loaded.delete(address))
  loaded.set(address, made)
  return made as Promise<Content>
}

/** The bytes at an address. */
export const blobAt = (address: string) => sources.blob(address)
