/**
 * Options of an echo server: its protocol versions, its capabilities, and its
 * misbehaviour at start. Options are for a server in this process, flags for one in
 * a child process. No I/O.
 */

import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { isJsonObject, type JsonObject } from "./json-rpc.ts";

/** A capability of a server, with its name in `initialize` and `server/discover`. */
export type EchoCapability = "tools" | "resources" | "prompts" | "logging" | "completions";

/** Options of an echo server. Every field has a default; the flag of a child process is in brackets. */
export interface EchoOptions {
  /** Name in `serverInfo` [`--name`]. @default "echo" */
  readonly name?: string;
  /** Text for the model [`--instructions`]. @default none */
  readonly instructions?: string;
  /** The newest supported protocol version; the older ones are supported too [`--protocol`]. @default "2025-11-25" */
  readonly protocol?: string;
  /** Supports no version but `protocol` [`--only`]. @default false */
  readonly only?: boolean;
  /** Its capabilities [`--capabilities tools,prompts`]. @default all */
  readonly capabilities?: readonly EchoCapability[];
  /** Its built-in tools [`--builtin echo,sleep`, `--builtin ""` for none]. @default all */
  readonly builtin?: readonly string[];
  /** Number of further tools `tool_0001`, `tool_0002`, …; each echoes `text` [`--tools`]. @default 0 */
  readonly tools?: number;
  /** Definitions of further tools; each returns its arguments as JSON text [`--define '[{"name": …}]'`]. @default none */
  readonly define?: readonly JsonObject[];
  /** Names of further prompts, without arguments [`--prompts a,b`]. @default none */
  readonly prompts?: readonly string[];
  /** Entries on each page of a list; 0 puts all on one page [`--page-size`]. @default 0 */
  readonly pageSize?: number;
  /** Always returns a next cursor, so that a list never ends [`--endless-cursor`]. @default false */
  readonly endlessCursor?: boolean;
  /** Never responds to `initialize` and `server/discover` [`--hang-initialize`]. @default false */
  readonly hangInitialize?: boolean;
}

/** The flags of `EchoOptions`, for `parseArgs`. */
export const echoFlags = {
  name: { type: "string" },
  instructions: { type: "string" },
  protocol: { type: "string" },
  only: { type: "boolean" },
  capabilities: { type: "string" },
  builtin: { type: "string" },
  tools: { type: "string" },
  define: { type: "string" },
  prompts: { type: "string" },
  "page-size": { type: "string" },
  "endless-cursor": { type: "boolean" },
  "hang-initialize": { type: "boolean" },
} as const satisfies ParseArgsOptionsConfig;

/** Parses the command line with `echoFlags` and the entry's own `flags`. Throws for unknown flags. */
export function parseEchoFlags<T extends ParseArgsOptionsConfig>(commandLine: readonly string[], flags: T) {
  return parseArgs({ args: [...commandLine], options: { ...echoFlags, ...flags } }).values;
}

/** Turns parsed flags into options. A missing flag stays undefined and gets its default. */
export function toEchoOptions(values: { readonly [flag: string]: unknown }): EchoOptions {
  return {
    name: textOf(values["name"]),
    instructions: textOf(values["instructions"]),
    protocol: textOf(values["protocol"]),
    only: values["only"] === true,
    capabilities: listOf(values["capabilities"]) as EchoCapability[] | undefined,
    builtin: listOf(values["builtin"]),
    tools: countOf(values["tools"]),
    define: definitionsOf(textOf(values["define"])),
    prompts: listOf(values["prompts"]),
    pageSize: countOf(values["page-size"]),
    endlessCursor: values["endless-cursor"] === true,
    hangInitialize: values["hang-initialize"] === true,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listOf(value: unknown): string[] | undefined {
  return textOf(value)
    ?.split(",")
    .filter((word) => word !== "");
}

function countOf(value: unknown): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function definitionsOf(json: string | undefined): JsonObject[] | undefined {
  if (json === undefined) return undefined;
  const value: unknown = JSON.parse(json);
  return (Array.isArray(value) ? value : [value]).filter(isJsonObject);
}
