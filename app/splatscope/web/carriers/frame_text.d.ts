// The module that tools/bundle.mjs makes from frame.ts and the app's style sheet.
declare module "#frame" {
  export const SCRIPT: string
  export const STYLE: string
}
