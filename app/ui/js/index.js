// The browser's side of the app. Each key is the name of a Python class in splatscope.ui, each value its module.
import * as Router from "./router.js"
import * as Page from "./page.js"
import * as Frame from "./frame.js"
import * as LiveRender from "./live.js"

export default {Router, Page, Frame, LiveRender}
