// Bundles the browser's sources into app/splatscope/web/dist/splatscope.js. setup.py runs it as a step of the build.
import {build} from "esbuild"
import {globSync} from "node:fs"
import {basename, dirname, resolve} from "node:path"

const root = resolve(import.meta.dirname, "..")

// `#drawings` is every lessons/NAME/drawing.js, by the lesson's name: a drawing is found by looking, and listed nowhere.
const drawings = {
  name: "drawings",
  setup({onResolve, onLoad}) {
    onResolve({filter: /^#drawings$/}, () => ({path: "drawings", namespace: "drawings"}))
    onLoad({filter: /.*/, namespace: "drawings"}, () => {
      const files = globSync("lessons/*/drawing.js", {cwd: root}).sort()
      const imports = files.map((file, i) => `import {draw as draw${i}} from "./${file.replaceAll("\\", "/")}"`)
      const entries = files.map((file, i) => `${JSON.stringify(basename(dirname(file)))}: draw${i}`)
      return {contents: `${imports.join("\n")}\nexport const DRAWINGS = {${entries.join(", ")}}\n`, resolveDir: root}
    })
  },
}

await build({
  absWorkingDir: root,
  entryPoints: ["app/splatscope/web/index.js"],
  outfile: "app/splatscope/web/dist/splatscope.js",
  bundle: true,
  format: "esm",
  minify: true,
  target: "es2022",
  logLevel: "warning",
  loader: {".woff2": "dataurl", ".svg": "dataurl", ".png": "dataurl"}, // one file to serve, none beside it
  plugins: [drawings],
})
