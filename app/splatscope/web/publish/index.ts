// The published book: the app's components, with recorded answers in place of Python.
import * as BrowserTraining from "#web/training/browser_training.ts"
import * as Challenge from "#web/training/challenge.ts"
import * as Claim from "#web/lesson_results/claim.ts"
import * as ClaimsBar from "#web/reference/claims_bar.ts"
import * as Controls from "#web/widgets/controls.ts"
import * as Drawing from "#web/drawing/drawing.ts"
import * as Formula from "#web/drawing/formula.ts"
import * as GlossarySearch from "#web/reference/glossary_search.ts"
import * as LessonBar from "#web/lesson_page/lesson_bar.ts"
import * as YourPixel from "#web/lesson_page/your_pixel.ts"
import * as Opening from "#web/home/opening.ts"
import * as LiveRender from "./live.ts"
import * as PublishedExercises from "./exercises.ts"
import * as Page from "#web/shell/page.ts"
import * as ProgramMap from "#web/home/program_map.ts"
import * as Quiz from "#web/lesson_results/quiz.ts"
import * as Show from "#web/lesson_results/show.ts"
import * as Stepper from "#web/stepper/stepper.ts"
import * as Text from "#web/widgets/text.ts"
import * as WalkBar from "#web/classroom/walk_bar.ts"
import type {Components} from "#components"
import type {ModulesOf} from "#web/types.ts"
import {begin} from "#web/carriers/file.ts"
import {searchWith} from "#web/search/search.ts"
import {loadWith} from "#web/runtime/sources.ts"
import {load, loadBytes} from "./files.ts"

const MODULES: Partial<ModulesOf<keyof Components>> = {
  BrowserTraining,
  Challenge,
  Claim,
  ClaimsBar,
  Controls,
  Drawing,
  Formula,
  GlossarySearch,
  LessonBar,
  LiveRender,
  Opening,
  Page,
  ProgramMap,
  PublishedExercises,
  Quiz,
  Show,
  Stepper,
  Text,
  WalkBar,
  YourPixel,
}

loadWith({json: load, blob: async (name) => new Blob([await loadBytes(name)])})
searchWith(() => load("search"))
begin(MODULES, JSON.parse(document.getElementById("entries")?.textContent ?? "[]"))
