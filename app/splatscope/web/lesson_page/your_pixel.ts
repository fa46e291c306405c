// The reader's pixel: the picture with its tile and the pixel marked, the tile enlarged, what the section does to the pixel, and the press
// that puts it into the figure. Another pixel is chosen in either picture, with the pointer or the arrow keys.
import {context2d} from "#web/drawing/pixels.ts"
import {UNNAMED} from "#web/runtime/address.ts"
import {h, messageOf, style} from "#web/runtime/dom.ts"
import {chosenPixel, rememberPixel, followPixel, inputsOfPixel, type Chosen, type Pixel} from "#web/runtime/followed_pixel.ts"
import {emit, on} from "#web/runtime/events.ts"
import {current, pushPlace} from "#web/runtime/router.ts"
import {jsonAt} from "#web/runtime/sources.ts"
import {GRID, onArrows} from "#web/widgets/roving.ts"
import type {Model, Render} from "#web/types.ts"

const RESTS = 350 // ms after the last arrow key, after which the figure follows

export function render({model, el}: Render<"YourPixel">) {
  style(el)
  const page = current().page
  let chosen = chosenBy(model)
  let shown = "" // the name of the picture that is drawn
  let due: ReturnType<typeof setTimeout> | undefined

  const whole = picture("Your pixel in its picture", choose, move)
  const tile = picture("Your pixel in its tile", ([x, y]) => choose([corner()[0] + x, corner()[1] + y]), move)
  const title = h("b")
  const place = h("span", {class: "num"})
  const sentence = h("span")
  sentence.innerHTML = model.sentence
  const words = h("p", {}, title, " ", place, " ", sentence)
  const story = h("div", {class: "prose your-story", hidden: !model.story})
  const press = h("button", {type: "button", class: "btn", "data-testid": "your-pixel-show"}, "Show it in the figure")
  const leave = h("button", {type: "button", class: "linkish", "data-testid": "your-pixel-leave"}, "Back to this section’s example")
  const announcer = h("p", {class: "sr", role: "status"})
  const acts = h("p", {class: "your-acts", hidden: !model.follows}, press, leave)
  const root = h(
    "section",
    {class: "your-pixel", "aria-label": model.story ? "The story of your pixel" : "Your pixel", "data-testid": "your-pixel"},
    whole.el,
    tile.el,
    h("div", {class: "your-words"}, words, acts),
    story,
    announcer,
  )

  const corner = (): Pixel => [chosen.at[0] - (chosen.at[0] % model.tile[0]), chosen.at[1] - (chosen.at[1] % model.tile[1])]
  const isShown = () => model.follows && Boolean(model.picture)
  const go = () => pushPlace({page, step: UNNAMED, inputs: inputsOfPixel(chosen.name, chosen.at)})

  function choose([x, y]: Pixel) {
    const inside: Pixel = [Math.min(chosen.width - 1, Math.max(0, x)), Math.min(chosen.height - 1, Math.max(0, y))]
    const at = model.pixels.length ? nearest(model.pixels, inside) : inside
    if (at[0] === chosen.at[0] && at[1] === chosen.at[1]) return
    chosen = {...chosen, at}
    rememberPixel(chosen)
    announcer.textContent = `Pixel ${at[0]}, ${at[1]}`
    show()
    emit("pixel", chosen)
    if (!model.picture) return
    clearTimeout(due)
    due = setTimeout(go, RESTS)
  }
  /** Choose the next pixel in a direction; where only some can be shown, the next of those. */
  function move([dx, dy]: Pixel) {
    const {pixels} = model
    const [x, y] = chosen.at
    if (!pixels.length) return choose([x + dx, y + dy])
    const here = pixels.findIndex((pixel) => pixel[0] === x && pixel[1] === y)
    choose(pixels[(here + Math.sign(dx + dy) + pixels.length) % pixels.length])
  }
  press.onclick = () => {
    rememberPixel(chosen)
    go()
  }
  leave.onclick = () => {
    followPixel("")
    pushPlace({page, step: UNNAMED, inputs: ""})
  }

  let isSeen = false
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({isIntersecting}) => isIntersecting)) return
    isSeen = true
    observer.disconnect()
    draw()
  })
  observer.observe(root)

  /** Draw the picture, once the strip is seen: a figure that stands alone shows none. */
  async function draw() {
    const {name} = chosen
    if (!isSeen || shown === name) return
    shown = name
    const image = await imageOf(model, name)
    if (shown !== name) return
    if (image && name !== model.sample[0]) chosen = {...chosen, width: image.naturalWidth, height: image.naturalHeight}
    if (!image && !model.picture) {
      chosen = sampleOf(model) // the server has forgotten the reader's own
      rememberPixel(chosen)
      return draw()
    }
    if (image) for (const part of [whole, tile]) part.draw(image)
    show()
  }

  function show() {
    const [u, v] = corner()
    const [width, height] = model.tile
    const [x, y] = chosen.at
    root.dataset.picture = chosen.name
    root.dataset.pixel = chosen.at.join(",")
    root.dataset.shown = String(isShown())
    title.textContent = model.picture || chosenPixel() ? "Your pixel" : "A pixel to follow"
    const tileAt = `(${u / width}, ${v / height})`
    place.textContent = `(${x}, ${y}), thread ${(y - v) * width + x - u} of tile ${tileAt}, ${width}\u00a0×\u00a0${height}\u00a0pixels.`
    whole.show(
      [0, 0, chosen.width, chosen.height],
      [
        ["your-tile", u, v, width, height],
        ["your-at", x, y, 1, 1],
      ],
    )
    tile.show([u, v, width, height], [["your-at", x - u, y - v, 1, 1]])
    press.hidden = isShown()
    leave.hidden = !isShown()
    if (isSeen) tell()
  }

  let told = "" // the pixel that the story is about
  /** Tell what the whole program does to the pixel, once its numbers are there. */
  async function tell() {
    const address = `pictures/${chosen.name}/${chosen.at.join(",")}`
    if (!model.story || told === address) return
    told = address
    if (!story.hasChildNodes()) story.textContent = "The kernels run for your pixel …"
    try {
      const {error, ...facts} = await jsonAt<Record<string, string>>(address)
      if (error) throw new Error(error)
      if (told === address) story.innerHTML = model.story.replace(/\{(\w+)\}/g, (_, name) => facts[name])
    } catch (reason) {
      if (told === address) story.textContent = messageOf(reason)
    }
  }

  const changed = () => {
    if (model.picture) {
      chosen = chosenBy(model)
      rememberPixel(chosen)
      followPixel(inputsOfPixel(chosen.name, chosen.at))
    }
    draw()
    show()
  }
  const unsubscribe = on("pixel", (other) => {
    if (other === chosen || model.follows) return
    chosen = chosenBy(model)
    draw()
    show()
  })
  for (const name of ["picture", "pixel"]) model.on(name, () => queueMicrotask(changed))
  model.on("remove", () => {
    clearTimeout(due)
    observer.disconnect()
    unsubscribe()
  })
  changed()
  return root
}

