// The drawings of the lessons, by the name a lesson gives. Each is a function of a host {root, options, facts, values, set, step}
// and returns {open?(look), paint(look), resized?(look)}: see ../lesson/drawing.js and ../lesson/look.js.
import {coarse} from "./coarse.js"
import {contest} from "./contest.js"
import {decline} from "./decline.js"
import {layers} from "./layers.js"
import {finepass} from "./finepass.js"
import {ladder} from "./ladder.js"
import {microscope} from "./microscope.js"
import {folds} from "./folds.js"
import {loop} from "./loop.js"
import {network} from "./network.js"
import {pairs} from "./pairs.js"
import {pixelmap} from "./pixelmap.js"
import {seating} from "./seating.js"
import {staircase} from "./staircase.js"
import {stages} from "./stages.js"
import {paper} from "./paper.js"
import {tape} from "./tape.js"
import {tracks} from "./tracks.js"

export const DRAWINGS = {coarse, contest, finepass, folds, decline, ladder, layers, microscope, loop, network, pairs, pixelmap, seating, stages, staircase, paper, tape, tracks}
