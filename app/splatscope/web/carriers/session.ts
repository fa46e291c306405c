// The carrier of a page with a session (session.py): draws its tree, applies what Python changes, and sends what components say.
import {type Change, type Described, type Modules, Tree} from "#web/runtime/host.ts"
import {watchConnection} from "#web/runtime/router.ts"
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
    const tree = new Tree(modules, model.tree, (message, {id}) => model.send_msg({id, message}))
    model.on("msg:custom", ({changes}) => {
      for (const change of changes) tree.apply(change)
    })
    model.on("after_render", () => tree.root.rendered())
    model.send_msg({drawn: true})
    return tree.root.host
  },
})
