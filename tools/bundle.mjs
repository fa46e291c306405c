// Bundles the browser's sources into app/splatscope/web/dist: splatscope.js and styles.css for the app, fonts.css with its typefaces,
// book.js for the published book, single_page.js and .css for the page of one recording, embedded.js for other people's pages, and in
// panel-models-VERSION.js the few of Panel's models that the app uses. setup.py runs it as a step of the build, with the folder and the version of the Panel installed.
import {build} from "esbuild"
import {globSync, readFileSync, writeFileSync} from "node:fs"
import {basename, dirname, join, resolve} from "node:path"

const root = resolve(import.meta.dirname, "..")
const [panel, version, panelLicence] = process.argv.slice(2)

// `#drawings` is every lessons/NAME/drawing.ts and live.ts by the lesson's name. They are found in the folders, so no list has to be
// kept.
const drawings = {
  name: "drawings",
  setup({onResolve, onLoad}) {
    onResolve({filter: /^#drawings$/}, () => ({path: "drawings", namespace: "drawings"}))
    onLoad({filter: /.*/, namespace: "drawings"}, () => {
      const table = (name, file, list) => {
        const files = globSync(`lessons/*/${file}.ts`, {cwd: root}).sort()
        const imports = files.map((path, i) => `import {${name} as ${name}${i}} from "./${path.replaceAll("\\", "/")}"`)
        const entries = files.map((path, i) => `${JSON.stringify(basename(dirname(path)))}: ${name}${i}`)
        return `${imports.join("\n")}\nexport const ${list} = {${entries.join(", ")}}\n`
      }
      return {contents: table("draw", "drawing", "DRAWINGS") + table("live", "live", "LIVE"), resolveDir: root}
    })
  },
}

// The licences of other people's packages travel with the scripts that contain them: each script begins with their texts.
const notices = {
  name: "notices",
  setup({initialOptions, onEnd}) {
    initialOptions.metafile = true
    onEnd(({metafile}) => {
      for (const [file, {inputs}] of Object.entries(metafile?.outputs ?? {})) {
        const packages = new Set(Object.keys(inputs).flatMap((input) => packageOf(input) ?? []))
        if (packages.size === 0 || !file.endsWith(".js")) continue
        const names = Map.groupBy([...packages].sort(), licenceOf)
        const texts = [...names].map(([text, list]) => `${list.join(", ")}:\n\n${text.trim().replaceAll("*/", "* /")}\n`)
        const path = join(root, file)
        writeFileSync(
          path,
          `/*! This file contains the packages below, under their licences.\n\n${texts.join("\n\n")}*/\n${readFileSync(path, "utf8")}`,
        )
      }
    })
  },
}

/** @param {string} input - a path of esbuild's list of inputs */
function packageOf(input) {
  if (resolve(root, input).startsWith(resolve(panel))) return "panel"
  return input.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]
}

/** @param {string} name - a package */
function licenceOf(name) {
  const [file] = name === "panel" ? [panelLicence] : globSync(`node_modules/${name}/LICENSE*`, {cwd: root})
  if (!file) throw new Error(`${name} has no licence in its package`)
  return readFileSync(resolve(root, file), "utf8")
}

/** @type {import("esbuild").BuildOptions} */
const COMMON = {absWorkingDir: root, bundle: true, minify: true, target: "es2022", logLevel: "warning", plugins: [notices]}

await build({
  ...COMMON,
  entryPoints: ["app/splatscope/web/index.ts"],
  outfile: "app/splatscope/web/dist/splatscope.js",
  format: "esm",
  loader: {".woff2": "dataurl", ".svg": "dataurl", ".png": "dataurl"}, // one file to serve, none beside it
  plugins: [drawings, notices],
})

// The app's style sheet, with all rules written out: Chromium needs a third longer to match nested ones. Layers decide what overrides
// what, and layers.css, which comes first, orders them. What other bundles have stays out.
const others = ["dist/*", "single_page/*", "theme/fonts.css", "theme/layers.css"].map((file) => `app/splatscope/web/${file}`)
const rules = globSync(["app/splatscope/web/**/*.css", "lessons/*/drawing.css"], {cwd: root, exclude: others}).sort()
await build({
  ...COMMON,
  stdin: {
    contents: ["app/splatscope/web/theme/layers.css", ...rules]
      .map((file) => `@import "./${file.replaceAll("\\", "/")}";`)
      .join("\n"),
    loader: "css",
    resolveDir: root,
  },
  outfile: "app/splatscope/web/dist/styles.css",
  supported: {nesting: false},
})

// The typefaces, with their licences, which must travel with them.
const licences = ["inter", "jetbrains-mono"].map((name) =>
  readFileSync(join(root, `node_modules/@fontsource-variable/${name}/LICENSE`), "utf8"),
)
await build({
  ...COMMON,
  entryPoints: ["app/splatscope/web/theme/fonts.css"],
  outfile: "app/splatscope/web/dist/fonts.css",
  loader: {".woff2": "dataurl"},
  banner: {css: `/*\n${licences.join("\n\n")}*/`},
})

// The published book: no module, which a browser does not load from a disk.
await build({
  ...COMMON,
  entryPoints: ["app/splatscope/web/publish/index.ts"],
  outfile: "app/splatscope/web/dist/book.js",
  format: "iife",
  charset: "utf8",
  plugins: [drawings, notices],
})

// The page of one recording: the stepper alone, whose address is another.
const ownRouter = {
  name: "own-router",
  setup({onResolve}) {
    onResolve({filter: /^#web\/runtime\/router\.ts$/}, () => ({path: join(root, "app/splatscope/web/single_page/router.ts")}))
  },
}

await build({
  ...COMMON,
  entryPoints: ["index.ts", "page.css"].map((file) => ({in: `app/splatscope/web/single_page/${file}`, out: "single_page"})),
  outdir: "app/splatscope/web/dist",
  format: "iife",
  charset: "utf8",
  plugins: [ownRouter, notices],
})

// The components for other people's pages: a script that makes a frame, and in it, as text, what the frame shows.
const frame = await build({
  ...COMMON,
  entryPoints: ["app/splatscope/web/carriers/frame.ts"],
  write: false,
  format: "iife",
  charset: "utf8",
  plugins: [ownRouter, drawings],
})
const contents = {
  name: "frame",
  setup({onResolve, onLoad}) {
    onResolve({filter: /^#frame$/}, () => ({path: "frame", namespace: "frame"}))
    onLoad({filter: /.*/, namespace: "frame"}, () => {
      const style = readFileSync(join(root, "app/splatscope/web/dist/styles.css"), "utf8")
      const texts = {SCRIPT: frame.outputFiles[0].text.replaceAll("</script", "<\\/script"), STYLE: style}
      return {
        contents: Object.entries(texts)
          .map(([name, text]) => `export const ${name} = ${JSON.stringify(text)}`)
          .join("\n"),
      }
    })
  },
}
await build({
  ...COMMON,
  entryPoints: ["app/splatscope/web/carriers/embedded.ts"],
  outfile: "app/splatscope/web/dist/embedded.js",
  format: "esm",
  charset: "utf8",
  plugins: [contents],
})

// Panel's own bundle has some seventy models and needs two more of Bokeh's bundles for their base classes. That is 1.4 MB to parse
// on every page, for the three models that this app's documents contain.
const MODELS = {ReactiveESM: "reactive_esm", Location: "location", BrowserInfo: "browser"}

// Panel's imports from Bokeh resolve to the Bokeh on the page. Base classes that only omitted models need are replaced.
const STAND_INS = {
  "models/widgets/widget": `import {LayoutDOM, LayoutDOMView} from "@bokehjs/models/layouts/layout_dom"
    export class Widget extends LayoutDOM {}
    export class WidgetView extends LayoutDOMView {}`,
  "models/widgets/markup": `import {LayoutDOM, LayoutDOMView} from "@bokehjs/models/layouts/layout_dom"
    export class Markup extends LayoutDOM {}
    export class MarkupView extends LayoutDOMView {}`,
}
const fromPage = {
  name: "from-page",
  setup({onResolve, onLoad}) {
    onResolve({filter: /^@bokehjs\//}, ({path}) => ({path: path.slice("@bokehjs/".length), namespace: "bokeh"}))
    onLoad({filter: /.*/, namespace: "bokeh"}, ({path}) =>
      path in STAND_INS ? {contents: STAND_INS[path]} : {contents: `module.exports = Bokeh.require(${JSON.stringify(path)})`},
    )
    // the TypeScript compiler is for components that come as source; the app's come as a bundle
    onResolve({filter: /^sucrase$/}, () => ({path: "sucrase", namespace: "none"}))
    onLoad({filter: /.*/, namespace: "none"}, () => ({contents: "export const transform = (code) => ({code})"}))
  },
}

const imports = Object.entries(MODELS).map(([name, file]) => `import {${name}} from "./${file}.js"`)
await build({
  ...COMMON,
  stdin: {
    contents: `${imports.join("\n")}\nBokeh.require("base").register_models({${Object.keys(MODELS).join(", ")}})\n`,
    resolveDir: join(panel, "dist", "lib", "models"),
  },
  outfile: `app/splatscope/web/dist/panel-models-${version}.js`,
  format: "iife",
  keepNames: true, // Bokeh derives the names of models and views from those of their classes
  loader: {".css": "text"},
  plugins: [fromPage, notices],
})
