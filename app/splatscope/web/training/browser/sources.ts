// Where the kernels of training and the sample pictures come from.
import type {TrainingKernels} from "#components"

async function answerAt(address: string) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`)
  return answer
}

let sources = {
  kernels: async (address: string): Promise<TrainingKernels> => (await answerAt(address)).json(),
  picture: async (address: string) => (await answerAt(address)).blob(),
}

/** Have them loaded otherwise: the published book has them in its own files. */
export function loadWith(others: typeof sources) {
  sources = others
}

const loaded = new Map<string, Promise<TrainingKernels>>()

/** The kernels at an address. They are loaded once, unless that failed. */
export function kernelsAt(address: string) {
  const known = loaded.get(address)
  if (known) return known
  const made = sources.kernels(address)
  made.catch(() => loaded.delete(address))
  loaded.set(address, made)
  return made
}

/** The picture at an address. */
export const pictureAt = (address: string) => sources.picture(address)
