// The module that tools/bundle.mjs makes from lessons/*/drawing.js.
declare module "#drawings" {
  export const DRAWINGS: Record<string, import("#web/drawing/types.d.ts").Draw>
}
