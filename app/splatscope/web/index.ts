// The browser's side of the app.
import {readSections} from "./carriers/stream.ts"
import {sessionOf} from "./carriers/session.ts"
import * as Router from "./shell/router.ts"
import * as Page from "./shell/page.ts"
import * as Frame from "./widgets/frame.ts"
import * as Opening from "./home/opening.ts"
import * as Chart from "./drawing/chart.ts"
import * as Controls from "./widgets/controls.ts"
import * as RunBar from "./training/run_bar.ts"
import * as ListReader from "./training/list_reader.ts"
import * as BrowserTraining from "./training/browser_training.ts"
import * as TrainingPicture from "./training/training_picture.ts"
import * as TileBar from "./training/tile_bar.ts"
import * as PixelStory from "./training/pixel_story.ts"
import * as KernelComparison from "./training/kernel_comparison.ts"
import * as Challenge from "./training/challenge.ts"
import * as ProgramMap from "./home/program_map.ts"
import * as SaveButtons from "./training/save_buttons.ts"
import * as Text from "./widgets/text.ts"
import * as Stepper from "./stepper/stepper.ts"
import * as Compare from "./compare/compare.ts"
import * as Debugger from "./debugger/workbench.ts"
import * as DebugBar from "./debugger/debug_bar.ts"
import * as Drawing from "./drawing/drawing.ts"
import * as Formula from "./drawing/formula.ts"
import * as Quiz from "./lesson_results/quiz.ts"
import * as Claim from "./lesson_results/claim.ts"
import * as Exercises from "./exercises/exercises.ts"
import * as GlossarySearch from "./reference/glossary_search.ts"
import * as ClaimsBar from "./reference/claims_bar.ts"
import * as Show from "./lesson_results/show.ts"
import * as LessonBar from "./lesson_page/lesson_bar.ts"
import * as YourPixel from "./lesson_page/your_pixel.ts"
import * as WalkBar from "./classroom/walk_bar.ts"
import type {Components} from "#components"
import type {ModulesOf} from "./types.ts"

// By the name of the Python class. Those that only a published book shows are in publish/index.ts, those of other people's pages in
// carriers/frame.ts.
const modules: ModulesOf<Exclude<keyof Components, "LiveRender" | "PublishedExercises" | "TrainingBench" | "ZoomedPicture">> = {
  Router,
  Page,
  Frame,
  Opening,
  Controls,
  Chart,
  RunBar,
  BrowserTraining,
  Challenge,
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
  YourPixel,
}

readSections(modules)

export default {Session: sessionOf(modules)}
