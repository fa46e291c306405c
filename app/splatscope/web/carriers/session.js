// The carrier of a page with a session (session.py): draws its tree, applies what Python changes, and sends what components say.
import {Tree} from "#web/runtime/host.js"
import {watchConnection} from "#web/runtime/router.js"

/**
 * @import {Change, Described, Modules} from "#web/runtime/host.js"
 * @import {BokehDocument} from "#web/types.d.ts"
 */

/**
 * Panel's side of the carrier.
 * @typedef {object} Session
 * @property {Described} tree
 * @property {(message: unknown) => void} send_msg
 * @property {(event: string, act: (data: any) => void) => void} on
 */

/**
 * Make the module that Panel loads.
 * @param {Modules} modules
 */
export const sessionOf = (modules) => ({
  /** @param {{model: Session, view: {model: {document: BokehDocument}}}} component */
  render({model, view}) {
    watchConnection(view.model.document)
    const tree = new Tree(modules, model.tree, (message, {id}) => model.send_msg({id, message}))
    model.on("msg:custom", (/** @type {{changes: Change[]}} */ {changes}) => {
      for (const change of changes) tree.apply(change)
    })
    model.on("after_render", () => tree.root.rendered())
    model.send_msg({drawn: true})
    return tree.root.host
  },
})
