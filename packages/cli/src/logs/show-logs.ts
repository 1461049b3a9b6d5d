/**
 * `toolcrib logs`: the standard error of servers, and the program log of the
 * gateway. Reads the files of the home, so it works with and without a gateway.
 * Lines are foreign text and made safe here.
 */

import { setTimeout as delay } from "node:timers/promises";
import { didYouMean, isCodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import { installedIds } from "../access/open-tool-access.ts";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toPrettyLine } from "../output/logger.ts";
import { safeLine, safeText } from "../output/output.ts";
import { padText, textWidth } from "../output/text-width.ts";
import { gatewayLog, type LogSource, listLogs, processLog } from "./log-files.ts";
import { LogTail } from "./log-tail.ts";

/** Options of the command. */
export interface LogsFlags {
  readonly follow: boolean;
  /** @default 100 for one log, 10 for each of all */
  readonly lines?: number;
}

/** Milliseconds between two readings with `--follow`. */
const pollMs = 250;
/** Lines of each log without `--lines`. */
const defaultLines = { one: 100, all: 10 };

/** Length of the time of a record for people, and the space after it. */
const shortTimeLength = 13;

/** Runs the command. */
export async function showLogs(
  context: CliContext,
  server: string | undefined,
  { follow, lines }: LogsFlags,
): Promise<ExitCode> {
  const { output, options } = context;
  const only = server === undefined ? undefined : await findLog(context, server);
  const sources = only === undefined ? listLogs(options.home) : [only];
  const printer = new LogPrinter(context, only === undefined, follow);
  using tails = new DisposableStack();
  const followed = new Map<string, { readonly source: LogSource; readonly tail: LogTail }>();
  const open = (source: LogSource) => {
    const tail = tails.use(new LogTail(source.path));
    followed.set(source.path, { source, tail });
    return tail;
  };
  const count = lines ?? (only === undefined ? defaultLines.all : defaultLines.one);
  printer.learn(sources);
  const last = sources.map((source) => ({ source, lines: open(source).last(count) }));
  for (const { source, line } of inOrder(last)) printer.print(source, [line]);
  printer.end();
  if (!follow) {
    if (printer.isEmpty && !output.isJson) output.note(emptyText(server, options.home));
    return exitCodes.done;
  }
  const ended = AbortSignal.any([context.signal, context.outputClosed]);
  while (!ended.aborted) {
    // An abort ends the delay.
    await delay(pollMs, undefined, { signal: ended }).catch(() => {});
    if (only === undefined) {
      const news = listLogs(options.home).filter(({ path }) => !followed.has(path));
      printer.learn(news);
      news.forEach(open);
    }
    for (const { source, tail } of followed.values()) printer.print(source, tail.read());
  }
  return exitCodes.done;
}

function emptyText(server: string | undefined, home: string): string {
  return server === undefined
    ? `Nothing is logged in ${safeLine(home)}`
    : `${safeLine(server)} has written nothing to its standard error`;
}

/** Returns the lines of logs in the order of their times. A line without a time follows the one before it. */
function inOrder(
  logs: readonly { readonly source: LogSource; readonly lines: readonly string[] }[],
): readonly { readonly source: LogSource; readonly line: string }[] {
  return logs
    .flatMap(({ source, lines }) => {
      let time = "";
      return lines.map((line) => {
        time = timeOf(source, line) ?? time;
        return { source, line, time };
      });
    })
    .sort((one, other) => (one.time < other.time ? -1 : one.time === other.time ? 0 : 1));
}

/** The time that a line begins with, as the launcher of processes writes it, or that of a record. */
function timeOf({ kind }: LogSource, line: string): string | undefined {
  const time = kind === "gateway" ? recordIn(line)?.["time"] : /^\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(line)?.[0];
  return typeof time === "string" ? time : undefined;
}

/** Prints lines of logs, with the name of the log where there are several. */
class LogPrinter {
  readonly #context: CliContext;
  readonly #isMerged: boolean;
  readonly #isEndless: boolean;
  readonly #collected: object[] = [];
  #width = 0;
  #count = 0;

  constructor(context: CliContext, isMerged: boolean, isEndless: boolean) {
    this.#context = context;
    this.#isMerged = isMerged;
    this.#isEndless = isEndless;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Makes room for the names of logs. */
  learn(sources: readonly LogSource[]): void {
    this.#width = Math.max(this.#width, ...sources.map(({ id }) => textWidth(safeLine(id))));
  }

  print(source: LogSource, lines: readonly string[]): void {
    const { output } = this.#context;
    this.#count += lines.length;
    const prefix = this.#isMerged
      ? `${output.style(source.kind === "gateway" ? "cyan" : "dim", padText(safeLine(source.id), this.#width))} | `
      : "";
    for (const line of lines) {
      if (output.isJson) this.#add(toJson(source, line));
      else output.print(...toText(source, line).map((text) => `${prefix}${text}`));
    }
  }

  /** Writes the JSON document, where the output has an end. */
  end(): void {
    if (!this.#isEndless) this.#context.output.json(this.#collected);
  }

  #add(value: object): void {
    if (this.#isEndless) this.#context.output.jsonLine(value);
    else this.#collected.push(value);
  }
}

function toText({ kind }: LogSource, line: string): readonly string[] {
  const record = kind === "gateway" ? recordIn(line) : undefined;
  if (record !== undefined) {
    const [first = "", ...more] = toPrettyLine(line).trimEnd().split("\n");
    // As in the logs of processes: a log is read days later.
    return [`${safeLine(String(record["time"]))} ${first.slice(shortTimeLength)}`, ...more];
  }
  return [safeText(line.replace(/\r$/, ""))];
}

function toJson({ kind, id }: LogSource, line: string): object {
  const record = kind === "gateway" ? recordIn(line) : undefined;
  return record === undefined ? { source: kind, id, line } : { ...record, source: kind };
}

/** The record of a line of the program log; undefined for a damaged line. */
function recordIn(line: string): JsonObject | undefined {
  try {
    const value = parseJson(line);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

/** Returns the log of a server or package, or the program log for `gateway`. @throws {CliError} `CLI_SERVER_NOT_FOUND` */
async function findLog(context: CliContext, id: string): Promise<LogSource> {
  const { home } = context.options;
  const existing = listLogs(home);
  const found =
    existing.find((source) => source.kind === "process" && source.id === id) ??
    existing.find((source) => source.id === id);
  if (found !== undefined) return found;
  const known = [...(await configuredIds(context)), ...(await installedIds(context))];
  if (known.includes(id)) return processLog(home, id);
  if (id === "gateway") return gatewayLog(home);
  const names = [...new Set([...known, ...existing.map((source) => source.id)])];
  throw new CliError("CLI_SERVER_NOT_FOUND", `No server has the id ${JSON.stringify(id)}, and no log`, {
    hint:
      didYouMean(id, names) ?? (names.length === 0 ? "see toolcrib status" : `there are ${names.join(", ")}`),
  });
}

/** The servers of the running gateway, or of the configuration; none where it cannot be read. */
async function configuredIds(context: CliContext): Promise<readonly string[]> {
  const [running] = findRunningGateways(context.options.home);
  const configFiles = running?.configFiles ?? context.options.configFiles;
  try {
    const { config } = await loadCliConfig({ ...context, options: { ...context.options, configFiles } });
    return config.toolServers.map(({ id }) => id);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [];
  }
}
