// Rounds that the server plays, for a browser without a GPU.
import assert from "node:assert/strict"
import {test} from "node:test"
import type {Model} from "#web/types.ts"
import {type Arena, arenaFor, type Round} from "#web/training/challenge_arena.ts"

const ROUND: Round = {target: "fish", raw: null, blobs: 10, seed: 1, growth: false, rate: 1, iterations: 300}

/** A challenge whose server is the test: what it was asked to play, and what answers. */
function served() {
  const acts: Record<string, (() => void)[]> = {played: [], error: []}
  const asked: {number: number; iterations: number}[] = []
  const state = {played: {}, error: ""}
  const model = Object.assign(state, {
    fish: [],
    fish_size: [12, 8],
    rates: [1, 1, 1, 1],
    samples: {},
    on: (event: string, act: () => void) => acts[event].push(act),
    send_msg: (message: {number: number; iterations: number}) => asked.push(message),
  })
  const tell = (event: string) => {
    for (const act of acts[event]) act()
  }
  return {
    arena: arenaFor(model as unknown as Model<"Challenge">),
    acts,
    asked,
    answer(number: number, psnr: number) {
      state.played = {number, psnr, picture: btoa("picture"), raw: [1, 2]}
      tell("played")
    },
    fail(error: string) {
      state.error = error
      tell("error")
    },
  }
}

/** Wait until what was asked for has reached the server. */
async function reached({asked}: {asked: unknown[]}, count: number) {
  for (let turn = 0; turn < 100 && asked.length < count; turn++) await new Promise((resolve) => setTimeout(resolve))
  assert.equal(asked.length, count)
}

const reasonOf = (made: ReturnType<Arena["play"]>) => made.then(String, (reason: Error) => reason.message)

test("each round gets its own answer, one after the other", async () => {
  const server = served()
  const rounds = [server.arena.play(ROUND), server.arena.play({...ROUND, iterations: 200})]
  const target = server.arena.target("fish")
  await reached(server, 1)
  server.answer(server.asked[0].number + 7, 1) // nobody's
  server.answer(server.asked[0].number, 20)
  await reached(server, 2)
  server.answer(server.asked[1].number, 21)
  await reached(server, 3)
  server.answer(server.asked[2].number, 22)
  const [first, second] = await Promise.all(rounds)
  assert.deepEqual([first.psnr, first.iteration, second.psnr, second.iteration], [20, 300, 21, 200])
  assert.equal(await (await target).text(), "picture")
})

test("a failure ends its round, and the next one is played", async () => {
  const server = served()
  for (const count of [1, 2]) {
    const reason = reasonOf(server.arena.play(ROUND))
    await reached(server, count)
    server.fail("")
    server.fail("The worker ended.")
    assert.equal(await reason, "The worker ended.")
  }
  const last = server.arena.play(ROUND)
  await reached(server, 3)
  server.answer(server.asked[2].number, 20)
  assert.equal((await last).psnr, 20)
  assert.deepEqual([server.acts.played.length, server.acts.error.length], [1, 1])
})
