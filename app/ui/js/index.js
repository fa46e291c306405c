// The browser's side of the app. Each key is the name of a Python class in splatscope.ui, each value its module.
import * as Router from "./router.js"
import * as Page from "./page.js"
import * as Frame from "./frame.js"
import * as LiveRender from "./live.js"
import * as Controls from "./controls.js"
import * as RunBar from "./runbar.js"
import * as Fit from "./fit.js"
import * as Saves from "./saves.js"
import * as Text from "./text.js"
import * as Stepper from "./stepper/stepper.js"
import * as Debugger from "./editor.js"
import * as DebugBar from "./debugbar.js"

export default {Router, Page, Frame, LiveRender, Controls, RunBar, Fit, Saves, Text, Stepper, Debugger, DebugBar}
