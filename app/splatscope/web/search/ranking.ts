// Finds in the search's index what has all words of a query, best first. A word also finds what it begins, other endings of it, and
// if nothing has it, what differs from it by one letter.
import type {SearchEntry} from "#components"

/** What was found. */
export interface Match {
  entry: SearchEntry
  score: number
  /** The words of the index that the query has found, and how many letters of each are marked. */
  marks: Marks
}

export type Marks = ReadonlyMap<string, number>
export type Kind = SearchEntry[0]

/** How much a word counts in an entry of a kind: in what it is, such as a title, and in the words that describe it. */
const WEIGHTS: Record<Kind, [own: number, about: number]> = {
  section: [16, 4],
  tool: [14, 4],
  term: [12, 3],
  heading: [9, 0],
  exercise: [7, 2],
  claim: [5, 0],
  text: [4, 0],
  code: [2, 0],
}
const AROUND = 1 // of a word in the titles above a text
const EXACT = 1
const PREFIX = 0.7
const ENDING = 0.6 // the same word with another ending
const TYPO = 0.4
const PHRASE = 1.5 // factor for words that stand beside each other as in the query
const LEAST_TYPO = 4 // letters: shorter words differ by one letter from too many others
const LEAST_STEM = 4
const LONGEST_ENDING = 3
const COMMON = 0.1 // of all entries: words in more of them say little

/** Of a word in an entry, and whether it is the entry's own. */
interface Score {
  score: number
  own: boolean
}

interface Word {
  word: string
  /** Where it stands in the text. */
  start: number
  end: number
}

/** The words of a text in lower case and without accents, each with its place; a name such as `bitonicSort` also in its parts. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  for (const match of text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)) {
    const [name] = match
    words.push({word: folded(name), start: match.index, end: match.index + name.length})
    const parts = [...name.matchAll(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}[\p{Ll}\p{N}]*|\p{N}+/gu)]
    if (parts.length < 2) continue
    for (const part of parts)
      words.push({word: folded(part[0]), start: match.index + part.index, end: match.index + part.index + part[0].length})
  }
  return words
}

const folded = (word: string) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()

/** A word without its ending. */
const stem = (word: string) => {
  const bare = word.replace(/ies$/, "y").replace(/(?:ing|ed|(?<=s|x|z|ch|sh)es|(?<!s)s)$/, "")
  return bare.length >= LEAST_STEM ? bare : word
}

/** Whether two words differ by at most one letter: one more, one less, another, or two swapped. */
export function isNear(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  let i = 0
  while (i < one.length && one[i] === other[i]) i++
  const [rest, others] = [one.slice(i), other.slice(i)]
  return (
    rest.slice(1) === others.slice(1) ||
    rest === others.slice(1) ||
    rest.slice(1) === others ||
    (rest.length > 1 && rest[0] === others[1] && rest[1] === others[0] && rest.slice(2) === others.slice(2))
  )
}

export class Index {
  #entries: SearchEntry[]
  /** By word, the entries that have it: their numbers and its weight in each, negative in the titles above a text. */
  #places = new Map<string, Map<number, number>>()
  #plain: string[]

  /** @param titleOf  the title of a page */
  constructor(entries: SearchEntry[], titleOf: (page: string) => string) {
    this.#entries = entries
    this.#plain = entries.map(([, , title, words]) => folded(`${title} ${words}`))
    entries.forEach(([kind, page, title, words], number) => {
      const [own, about] = WEIGHTS[kind]
      const isTitled = about > 0
      this.#add(number, isTitled ? title : words, own)
      if (isTitled) this.#add(number, words, about)
      else this.#add(number, `${titleOf(page)} ${title}`, -AROUND)
    })
  }

