// The browser's side of plain_widgets.py.
const Button = {
  render({model}) {
    const button = document.createElement("button")
    button.textContent = model.label
    button.onclick = () => model.send_msg({type: "press"})
    return button
  },
}

const Menu = {
  render({model}) {
    const menu = document.createElement("select")
    menu.setAttribute("aria-label", model.label)
    menu.append(...model.options.map((option) => new Option(option)))
    menu.onchange = () => model.send_msg({type: "choose", value: menu.value})
    return menu
  },
}

const Line = {
  render({model}) {
    const line = document.createElement("p")
    const show = () => {
      line.textContent = model.text
    }
    model.on("text", () => queueMicrotask(show))
    show()
    return line
  },
}

export default {Button, Menu, Line}
