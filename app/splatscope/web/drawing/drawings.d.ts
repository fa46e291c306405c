// The module that tools/bundle.mjs makes from lessons/*/drawing.ts and live.ts.
declare module "#drawings" {
  export const DRAWINGS: Record<string, import("#web/drawing/types.ts").Draw>
  /** The sections with a live.ts. */
  export const LIVE: Record<string, import("#web/drawing/live.ts").Live<unknown, unknown, unknown> | undefined>
}
