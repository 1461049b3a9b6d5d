/**
 * The picture of a terminal session: what recorded commands printed, drawn as lines of text that
 * appear one after the other within five seconds. Reads the colours of a terminal, nothing else:
 * any other control sequence is refused, as it would not be what a reader sees.
 */

import { escapeText, toSvg } from "./svg.ts";

/** A command as it was typed, and what the terminal showed. */
export interface RecordedCommand {
  readonly command: string;
  readonly output: string;
}

/** The width of the terminal. */
export const columns = 80;
const charWidth = 8;
const lineHeight = 19;
const margin = 20;
/** All is shown after this time, so that nothing moves for longer than people can ignore. */
const durationSeconds = 4.6;

const sgrClasses: { readonly [code: string]: string } = {
  1: "b",
  2: "d",
  31: "red",
  32: "green",
  33: "yellow",
  34: "blue",
  35: "magenta",
  36: "cyan",
};

/** A piece of a line in one style. */
interface Span {
  readonly text: string;
  readonly classes: readonly string[];
}

/** Splits the output of a terminal into lines of pieces in one style. */
export function readTerminal(output: string): Span[][] {
  const active = new Set<string>();
  const lines: Span[][] = [[]];
  for (const [token] of output.replaceAll("\r\n", "\n").matchAll(/\u001b\[[\d;]*m|\n|[^\u001b\n]+|\u001b/g)) {
    if (token === "\n") lines.push([]);
    else if (/^\u001b\[[\d;]*m$/.test(token)) {
      for (const code of token.slice(2, -1).split(";")) applySgr(code, active);
    } else if (/[\u0000-\u001f]/.test(token)) {
      throw new Error(`A control sequence that a picture cannot show: ${JSON.stringify(token)}`);
    } else lines.at(-1)?.push({ text: token, classes: [...active] });
  }
  while (lines.at(-1)?.length === 0) lines.pop();
  return lines.flatMap(wrapLine);
}

/** A terminal continues a long line on the next one. */
function wrapLine(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  let left = columns;
  for (const { text, classes } of spans) {
    let rest = [...text];
    while (rest.length > 0) {
      if (left === 0) {
        lines.push([]);
        left = columns;
      }
      const part = rest.slice(0, left);
      lines.at(-1)?.push({ text: part.join(""), classes });
      left -= part.length;
      rest = rest.slice(part.length);
    }
  }
  return lines;
}

function applySgr(code: string, active: Set<string>): void {
  const name = sgrClasses[code];
  if (name !== undefined) active.add(name);
  else if (code === "22") for (const one of ["b", "d"]) active.delete(one);
  else if (code === "39")
    for (const one of ["red", "green", "yellow", "blue", "magenta", "cyan"]) active.delete(one);
  else active.clear();
}

/** The session has a dark ground in both themes, as many terminals do. */
const extraStyle = `
.ground{fill:#15181a}
.t{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px;fill:#e4e6e3;white-space:pre}
.p{fill:#7cc7d4}
.b{font-weight:700}
.d{fill:#a3abab}
.red{fill:#f4998c}.green{fill:#93d69c}.yellow{fill:#e6cd83}.blue{fill:#9cbdf5}.magenta{fill:#dfa9ee}.cyan{fill:#7cc7d4}
@keyframes show{from{opacity:0}to{opacity:1}}
.s{animation:show 1ms both}
@media (prefers-reduced-motion:reduce){.s{animation:none}}`;

/** Draws the session. */
export function drawSession(recording: readonly RecordedCommand[]): string {
  const rows: { readonly spans: readonly Span[]; readonly step: number }[] = [];
  for (const [at, { command, output }] of recording.entries()) {
    if (at > 0) rows.push({ spans: [], step: 2 * at });
    const prompt = { text: "$ ", classes: ["p"] };
    rows.push({ spans: [prompt, { text: command, classes: ["b"] }], step: 2 * at });
    for (const spans of readTerminal(output)) rows.push({ spans, step: 2 * at + 1 });
  }
  const stepSeconds = durationSeconds / (2 * recording.length - 1);
  const elements = rows.flatMap(({ spans, step }, at) => {
    if (spans.length === 0) return [];
    const y = margin + 14 + at * lineHeight;
    const delay = (step * stepSeconds).toFixed(2);
    return [`<text class="t s" style="animation-delay:${delay}s" y="${y}">${drawSpans(spans)}</text>`];
  });
  return toSvg({
    width: columns * charWidth + 2 * margin,
    height: rows.length * lineHeight + 2 * margin,
    title: "A terminal session with Toolcrib",
    description: rows.map(({ spans }) => spans.map(({ text }) => text).join("")).join("\n"),
    elements,
    extraStyle,
  });
}

/** Each piece has its column and its length, so that columns stay columns in any font. */
function drawSpans(spans: readonly Span[]): string {
  let column = 0;
  return spans
    .map(({ text, classes }) => {
      const x = margin + column * charWidth;
      const length = [...text].length;
      column += length;
      const style = classes.length === 0 ? "" : ` class="${classes.join(" ")}"`;
      return `<tspan x="${x}" textLength="${length * charWidth}"${style}>${escapeText(text)}</tspan>`;
    })
    .join("");
}

/** Returns the lines of text that a picture shows. */
export function linesOfPicture(svg: string): string[] {
  return [...svg.matchAll(/<text class="t s"[^>]*>(.*?)<\/text>/g)].map(([, inner = ""]) =>
    inner
      .replace(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&")
      .trimEnd(),
  );
}
