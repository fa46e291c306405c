// Many keys as colours: a row for the list at each pass's end, and the list as it stands now below.
import {h} from "#web/shell/dom.js"

export const PADDING = 0xffffffff // a key larger than any

export function strip({root, facts, options, step}) {
  const {count, passes, after, keys} = facts
  const most = Math.max(1, ...keys.filter((key) => key !== PADDING)),
    rows = [keys, ...after],
    tall = Math.max(3, Math.floor(330 / rows.length))
  const canvas = h("canvas", {
    class: "strip pixels",
    width: count,
    height: rows.length * tall,
    role: "img",
    "aria-label": `${count} keys as colours, a row for each of ${passes.length} passes`,
  })
  const now = h("canvas", {class: "strip pixels now", width: count, height: 1, role: "img", "aria-label": "The keys now"})
  const mark = h("div", {class: "stripmark"}),
    words = h("p", {class: "reading num"})
  const el = h(
    "div",
    {class: "strips"},
    h("p", {class: "axis"}, "the list after each pass, from the first at the top"),
    h("div", {class: "under"}, canvas, mark),
    h("p", {class: "axis"}, "the list now"),
    now,
    words,
  )

  const colours = [
    [230, 240, 248],
    [156, 197, 226],
    [49, 141, 193],
    [0, 92, 143],
    [10, 40, 70],
  ]
  const colour = (key) => {
    if (key > most) return [120, 120, 120]
    const at = Math.min(colours.length - 1.001, (key / most) * (colours.length - 1)),
      i = Math.floor(at)
    return colours[i].map((v, c) => v + (colours[i + 1][c] - v) * (at - i))
  }
  const put = (context, y, height, list, faint = false) => {
    const image = context.createImageData(count, height)
    for (let row = 0; row < height; row++)
      for (let x = 0; x < count; x++)
        image.data.set([...colour(list[x]), faint && row === height - 1 ? 255 : 255], 4 * (row * count + x))
    context.putImageData(image, 0, y)
  }
  const context = canvas.getContext("2d")
  rows.forEach((list, i) => put(context, i * tall, tall, list))
  canvas.onclick = (event) => {
    const box = canvas.getBoundingClientRect(),
      row = Math.floor(((event.clientY - box.top) / box.height) * rows.length)
    step(row > 0 ? passes[row - 1].end : passes[0].begin)
  }
  return {
    el,
    paint(look) {
      const memory = look.memory(options.memory),
        list = Array.from({length: count}, (_, i) => memory?.number(i) ?? 0)
      put(now.getContext("2d"), 0, 1, list)
      const done = passes.filter((p) => look.step >= p.end).length
      mark.style.top = `${((done + 1) / rows.length) * 100}%`
      mark.style.height = `${100 - ((done + 1) / rows.length) * 100}%`
      let falls = 0
      for (let i = 1; i < count; i++) falls += list[i] < list[i - 1]
      const pass = passes[Math.min(done, passes.length - 1)]
      words.textContent =
        done < passes.length
          ? `Pass ${done + 1} of ${passes.length}: k = ${pass.k}, j = ${pass.j}. ${falls} of ${count - 1} neighbours stand the wrong way round.`
          : "All passes are done."
    },
  }
}
