/**
 * What an echo server is like: which protocol it speaks, what it offers, how
 * it misbehaves from the start. Options for one in this process, flags for
 * one in a child process. No I/O.
 */

import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { isJsonObject, type JsonObject } from "./json-rpc.ts";

/** A capability of a server, as `initialize` and `server/discover` name it. */
export type EchoCapability = "tools" | "resources" | "prompts" | "logging" | "completions";

/** How an echo server behaves. Every field has a default; the flag of a child process is in brackets. */
export interface EchoOptions {
  /** The server's name in `serverInfo` [`--name`]. @default "echo" */
  readonly name?: string;
  /** Text for the model [`--instructions`]. @default none */
  readonly instructions?: string;
  /** The newest protocol version it speaks; it speaks the older ones too [`--protocol`]. @default "2025-11-25" */
  readonly protocol?: string;
  /** Speak no version but `protocol` [`--only`]. @default false */
  readonly only?: boolean;
  /** What it offers [`--capabilities tools,prompts`]. @default everything */
  readonly capabilities?: readonly EchoCapability[];
  /** Which of its built-in tools it has [`--builtin echo,sleep`, `--builtin ""` for none]. @default all */
  readonly builtin?: readonly string[];
  /** How many further tools `tool_0001`, `tool_0002`, … it has; each echoes `text` [`--tools`]. @default 0 */
  readonly tools?: number;
  /** Definitions of further tools; each returns its arguments as JSON text [`--define '[{"name": …}]'`]. @default none */
  readonly define?: readonly JsonObject[];
  /** Names of further prompts, without arguments [`--prompts a,b`]. @default none */
  readonly prompts?: readonly string[];
  /** Entries a page of a list; 0 puts all on one page [`--page-size`]. @default 0 */
  readonly pageSize?: number;
  /** Always give a next cursor, so that a list never ends [`--endless-cursor`]. @default false */
  readonly endlessCursor?: boolean;
  /** Never answer `initialize` or `server/discover` [`--hang-initialize`]. @default false */
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

/** What the command line says, parsed with `echoFlags` and an entry's own `flags`; unknown flags throw. */
export function parseEchoFlags<T extends ParseArgsOptionsConfig>(commandLine: readonly string[], flags: T) {
  return parseArgs({ args: [...commandLine], options: { ...echoFlags, ...flags } }).values;
}

/** Echo options from parsed flags; what was not given stays undefined and takes its default. */
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
