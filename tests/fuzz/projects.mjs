// The browser's code for projects, driven by projects.py: a line with a zip in hexadecimal in, a line of JSON out.
import {createInterface} from "node:readline"
import {givenIn, readProject} from "../../app/splatscope/web/debugger/project.ts"

const limits = JSON.parse(process.argv[2])
for await (const line of createInterface({input: process.stdin})) {
  const before = process.memoryUsage().arrayBuffers
  let answer
  try {
    const file = new File([Buffer.from(JSON.parse(line), "hex")], "project.zip")
    answer = await readProject(await givenIn([file], limits), limits)
  } catch (error) {
    const memory = (process.memoryUsage().arrayBuffers - before) / 2 ** 20
    answer = {error: error.message, kind: error.constructor.name, memory}
  }
  console.log(JSON.stringify(answer))
}
