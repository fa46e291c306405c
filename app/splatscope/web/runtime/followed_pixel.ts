// The pixel of a trained picture that this tab follows through the book, as in an address, and the one that this browser chose last.
import {remember, rememberInTab, rememberedInTab, rememberedJson} from "./stored.ts"

const FOLLOWED = "splatscope-followed-pixel"
const CHOSEN = "splatscope-chosen-pixel"

export type Pixel = [x: number, y: number]

/** A picture's name, its size in pixels, and one of its pixels. */
export interface Chosen {
  name: string
  width: number
  height: number
  at: Pixel
}

/** A pixel as the inputs of a section, `picture=chelsea&pixel=145%2C95`, as `URLSearchParams` writes them. */
export const inputsOfPixel = (name: string, at: Pixel) => String(new URLSearchParams({picture: name, pixel: at.join(",")}))

/** The inputs with which sections open in this tab; "" for their own examples. */
export const followedPixel = () => rememberedInTab(FOLLOWED) ?? ""

/** @param inputs  "" for the sections' own examples */
export const followPixel = (inputs: string) => void rememberInTab(FOLLOWED, inputs)

/** The pixel that this browser chose last; null for none. */
export function chosenPixel(): Chosen | null {
  const value = rememberedJson(CHOSEN)
  return typeof value?.name === "string" && Number.isInteger(value.width) && Array.isArray(value.at) ? value : null
}

export const rememberPixel = (chosen: Chosen) => remember(CHOSEN, JSON.stringify(chosen))
