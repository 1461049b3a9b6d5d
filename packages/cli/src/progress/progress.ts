/**
 * Progress of work that can take longer than a second: one line on standard error
 * with a spinner, the step and the elapsed time, which is updated in place and
 * removed at the end. Nothing where standard error is not a terminal, or one that
 * cannot move its cursor (`TERM=dumb`); no styles, so `NO_COLOR` changes nothing.
 */

import type { JsonObject } from "@toolcrib/json";
import { safeLine } from "../output/output.ts";
import { fitText } from "../output/text-width.ts";
import type { ProcessContext } from "../process-context.ts";

/** Work that is done sooner shows nothing. */
const delayMs = 1000;
/** Milliseconds between two frames of the spinner. */
const frameMs = 120;
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** The line; disposing removes it. */
export class Progress implements Disposable {
  readonly #context: Pick<ProcessContext, "stderr" | "env" | "now">;
  readonly #title: () => string;
  readonly #start: number;
  readonly #timer: NodeJS.Timeout | undefined;
  #step = "";
  #frame = 0;
  #isShown = false;

  /** @param title what is done, for people; foreign text is made safe. A function is asked for each frame. */
  constructor(context: Pick<ProcessContext, "stderr" | "env" | "now">, title: string | (() => string)) {
    this.#context = context;
    this.#title = typeof title === "string" ? () => title : title;
    this.#start = context.now();
    const isTerminal = context.stderr.isTTY === true && context.env["TERM"] !== "dumb";
    this.#timer = isTerminal ? setInterval(() => this.#tick(), frameMs).unref() : undefined;
  }

  /**
   * Names the step that begins now.
   *
   * @param options `isLong`: it is shown at once, as what follows does not give way to the timer.
   */
  step(text: string, { isLong = false }: { readonly isLong?: boolean } = {}): void {
    this.#step = text;
    if (this.#timer !== undefined && (isLong || this.#isDue())) this.#show();
  }

  /** Shows what a server reports about a call, at once. It can send anything in the place of a number. */
  report({ progress, total, message }: JsonObject): void {
    const done = String(progress);
    const count = typeof total === "number" ? `${done}/${total}` : done;
    this.step(typeof message === "string" ? `${count} ${message}` : count, { isLong: true });
  }

  /** Removes the line until its next frame, so that other lines can be printed. */
  clear(): void {
    if (this.#isShown) this.#context.stderr.write("\r\u001b[K");
    this.#isShown = false;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #isDue(): boolean {
    return this.#context.now() - this.#start >= delayMs;
  }

  #tick(): void {
    if (this.#isDue()) this.#show();
  }

  #show(): void {
    const { stderr, now } = this.#context;
    this.#frame = (this.#frame + 1) % frames.length;
    const seconds = Math.floor((now() - this.#start) / 1000);
    const elapsed = seconds < 1 ? "" : ` (${seconds} s)`;
    const step = this.#step === "" ? "" : `: ${safeLine(this.#step)}`;
    // A terminal with unknown width reports 0.
    const width = (stderr.columns || 80) - 1 - elapsed.length;
    const text = fitText(`${frames[this.#frame]} ${safeLine(this.#title())}${step}`, Math.max(1, width));
    this.clear();
    stderr.write(`${text}${elapsed}`);
    this.#isShown = true;
  }
}

/** Runs `work` with its progress shown, and removes the line before the result is used. */
export async function withProgress<T>(
  context: Pick<ProcessContext, "stderr" | "env" | "now">,
  title: string | (() => string),
  work: (progress: Progress) => T | Promise<T>,
): Promise<T> {
  using progress = new Progress(context, title);
  return await work(progress);
}
