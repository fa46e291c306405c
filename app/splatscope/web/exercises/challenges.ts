// The challenges that are trained, which have no kernel to mark; `training/challenge.ts` plays them.
export const CHALLENGES = [
  {
    name: "ten-gaussians",
    title: "Paint a fish with ten Gaussians",
    about: "Against gradient descent",
    score: (best: number) => `${best.toFixed(1)} dB`,
  },
  {
    name: "thirty-decibels",
    title: "As few Gaussians as you can, for 30 dB",
    about: "A photograph, and the settings of its training",
    score: (best: number) => `${best.toLocaleString("en")} Gaussians`,
  },
]

/** Whether a name in the address is one of them. */
export const isChallenge = (name: string) => CHALLENGES.some((one) => one.name === name)
