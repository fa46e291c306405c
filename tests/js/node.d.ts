// The little of Node that the tests use.
declare module "node:test" {
  export function test(name: string, act: () => void | Promise<void>): void
}
declare module "node:assert/strict" {
  function ok(value: unknown, message?: string): asserts value
  const assert: {
    ok: typeof ok
    equal(actual: unknown, expected: unknown, message?: string): void
    deepEqual(actual: unknown, expected: unknown, message?: string): void
    match(text: string, expected: RegExp): void
    throws(act: () => unknown, expected?: RegExp): void
  }
  export default assert
}
declare module "node:process" {
  const process: {argv: string[]; stdout: {write(text: string): void}}
  export default process
}
declare module "node:fs" {
  export function readFileSync(path: string | URL): Uint8Array<ArrayBuffer>
  export function readFileSync(path: string | URL, encoding: "utf8"): string
}
declare module "node:module" {
  export function createRequire(path: string): (name: string) => Record<string, (...given: unknown[]) => unknown>
}
