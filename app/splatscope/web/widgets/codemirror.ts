// CodeMirror 6, set up for Slang in the page's colours.
import {closeBrackets, closeBracketsKeymap} from "@codemirror/autocomplete"
import {defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory} from "@codemirror/commands"
import {HighlightStyle, StreamLanguage, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting} from "@codemirror/language"
import {lintGutter, lintKeymap, setDiagnostics} from "@codemirror/lint"
import {highlightSelectionMatches, searchKeymap} from "@codemirror/search"
import {EditorState, Prec} from "@codemirror/state"
import {EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers} from "@codemirror/view"
import {tags} from "@lezer/highlight"
import {h} from "#web/runtime/dom.ts"
import {stream} from "./slang.ts"

const words = HighlightStyle.define([
  {tag: tags.keyword, color: "var(--syn-key)"},
  {tag: tags.typeName, color: "var(--syn-typ)"},
  {tag: tags.number, color: "var(--syn-num)"},
  {tag: tags.string, color: "var(--syn-num)"},
  {tag: tags.comment, color: "var(--syn-com)", fontStyle: "italic"},
])

const look = EditorView.theme({
  "&": {height: "100%", fontSize: "var(--t-sm)", backgroundColor: "var(--code-bg)", color: "var(--ink)"},
  "&.cm-focused": {outline: "none"},
  ".cm-scroller": {fontFamily: "var(--mono)", lineHeight: "var(--line-h)", scrollbarWidth: "thin"},
  ".cm-content": {caretColor: "var(--ink)", padding: "4px 0 24px"},
  ".cm-gutters": {backgroundColor: "var(--code-bg)", color: "var(--ink-3)", border: "0", fontSize: "var(--t-xs)"},
  ".cm-lineNumbers .cm-gutterElement": {padding: "0 8px 0 12px", minWidth: "30px"},
  ".cm-activeLine, .cm-activeLineGutter": {backgroundColor: "var(--hover)"},
  ".cm-cursor": {borderLeftColor: "var(--ink)", borderLeftWidth: "2px"},
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--lane-active-tint)",
  },
  ".cm-selectionMatch, &.cm-focused .cm-matchingBracket": {backgroundColor: "var(--line)"},
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--sev-error) 1.5px",
    textUnderlineOffset: "4px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--sev-warn) 1.5px",
    textUnderlineOffset: "4px",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    border: "1px solid var(--line-2)",
    borderRadius: "var(--r-2)",
    font: "var(--t-sm)/1.4 var(--sans)",
    maxWidth: "32rem",
  },
  ".cm-diagnostic": {padding: "4px 10px"},
  ".cm-diagnostic-error": {borderLeft: "3px solid var(--sev-error)"},
  ".cm-diagnostic-warning": {borderLeft: "3px solid var(--sev-warn)"},
  ".cm-panels": {backgroundColor: "var(--surface)", color: "var(--ink)", borderColor: "var(--line)"},
  ".cm-panels input, .cm-panels button": {font: "var(--t-sm) var(--sans)"},
})

/** A compiler's message about a place in the source. */
export interface Diagnostic {
  /** Counted from 1, as are columns. */
  line: number
  column: number
  /** The column after it. */
  end: number
  severity: "error" | "warning" | "info"
  message: string
  /** The file that it is in, if that is not the one that runs. */
  file?: string
}

export type Editor = ReturnType<typeof makeEditor>

/**
 * Make an editor.
 * @param root  the root that contains it
 * @param changed  called when the text is edited
 * @param run  called on Ctrl+Enter
 * @param wraps  whether long lines are wrapped
 */
export function makeEditor(
  parent: HTMLElement,
  root: Document | ShadowRoot,
  changed: (text: string) => void,
  run: () => void,
  wraps = false,
) {
  const outside = h("p", {class: "sr", tabindex: "-1"}, "Outside the editor. Tab moves on.") // behind it, so that Tab does
  const keys = Prec.highest(
    keymap.of([
      {
        key: "Mod-Enter",
        stopPropagation: true, // the page has this key, too
        run: () => {
          run()
          return true
        },
      },
      {
        key: "Escape",
        run: () => {
          outside.focus({preventScroll: true})
          return true
        },
      },
    ]),
  )
  const extensions = [
    keys,
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightSelectionMatches(),
    lintGutter(),
    wraps ? EditorView.lineWrapping : [],
    indentUnit.of("    "),
    EditorState.tabSize.of(4),
    StreamLanguage.define(stream),
    syntaxHighlighting(words),
    look,
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
    EditorView.contentAttributes.of({
      "aria-label": "The kernel's source",
      "aria-description": "Escape, then Tab, to leave the editor",
      spellcheck: "false",
      tabindex: "0",
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) changed(update.state.doc.toString())
    }),
  ]
  const view = new EditorView({parent, root, state: EditorState.create({extensions})})
  parent.append(outside)
  return {
    view,
    /** The editor's state, with its history and selection. */
    get state() {
      return view.state
    },
    /** Put a text or an earlier state into the editor. */
    show(what: string | EditorState) {
      view.setState(typeof what === "string" ? EditorState.create({doc: what, extensions}) : what)
    },
    /** Put the cursor on a line, counted from 1, and show it. */
    reveal(line: number) {
      const {from} = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines))
      view.dispatch({selection: {anchor: from}, effects: EditorView.scrollIntoView(from, {y: "center"})})
    },
    get text() {
      return view.state.doc.toString()
    },
    set text(text) {
      const all = {from: 0, to: view.state.doc.length, insert: text}
      view.dispatch({changes: all, annotations: isolateHistory.of("full")}) // a separate undo step
    },
    mark(diagnostics: Diagnostic[]) {
      const {doc} = view.state
      view.dispatch(
        setDiagnostics(
          view.state,
          diagnostics
            .map(({line, column, end, severity, message}) => {
              const at = doc.line(Math.min(Math.max(1, line), doc.lines))
              const from = Math.min(at.from + column - 1, at.to),
                to = Math.min(Math.max(from, at.from + end - 1), at.to)
              return {from, to, severity, message}
            })
            .sort((a, b) => a.from - b.from),
        ),
      )
    },
  }
}