/** The pixel in the address, else the one that was chosen last, else that of the sample. */
function chosenBy(model: Model<"YourPixel">): Chosen {
  const [name, width, height] = model.sample
  const last = chosenPixel()
  const [x, y] = model.pixel
  if (model.picture === name && x !== undefined && y !== undefined) return {name, width, height, at: [x, y]}
  if (model.picture && x !== undefined && y !== undefined) {
    const size = last?.name === model.picture ? last : {width: x + 1, height: y + 1}
    return {name: model.picture, width: size.width, height: size.height, at: [x, y]}
  }
  if (last && (last.name === name || !model.pixels.length)) {
    return model.pixels.length ? {...last, at: nearest(model.pixels, last.at)} : last
  }
  return sampleOf(model)
}

const sampleOf = ({sample: [name, width, height], at}: Model<"YourPixel">): Chosen => ({name, width, height, at: [...at]})

function nearest(pixels: Pixel[], [x, y]: Pixel): Pixel {
  const far = ([u, v]: Pixel) => (u - x) ** 2 + (v - y) ** 2
  return [...pixels].sort((a, b) => far(a) - far(b))[0]
}

/** A trained picture; null where it is not here any more. */
async function imageOf(model: Model<"YourPixel">, name: string): Promise<HTMLImageElement | null> {
  const image = new Image()
  image.src = name === model.sample[0] ? model.sample[3] : `pictures/${name}`
  return image.decode().then(
    () => image,
    () => null,
  )
}

type Box = [left: number, top: number, width: number, height: number]

/**
 * A part of the picture in which pixels are chosen.
 * @param choose  called with a pixel of the part
 * @param move  called with columns and rows to move by
 */
function picture(name: string, choose: (at: Pixel) => void, move: (by: Pixel) => void) {
  const canvas = h("canvas", {width: 1, height: 1})
  const marks = h("span", {class: "your-marks", "aria-hidden": "true"})
  const attributes = {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "picture",
    "aria-label": `${name}: choose another with the arrow keys`,
  }
  const el = h("div", {class: "your-picture", ...attributes}, canvas, marks)
  let drawn: CanvasImageSource | null = null
  let [left, top, width, height]: Box = [0, 0, 1, 1]
  const toPointer = ({clientX, clientY}: PointerEvent) => {
    const box = el.getBoundingClientRect()
    choose([Math.floor(((clientX - box.left) / box.width) * width), Math.floor(((clientY - box.top) / box.height) * height)])
  }
  el.onclick = (event) => toPointer(event as PointerEvent)
  onArrows(el, GRID, move)
  const paint = () => {
    canvas.width = width
    canvas.height = height
    if (drawn) context2d(canvas).drawImage(drawn, -left, -top)
  }
  return {
    el,
    draw(image: CanvasImageSource) {
      drawn = image
      paint()
    },
    /**
     * @param box  the part, in pixels of the picture
     * @param outlines  boxes in the part, by class
     */
    show(box: Box, outlines: [name: string, ...Box][]) {
      const same = [left, top, width, height].every((n, i) => n === box[i])
      ;[left, top, width, height] = box
      if (!same) paint()
      el.style.aspectRatio = `${width} / ${height}`
      marks.replaceChildren(
        ...outlines.map(([klass, x, y, across, down]) => {
          const mark = h("i", {class: klass})
          mark.style.cssText = `left: ${(100 * x) / width}%; top: ${(100 * y) / height}%; width: ${(100 * across) / width}%; height: ${(100 * down) / height}%`
          return mark
        }),
      )
    },
  }
}
