// Reads the files of a project: chosen or dropped files, a folder or a zip. All limits are checked before anything is read.
import {unzip} from "./zip.ts"
import type {Limits} from "#components"

/** Texts by path. */
export type Files = Record<string, string>
/** With the number of files that were left out because they are not sources. */
type Project = {files: Files; left: number}
type Given = {path: string; size: number; read: () => Promise<Uint8Array<ArrayBuffer>>}

const MOST_SEEN = 2000 // files in a folder or a zip, sources or not
const MOST_ZIP = 4 * 2 ** 20
const PART = /^[A-Za-z0-9_][A-Za-z0-9_ .+-]*$/
const LEFT_OUT = /^(\.[^.]|__MACOSX$|node_modules$)/ // folders and files that are never part of a project

const count = (n: number) => n.toLocaleString("en")

/** Whether a file is a source, by its name. */
const isSource = (name: string, limits: Limits) => limits.kinds.some((kind) => name.toLowerCase().endsWith(kind))

/** Why a path is not allowed in a project, "" if it is. */
export function wrongPath(path: string, limits: Limits) {
  const parts = path.split("/"),
    shown = path.slice(0, 60).replace(/[^ -~]/g, "?")
  if (path.length > limits.name || parts.length > limits.depth + 1)
    return `${shown} … is too long: up to ${limits.name} characters and ${limits.depth} folders are allowed.`
  if (!parts.every((part) => PART.test(part) && !/[. ]$/.test(part)))
    return `${shown || "A name without a letter"} is not allowed: use letters, digits and _ + - . between single slashes, and no “..”.`
  if (!isSource(path, limits)) return `${shown} is not a source: sources end in ${limits.kinds.join(", ")}.`
  return ""
}

/** Read a project. Throws an Error that says in one line what is wrong. */
export async function readProject(given: Given[], limits: Limits): Promise<Project> {
  if (given.length > MOST_SEEN)
    throw new Error(`There are more than ${count(MOST_SEEN)} files: choose the folder that holds the kernel.`)
  const named = withoutCommonFolder(given.filter(({path}) => !path.split("/").some((part) => LEFT_OUT.test(part))))
  const sources = named.filter(({path}) => isSource(path, limits))
  if (!sources.length) throw new Error(`None of these files is a source: sources end in ${limits.kinds.join(", ")}.`)
  if (sources.length > limits.files)
    throw new Error(
      `There are ${count(sources.length)} sources; up to ${limits.files} are allowed: leave out what the kernel does not include.`,
    )
  const files: Files = {}
  let together = 0
  for (const {path, size, read} of sources) {
    const wrong = wrongPath(path, limits)
    if (wrong) throw new Error(wrong)
    if (Object.hasOwn(files, path)) throw new Error(`${path} is there twice: rename one of the two.`)
    if (size > limits.bytes) throw new Error(`${path} has ${count(size)} bytes; a source may have ${count(limits.bytes)}.`)
    together += size
    if (sources.length > 1 && together > limits.together)
      throw new Error(
        `The sources have more than ${count(limits.together)} bytes together: leave out what the kernel does not include.`,
      )
    files[path] = text(path, await read())
  }
  return {files, left: given.length - sources.length}
}

function text(path: string, bytes: Uint8Array) {
  try {
    return new TextDecoder("utf-8", {fatal: true}).decode(bytes)
  } catch {
    throw new Error(`${path} is not UTF-8 text: save it as UTF-8.`)
  }
}

/** Remove the common folder of all files, which is the root of the project. */
function withoutCommonFolder(given: Given[]) {
  let all = given
  for (;;) {
    const folder = all[0]?.path.split("/")[0]
    if (!folder || !all.every(({path}) => path.startsWith(`${folder}/`))) return all
    all = all.map((one) => ({...one, path: one.path.slice(folder.length + 1)}))
  }
}

/** The files to read: the given ones, or the contents if the only one is a zip. */
export async function givenIn(files: File[], limits: Limits): Promise<Given[]> {
  if (files.length === 1 && /\.zip$/i.test(files[0].name)) {
    if (files[0].size > MOST_ZIP)
      throw new Error(`${files[0].name} has ${count(files[0].size)} bytes; a zip may have ${count(MOST_ZIP)}.`)
    return unzip(new Uint8Array(await files[0].arrayBuffer()), limits.bytes, MOST_SEEN)
  }
  return files.map((file) => ({
    path: (file.webkitRelativePath || file.name).replaceAll("\\", "/"),
    size: file.size,
    read: async () => new Uint8Array(await file.arrayBuffer()),
  }))
}

/** The files that were dropped. Files in folders have their paths. */
export async function dropped(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry?.())
    .filter((entry) => entry !== null && entry !== undefined)
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files]
  const found: File[] = []
  let waiting = entries
  for (let depth = 0; waiting.length && depth < 12; depth++) {
    const next: FileSystemEntry[] = []
    for (const entry of waiting) {
      if (LEFT_OUT.test(entry.name)) continue
      if (found.length > MOST_SEEN) return found
      if (entry.isDirectory) next.push(...(await entriesOf(entry as FileSystemDirectoryEntry)))
      else found.push(await fileOf(entry as FileSystemFileEntry))
    }
    waiting = next
  }
  return found
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) =>
    entry.file((file) => {
      Object.defineProperty(file, "webkitRelativePath", {value: entry.fullPath.replace(/^\//, "")})
      resolve(file)
    }, reject),
  )
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const found: FileSystemEntry[] = []
  for (;;) {
    const some: FileSystemEntry[] = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
    if (!some.length || found.length > MOST_SEEN) return found
    found.push(...some)
  }
}

/** The file to open first: one with an entry point, closest to the root, and preferably named kernel or main. */
export function entryFile(files: Files) {
  const rank = (path: string) =>
    Number(!/\[\s*numthreads\s*\(/i.test(files[path])) * 1000 +
    path.split("/").length * 10 +
    Number(!/(^|\/)(main|kernel)[^/]*$/i.test(path))
  return Object.keys(files).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))[0]
}

/** The files of a draft from outside: only texts are kept. */
export function filesOf(given: unknown): Files {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return {}
  return Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === "string"))
}
