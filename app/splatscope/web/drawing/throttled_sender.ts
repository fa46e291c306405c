// Sends a value that is being dragged only as fast as answers arrive. Changes in between are sent together.

const PATIENCE = 2000 // ms after which it stops waiting for an answer

/**
 * `now` sends at once. `soon` sends when the last message was `answered`; `send` reads the latest values. Call `answered` at each
 * answer.
 */
export function sender(send: () => void) {
  let waiting = false
  let due = false
  let timer = 0
  const now = () => {
    due = false
    waiting = true
    clearTimeout(timer)
    timer = window.setTimeout(answered, PATIENCE)
    send()
  }
  const answered = () => {
    clearTimeout(timer)
    waiting = false
    if (due) now()
  }
  const soon = () => {
    due = true
    if (!waiting) now()
  }
  return {now, soon, answered}
}
