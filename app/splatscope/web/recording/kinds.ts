// What an event does to the state, as a small number that the fold uses.
import type {Site} from "#web/types.ts"

export const KIND = {other: 0, value: 1, element: 2, read: 3, write: 4, atomic: 5, arrive: 6, resume: 7, fence: 8, loop: 9}

/** The kind of a site. Passing a memory barrier at which no thread waits is a fence. */
export function kindOf(site: Site) {
  if (site.kind === "resume" && !site.name?.endsWith("WithGroupSync")) return KIND.fence
  return site.kind in KIND ? KIND[site.kind as keyof typeof KIND] : KIND.other
}
