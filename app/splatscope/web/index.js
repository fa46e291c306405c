// The browser's side of the app.
import {readSections} from "./carriers/stream.js"
import {sessionOf} from "./carriers/session.js"
import * as Router from "./shell/router.js"
import * as Page from "./shell/page.js"
import * as Frame from "./widgets/frame.js"
import * as LiveRender from "./home/live.js"
import * as Chart from "./drawing/chart.js"
import * as Controls from "./widgets/controls.js"
import * as RunBar from "./training/run_bar.js"
import * as ListReader from "./training/list_reader.js"
import * as TrainingPicture from "./training/training_picture.js"
import * as TileBar from "./training/tile_bar.js"
import * as PixelStory from "./training/pixel_story.js"
import * as KernelComparison from "./training/kernel_comparison.js"
import * as ProgramMap from "./home/program_map.js"
import * as SaveButtons from "./training/save_buttons.js"
import * as Text from "./widgets/text.js"
import * as Stepper from "./stepper/stepper.js"
import * as Compare from "./compare/compare.js"
import * as Debugger from "./debugger/workbench.js"
import * as DebugBar from "./debugger/debug_bar.js"
import * as Drawing from "./drawing/drawing.js"
import * as Formula from "./drawing/formula.js"
import * as Quiz from "./lesson_results/quiz.js"
import * as Claim from "./lesson_results/claim.js"
import * as Exercises from "./exercises/exercises.js"
import * as GlossarySearch from "./reference/glossary_search.js"
import * as ClaimsBar from "./reference/claims_bar.js"
import * as Show from "./lesson_results/show.js"
import * as LessonBar from "./lesson_page/lesson_bar.js"
import * as WalkBar from "./classroom/walk_bar.js"

// By the name of the Python class.
const modules = {
  Router,
  Page,
  Frame,
  LiveRender,
  Controls,
  Chart,
  RunBar,
  TrainingPicture,
  ListReader,
  TileBar,
  PixelStory,
  KernelComparison,
  ProgramMap,
  SaveButtons,
  Text,
  Stepper,
  Compare,
  Debugger,
  DebugBar,
  Drawing,
  Formula,
  Quiz,
  Claim,
  Exercises,
  GlossarySearch,
  ClaimsBar,
  Show,
  LessonBar,
  WalkBar,
}

readSections(modules)

export default {Session: sessionOf(modules)}
