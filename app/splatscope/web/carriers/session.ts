// The carrier of a page with a session (session.py): draws its tree, applies what Python changes, and sends what components say.
import {type Change, type Described, type Modules, Tree} from "#web/runtime/host.ts"
import {current, hasEnded, watchConnection} from "#web/runtime/router.ts"
import {sendLater, takeUnsent} from "#web/runtime/unsent.ts"
import {startSession} from "#web/shell/router.ts"
import type {RouterParameters} from "#components"
import type {BokehDocument} from "#web/types.ts"

/** Panel's side of the carrier. */
interface Session {
  tree: Described
  send_msg: (message: unknown) => void
  on: (event: string, act: (data: {changes: Change[]}) => void) => void
}

/** Make the module that Panel loads. */
export const sessionOf = (modules: Modules) => ({
  render({model, view}: {model: Session; view: {model: {document: BokehDocument}}}) {
    const {id, values} = model.tree
    watchConnection(view.model.document)
    startSession(values as unknown as RouterParameters, (message) => model.send_msg({id, message}))
    const tree = new Tree(modules, model.tree, (message: {type: string}, {id, kind}) => {
      if (hasEnded()) sendLater(current().page, kind, message)
      else model.send_msg({id, message})
    })
    model.on("msg:custom", ({changes}) => {
      for (const change of changes) tree.apply(change)
    })
    model.on("after_render", () => tree.root.rendered())
    model.send_msg({drawn: true})
    queueMicrotask(() => {
      // after what components said while they were drawn: a run is taken up before its settings change
      for (const {kind, message} of takeUnsent(current().page)) {
        const part = [...tree.parts.values()].find((part) => part.kind === kind)
        if (part) model.send_msg({id: part.id, message})
      }
    })
    return tree.root.host
  },
})
