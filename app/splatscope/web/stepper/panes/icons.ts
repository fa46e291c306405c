// The icons of the transport, 16 units wide, and the marks of findings and verdicts, 14 units wide.

const STROKE = `fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"`

const svg = (size: number, inner: string, klass = "") => {
  const holder = document.createElement("span")
  const box = `width="${size}" height="${size}" viewBox="0 0 ${size} ${size}"`
  holder.innerHTML = `<svg class="${klass}" ${box} ${STROKE} aria-hidden="true">${inner}</svg>`
  return holder.firstChild as SVGElement
}
const solid = 'fill="currentColor" stroke="none"'
const MARKS = {
  start: `<path d="M3 3v10M13 3.5v9L6 8z"/>`,
  end: `<path d="M13 3v10M3 3.5v9L10 8z"/>`,
  wallBack: `<rect x="2.5" y="2.5" width="2.4" height="11" ${solid}/><path d="M14 8H8m2.5-2.500L8 8l2.5 2.5"/>`,
  wallOn: `<rect x="11.1" y="2.5" width="2.4" height="11" ${solid}/><path d="M2 8h6M5.5 5.5 8 8l-2.5 2.5"/>`,
  back: `<path d="M10 3.5 5.5 8l4.5 4.5"/>`,
  on: `<path d="M6 3.5 10.5 8 6 12.5"/>`,
  line: `<path d="M2.5 4h11M2.5 8h5M13.5 8v4.5H8m2-2-2 2 2 2" transform="translate(0 -1)"/>`,
  play: `<path d="M5 3.200v9.600l7.5-4.800z" ${solid}/>`,
  pause: `<path d="M5.5 3.500v9M10.5 3.500v9" stroke-width="2.4"/>`,
  write: `<rect x="8.5" y="4.5" width="6" height="7" rx="1" ${solid}/><path d="M6 8H1.500m2-2-2 2 2 2"/>`,
  find: `<circle cx="7" cy="7" r="4.2"/><path d="m10.2 10.2 3.3 3.3"/>`,
  stair: `<path d="M3 3v3.500h4V10h4v3.500h3"/>`,
  straight: `<path d="M2 4h7M2 8h7M2 12h7"/><path d="M12.500 2v12" stroke-width="2.4"/>`,
  shut: `<path d="M4 4l8 8M12 4l-8 8"/>`,
  bug: `<rect x="4.8" y="5.5" width="6.4" height="8" rx="3.200"/><path d="M6 5.500V4.500a2 2 0 0 1 4 0v1M1.800 9.500h3M11.2 9.500h3M2.500 5l2.500 1.800M13.500 5 11 6.800M2.500 14l2.500-1.800M13.500 14 11 12.200M8 9v4"/>`,
  stopBack: `<rect x="1.8" y="5.6" width="4.8" height="4.8" ${solid} transform="rotate(45 4.2 8)"/><path d="M14.5 8H9.500m2-2-2 2 2 2"/>`,
  stopOn: `<rect x="9.4" y="5.6" width="4.8" height="4.8" ${solid} transform="rotate(45 11.8 8)"/><path d="M1.5 8h5m-2-2 2 2-2 2"/>`,
}
const SEVERITY = {
  error: `<path d="M7 .5 13.5 7 7 13.5.5 7z" fill="var(--sev-error)" stroke="none"/>`,
  warn: `<path d="M7 1 13.5 12.500H.5z" fill="var(--sev-warn)" stroke="none"/>`,
  no: `<path d="m3 3 8 8M11 3l-8 8" stroke-width="2.2"/>`,
  note: `<circle cx="7" cy="7" r="5.5" fill="var(--sev-note)" stroke="none"/>`,
  part: `<circle cx="7" cy="7" r="5.5" stroke-width="1.6"/><path d="M7 1.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" stroke="none"/>`,
  open: `<circle cx="7" cy="7" r="5.5" stroke-width="1.6" stroke-dasharray="2.4 2.2"/>`,
  ok: `<path d="m2 7.5 3.5 3.500L12 3.5" stroke="var(--sev-ok)" stroke-width="2.2"/>`,
}

export type IconName = keyof typeof MARKS
export type Severity = keyof typeof SEVERITY

/** An icon of the transport. */
export const icon = (name: IconName) => svg(16, MARKS[name])
/** The mark of a finding. */
export const severityIcon = (name: Severity) => svg(14, SEVERITY[name], "sev")
