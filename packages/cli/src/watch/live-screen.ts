/**
 * A live view on a terminal: takes the whole screen, draws frames, and gives the
 * screen back as it was, also when the process ends by an error.
 *
 * A frame is written at once, over the one before it, and only what is left of the
 * old one is erased, so that nothing flickers. Texts are wrapped at the width and
 * tables are cut; lines below the last row are counted. A change of the size draws the same frame again.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { CliContext } from "../cli-context.ts";
import { counted } from "../output/counted.ts";
import { fitStyled } from "../output/fit-styled.ts";
import type { Output } from "../output/output.ts";
import { createFrameOutput } from "./frame-output.ts";

/** Prints one frame. */
export type Render = (output: Output) => void;

/** Options of `LiveScreen`. */
export interface LiveScreenOptions {
  /** Called with each key except those that end the view; returns whether the frame is drawn again. @default keys do nothing */
  readonly onKey?: (key: string) => boolean;
}

// Alternate screen and cursor; begin and end of a frame that terminals show at once.
const enter = "\u001b[?1049h\u001b[?25l\u001b[H\u001b[2J";
const leave = "\u001b[?25h\u001b[?1049l";
const beginFrame = "\u001b[?2026h\u001b[H";
const endFrame = "\u001b[J\u001b[?2026l";

/** Narrowest width that is drawn for; a narrower terminal shows the start of the lines. */
const widthMin = 20;

/** Keys that end the view: q, Escape, Ctrl-C and Ctrl-D. A terminal in raw mode sends them as input. */
const endKeys: ReadonlySet<string> = new Set(["q", "Q", "\u001b", "\u0003", "\u0004"]);

/** Whether the output of a command is a terminal that can show a live view. */
export function canShowLive({ output, env }: Pick<CliContext, "output" | "env">): boolean {
  return output.isTerminal && !output.isJson && env["TERM"] !== "dumb";
}

/** The screen of a terminal; disposing gives it back. */
export class LiveScreen implements Disposable {
  readonly #context: CliContext;
  readonly #onKey: (key: string) => boolean;
  readonly #end = new AbortController();
  readonly #signal: AbortSignal;
  readonly #disposal = new DisposableStack();
  #render: Render | undefined;

  /** @param context its standard output is a terminal (`canShowLive`) */
  constructor(context: CliContext, { onKey = () => false }: LiveScreenOptions = {}) {
    this.#context = context;
    this.#onKey = onKey;
    this.#signal = AbortSignal.any([context.signal, context.outputClosed, this.#end.signal]);
    const { stdout } = context;
    const restore = () => void stdout.write(leave);
    stdout.write(enter);
    // A defect ends the process without disposing.
    process.once("exit", restore);
    this.#disposal.defer(() => {
      process.off("exit", restore);
      restore();
    });
    // A terminal that is closed, or a supervisor. The screen is given back, and the signal ends the process as ever.
    const hangUp = () => {
      this.#disposal.dispose();
      process.kill(process.pid, "SIGHUP");
    };
    process.once("SIGHUP", hangUp);
    this.#disposal.defer(() => process.off("SIGHUP", hangUp));
    const redraw = () => this.#draw();
    stdout.on("resize", redraw);
    this.#disposal.defer(() => stdout.off("resize", redraw));
    this.#readKeys();
  }

  /** Aborts when the view ends: by a key, a signal, or because the terminal is gone. */
  get ended(): AbortSignal {
    return this.#signal;
  }

  /** Shows a frame, and keeps `render` for the next size of the terminal. */
  show(render: Render): void {
    this.#render = render;
    this.#draw();
  }

  /** Waits until the next frame is due. Never rejects; the caller checks `ended`. */
  async pause(milliseconds: number): Promise<void> {
    // An abort ends the delay.
    await delay(milliseconds, undefined, { signal: this.#signal }).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#disposal.dispose();
  }

  #draw(): void {
    if (this.#render === undefined || this.#signal.aborted) return;
    const { stdout, output } = this.#context;
    // A terminal with unknown size reports 0.
    const width = Math.max(widthMin, stdout.columns || 80);
    const height = Math.max(2, stdout.rows || 24);
    const frame = createFrameOutput(output, width);
    this.#render(frame);
    const { lines } = frame;
    const isLong = lines.length > height;
    const shown = isLong ? lines.slice(0, height - 1) : lines;
    const more = isLong
      ? [output.style("dim", `… ${counted(lines.length - shown.length, "more line")}`)]
      : [];
    const rows = [...shown, ...more].map((line) => `${fitStyled(line, width)}\u001b[K`);
    stdout.write(`${beginFrame}${rows.join("\r\n")}${endFrame}`);
  }

  /** Reads keys, without their echo, which would be in the frame. */
  #readKeys(): void {
    const { stdin } = this.#context;
    const terminal = stdin as Partial<Pick<NodeJS.ReadStream, "setRawMode">> & typeof stdin;
    if (stdin.isTTY !== true || terminal.setRawMode === undefined) return;
    terminal.setRawMode(true);
    const onData = (chunk: Buffer | string) => this.#takeKeys(chunk.toString());
    stdin.on("data", onData);
    stdin.resume();
    this.#disposal.defer(() => {
      stdin.off("data", onData);
      stdin.pause();
      terminal.setRawMode?.(false);
    });
  }

  #takeKeys(text: string): void {
    // A key with a sequence of its own, such as an arrow, is one chunk that starts with Escape.
    const keys = text.startsWith("\u001b") ? [text] : [...text];
    let isChanged = false;
    for (const key of keys) {
      if (endKeys.has(key)) this.#end.abort();
      else if (key.length === 1) isChanged = this.#onKey(key) || isChanged;
    }
    if (isChanged) this.#draw();
  }
}