  #add(number: number, text: string, weight: number) {
    for (const {word} of wordsOf(text)) {
      const places = this.#places.get(word) ?? new Map<number, number>()
      this.#places.set(word, places)
      places.set(number, Math.max(weight, places.get(number) ?? weight))
    }
  }

  /**
   * What has all words of a query, of which at least one is its own, best first; of equal ones in the order of the book. If nothing
   * has all of them: what has most of those that are not in every other text.
   */
  find(query: string): Match[] {
    const words = [...new Set(query.split(/\s+/).flatMap((part) => wholeWords(part)))]
    const marks = new Map<string, number>()
    const having = words.map((word) => this.#having(word, marks))
    let found = most(having, words.length)
    if (!found.size && words.length > 1) {
      marks.clear()
      const rare = words.filter((_, i) => having[i].size < COMMON * this.#entries.length)
      found = most(rare.map((word) => this.#having(word, marks)))
    }
    const phrase = folded(query.trim().replace(/\s+/g, " "))
    return [...found]
      .map(([number, {score}]) => {
        const together = words.length > 1 && this.#plain[number].includes(phrase)
        return {entry: this.#entries[number], score: together ? score * PHRASE : score, marks, number}
      })
      .sort((one, other) => other.score - one.score || one.number - other.number)
  }

  /** The entries that have a word, with its score in each. The words that it has found are added to the marks. */
  #having(word: string, marks: Map<string, number>) {
    const scores = new Map<number, Score>()
    const note = (known: string, quality: number, letters: number) => {
      marks.set(known, Math.max(letters, marks.get(known) ?? 0))
      for (const [number, weight] of this.#places.get(known) ?? []) {
        const score = quality * Math.abs(weight)
        const before = scores.get(number)
        scores.set(number, {score: Math.max(score, before?.score ?? 0), own: weight > 0 || (before?.own ?? false)})
      }
    }
    const bare = stem(word)
    for (const known of this.#places.keys()) {
      if (known === word) note(known, EXACT, known.length)
      else if (known.startsWith(word)) note(known, PREFIX, word.length)
      else if (known.startsWith(bare) && known.length <= bare.length + LONGEST_ENDING) note(known, ENDING, known.length)
    }
    if (scores.size || word.length < LEAST_TYPO || /\d/.test(word)) return scores
    for (const known of this.#places.keys())
      if ([-1, 0, 1].some((more) => isNear(word, known.slice(0, word.length + more)))) note(known, TYPO, known.length)
    return scores
  }
}

/** The entries that have the most of several words, at least this many, with the sum of their scores. */
function most(having: Map<number, Score>[], least = 1): Map<number, Score> {
  const sums = new Map<number, Score & {words: number}>()
  for (const scores of having) {
    for (const [number, {score, own}] of scores) {
      const before = sums.get(number) ?? {score: 0, own: false, words: 0}
      sums.set(number, {score: before.score + score, own: before.own || own, words: before.words + 1})
    }
  }
  const own = [...sums].filter(([, {own}]) => own)
  const words = Math.max(least, ...own.map(([, sum]) => sum.words))
  return new Map(own.filter(([, sum]) => sum.words === words))
}

/** The words of a part of a query, without the parts of names. */
function wholeWords(part: string) {
  const words = wordsOf(part)
  return words
    .filter(
      ({start, end}) => !words.some((other) => other.end - other.start > end - start && other.start <= start && other.end >= end),
    )
    .map(({word}) => word)
}

/** A piece of a text, marked or not. */
export type Piece = [text: string, marked: boolean]

/** Split a text at its marked words. */
export function marked(text: string, marks: Marks): Piece[] {
  const spans = wordsOf(text).flatMap(({word, start, end}) => {
    const letters = marks.get(word)
    return letters === undefined ? [] : [[start, Math.min(end, start + letters)]]
  })
  const pieces: Piece[] = []
  let at = 0
  for (const [start, end] of spans.sort(([one], [other]) => one - other)) {
    if (end <= at) continue
    if (start > at) pieces.push([text.slice(at, start), false])
    pieces.push([text.slice(Math.max(at, start), end), true])
    at = end
  }
  if (at < text.length) pieces.push([text.slice(at), false])
  return pieces
}

/**
 * The part of a text around its first marked word, cut between words.
 * @param room  characters
 */
export function excerpt(text: string, marks: Marks, room: number): string {
  if (text.length <= room) return text
  const first = wordsOf(text).find(({word}) => marks.has(word))?.start ?? 0
  const from = first < room * 0.6 ? 0 : text.lastIndexOf(" ", first - room * 0.3) + 1
  const end = from + room >= text.length ? text.length : text.lastIndexOf(" ", from + room)
  return `${from ? "… " : ""}${text.slice(from, end)}${end < text.length ? " …" : ""}`
}
