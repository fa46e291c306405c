// The module that tools/bundle.mjs makes from lessons/*/drawing.ts.
declare module "#drawings" {
  export const DRAWINGS: Record<string, import("#web/drawing/types.ts").Draw>
}
