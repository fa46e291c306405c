// The published book: the app's components, with recorded answers in place of Python.
import * as Claim from "#web/lesson_results/claim.js"
import * as ClaimsBar from "#web/reference/claims_bar.js"
import * as Controls from "#web/widgets/controls.js"
import * as Drawing from "#web/drawing/drawing.js"
import * as Formula from "#web/drawing/formula.js"
import * as GlossarySearch from "#web/reference/glossary_search.js"
import * as LessonBar from "#web/lesson_page/lesson_bar.js"
import * as LiveRender from "#web/home/live.js"
import * as PublishedExercises from "./exercises.js"
import * as Page from "#web/shell/page.js"
import * as ProgramMap from "#web/home/program_map.js"
import * as Quiz from "#web/lesson_results/quiz.js"
import * as Show from "#web/lesson_results/show.js"
import * as Stepper from "#web/stepper/stepper.js"
import * as Text from "#web/widgets/text.js"
import * as WalkBar from "#web/classroom/walk_bar.js"
import {begin} from "#web/carriers/file.js"

const MODULES = {
  Claim,
  ClaimsBar,
  Controls,
  Drawing,
  Formula,
  GlossarySearch,
  LessonBar,
  LiveRender,
  Page,
  ProgramMap,
  PublishedExercises,
  Quiz,
  Show,
  Stepper,
  Text,
  WalkBar,
}

begin(MODULES, JSON.parse(document.getElementById("entries")?.textContent ?? "[]"))
