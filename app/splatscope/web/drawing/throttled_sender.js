// Sends what a hand changes, as fast as answers come: what it changes meanwhile goes out together with the next.

const PATIENCE = 2000 // ms after which an answer is no longer waited for

/**
 * Send `now`, or `soon`: once the last was `answered`, and always what was set last.
 * @param {() => void} send
 */
export function sender(send) {
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
