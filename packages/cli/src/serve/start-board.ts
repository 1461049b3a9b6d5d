/**
 * Shows the start of the servers of `serve`. On a terminal, those that are starting are a block of lines at its end,
 * which is updated in place, and each server that is ready or has failed is printed above it. Elsewhere each change of
 * a state is one line, once, without control characters; a step that takes less than a second is none.
 */

import type { CliContext } from "../cli-context.ts";
import { fitStyled } from "../output/fit-styled.ts";
import { type Output, safeLine } from "../output/output.ts";
import { padText } from "../output/text-width.ts";
import { canShowLive } from "../watch/live-screen.ts";
import type { ListedSource } from "./listed-sources.ts";
import { type ServerColumns, serverColumns, serverLines } from "./serve-text.ts";
import { startingText } from "./starting-text.ts";

/** Rows of the block; more servers are counted. */
const rowsMaxCount = 8;
/** Milliseconds before the block, or the line of a step, is shown. */
const delayMs = 1000;
/** Milliseconds between two frames. */
const frameMs = 120;
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** Returns the seconds of a start, for people. */
function secondsOf(ms: number): string {
  return ms < 9950 ? (ms / 1000).toFixed(1) : String(Math.round(ms / 1000));
}

type BoardContext = Pick<CliContext, "output" | "stdout" | "now" | "env" | "outputClosed">;

/** The start of the servers of one gateway. Disposing removes the block. */
export class StartBoard implements Disposable {
  readonly #context: BoardContext;
  readonly #isLive: boolean;
  readonly #startedAt: number;
  readonly #columns: ServerColumns;
  readonly #settled = new Set<string>();
  readonly #failed = new Set<string>();
  /** The step of each server that was printed last, and since when it has the one that it is in. */
  readonly #steps = new Map<string, { text: string; since: number; isPrinted: boolean }>();
  #rows = 0;
  #frame = 0;
  #drawnAt = 0;

  /**
   * @param servers those of the gateway, before any is ready
   * @param startedAt when the command began, in milliseconds since the epoch
   */
  constructor(context: BoardContext, servers: readonly ListedSource[], startedAt: number) {
    this.#context = context;
    this.#isLive = canShowLive(context);
    this.#startedAt = startedAt;
    this.#columns = serverColumns(servers);
  }

  /** Whether the outcome of the start of a server is still to be printed. */
  willShow(id: string): boolean {
    return !this.#settled.has(id);
  }

  /** Shows what changed. */
  show(servers: readonly ListedSource[]): void {
    const { output } = this.#context;
    for (const server of servers) {
      if (server.health.state === "starting" || this.#settled.has(server.id)) continue;
      this.#settled.add(server.id);
      if (!isReady(server)) this.#failed.add(server.id);
      this.print(...serverLines(server, this.#columns, output));
    }
    const starting = servers.filter(({ id }) => !this.#settled.has(id));
    if (this.#isLive) this.#draw(starting);
    else for (const server of starting) this.#printStep(server);
  }

  /** Prints servers that had failed and are ready now. @returns whether there are others */
  showLate(servers: readonly ListedSource[]): boolean {
    for (const server of servers) {
      if (isReady(server) && this.#failed.delete(server.id))
        this.print(...serverLines(server, this.#columns, this.#context.output));
    }
    return this.#failed.size > 0;
  }

  /** Prints how many are ready, and which are not. */
  finish(servers: readonly ListedSource[]): void {
    if (servers.some(({ health }) => health.state !== "disabled"))
      this.print("", `  ${summaryOf(servers, this.#elapsedMs(), this.#context.output)}`);
  }

  /** Prints lines above the block. */
  print(...lines: readonly string[]): void {
    this.hide();
    this.#context.output.print(...lines);
  }

  /** Removes the block until its next frame, so that other lines can be written. */
  hide(): void {
    if (this.#rows === 0) return;
    const up = this.#rows === 1 ? "" : `\u001b[${this.#rows - 1}A`;
    this.#context.stdout.write(`\r${up}\u001b[J`);
    this.#rows = 0;
    this.#drawnAt = 0;
  }

  [Symbol.dispose](): void {
    this.hide();
  }

  #elapsedMs(): number {
    return this.#context.now() - this.#startedAt;
  }

  #draw(starting: readonly ListedSource[]): void {
    const { stdout, now, output, outputClosed } = this.#context;
    if (outputClosed.aborted) return;
    if (this.#elapsedMs() < delayMs || now() - this.#drawnAt < frameMs) return;
    this.hide();
    if (starting.length === 0) return;
    this.#frame = (this.#frame + 1) % frames.length;
    const mark = output.style("yellow", frames[this.#frame] ?? "");
    const seconds = output.style("dim", ` (${Math.floor(this.#elapsedMs() / 1000)} s)`);
    const isLong = starting.length > rowsMaxCount;
    const shown = isLong ? starting.slice(0, rowsMaxCount - 1) : starting;
    const lines = shown.map((server) => `${this.#lineOf(server, mark)}${seconds}`);
    if (isLong) lines.push(output.style("dim", `    and ${starting.length - shown.length} more`));
    // The last column stays empty: some terminals begin another line after it.
    stdout.write(lines.map((line) => fitStyled(line, (stdout.columns || 80) - 1)).join("\r\n"));
    this.#rows = lines.length;
    this.#drawnAt = now();
  }

  #lineOf({ id, transport, health }: ListedSource, mark: string): string {
    const { style } = this.#context.output;
    const kind = style("dim", padText(transport, this.#columns.transport));
    return `  ${mark} ${padText(safeLine(id), this.#columns.id)}  ${kind}  ${startingText(health)}`;
  }

  /** Prints the step that a server is in, without numbers, when it takes long. */
  #printStep(server: ListedSource): void {
    const now = this.#context.now();
    const { phase, fetchedBytes } = server.health;
    const health = { phase, fetchedBytes: fetchedBytes === undefined ? undefined : 0 };
    const text = startingText(health);
    const step = this.#steps.get(server.id);
    if (step?.text !== text) {
      this.#steps.set(server.id, { text, since: now, isPrinted: false });
    } else if (!step.isPrinted && now - step.since >= delayMs) {
      step.isPrinted = true;
      this.print(this.#lineOf({ ...server, health: { ...server.health, ...health } }, "…"));
    }
  }
}

function isReady({ health }: ListedSource): boolean {
  return ["ready", "idle", "disabled"].includes(health.state);
}

function kindOf(transport: string): string {
  return transport === "toolspec" || transport === "package" ? transport : "server";
}

function summaryOf(servers: readonly ListedSource[], ms: number, output: Output): string {
  // Those that the operator switched off are none.
  const wanted = servers.filter(({ health }) => health.state !== "disabled");
  const missing = wanted.filter((server) => !isReady(server));
  const isAll = missing.length === 0;
  const kinds = new Set(wanted.map(({ transport }) => kindOf(transport)));
  const noun = [...kinds].map((kind) => `${kind}${wanted.length === 1 ? "" : "s"}`).join(" and ");
  const text = `${wanted.length - missing.length} of ${wanted.length} ${noun} ready after ${secondsOf(ms)} s`;
  if (isAll) return output.style("green", text);
  const names = missing.map(({ id }) => safeLine(id)).join(", ");
  return `${output.style("yellow", text)}; not ready: ${names}`;
}
