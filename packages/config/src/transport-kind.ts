/**
 * Determines the transport kind of a map, or guesses the intended one. Reports a
 * missing or invalid kind in the words of the Declarative Tool Servers document.
 */

import { nearestName } from "@toolcrib/diagnostics";
import {
  type DocumentNode,
  entryOf,
  fieldOf,
  listOf,
  type MapEntry,
  type MapNode,
  type Place,
  reportAt,
  reportAtMap,
  stringOf,
} from "@toolcrib/document";
import { quote } from "./display-source.ts";

export const transportKinds = ["stdio", "sse", "streamable_http"] as const;
export type TransportKind = (typeof transportKinds)[number];

/** Names of the kinds in other programs. */
const transportKindAliases: { readonly [alias: string]: TransportKind } = {
  http: "streamable_http",
  https: "streamable_http",
  streamable: "streamable_http",
  streamablehttp: "streamable_http",
  http_stream: "streamable_http",
  http_streaming: "streamable_http",
  remote: "streamable_http",
  local: "stdio",
  command: "stdio",
  process: "stdio",
  subprocess: "stdio",
  stdin: "stdio",
  server_sent_events: "sse",
  http_sse: "sse",
  event_source: "sse",
};

const httpFields = [
  "url",
  "headers",
  "allow_http",
  "proxy",
  "ca_file",
  "client_certificate",
  "client_key",
  "protocol",
  "auth",
] as const;

/** The fields of each kind, without `kind`. */
export const fieldsOfKind: { readonly [K in TransportKind]: readonly string[] } = {
  stdio: ["command", "manifest", "args", "env", "cwd", "protocol"],
  sse: httpFields,
  streamable_http: httpFields,
};

/** Returns the kind; reports an invalid kind and returns the probably intended one. */
export function resolveKind(node: MapNode, place: Place): TransportKind | undefined {
  const entry = entryOf(node, "kind");
  const named = stringOf(entry?.value);
  const kind = transportKinds.find((one) => one === named);
  if (kind !== undefined) return kind;

  const other = entry === undefined ? entryOf(node, "type") : undefined;
  const written = named ?? stringOf(other?.value);
  const meant = written === undefined ? undefined : kindMeant(written);
  const guess = meant ?? kindByFields(node);
  const problem = {
    code: "CONFIG_TRANSPORT_KIND",
    message: `transport.kind missing or invalid: ${stateOfKind(entry, other)}, allowed are ${listOf(transportKinds)}`,
    hint: guess === undefined ? "add kind: stdio, or kind: streamable_http" : `write kind: ${guess}`,
  };
  if (entry !== undefined) reportAt(entry.value, { ...place, keySpan: entry.keySpan }, problem);
  else reportAtMap(node, place, other === undefined ? problem : { ...problem, span: other.keySpan });
  return guess;
}

function stateOfKind(entry: MapEntry | undefined, other: MapEntry | undefined): string {
  if (other !== undefined) return "the field is called kind, not type";
  if (entry === undefined) return "it is absent";
  if (entry.value.kind !== "scalar") return "it is not a word";
  return entry.value.text === "" ? "it is empty" : `it is ${quote(entry.value.text)}`;
}

/** Returns the kind for another program's word. */
export function kindMeant(written: string): TransportKind | undefined {
  const normal = written
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
  if (Object.hasOwn(transportKindAliases, normal)) return transportKindAliases[normal];
  const exact = transportKinds.find((kind) => kind === normal);
  const near = exact ?? nearestName(normal, transportKinds);
  return transportKinds.find((kind) => kind === near);
}

function kindByFields(node: MapNode): TransportKind | undefined {
  const has = (name: string): boolean => entryOf(node, name) !== undefined;
  if (fieldsOfKind.stdio.some(has)) return "stdio";
  return fieldsOfKind.streamable_http.some(has) ? "streamable_http" : undefined;
}

/** Returns `node` with the given kind, and without a `type` that stands for a missing `kind`. */
export function withKind(node: MapNode, kind: TransportKind): DocumentNode {
  if (stringOf(fieldOf(node, "kind")) === kind) return node;
  const entries = node.entries.filter(
    ({ key }) => key !== "kind" && (key !== "type" || entryOf(node, "kind") !== undefined),
  );
  const span = node.entries[0]?.keySpan ?? node.span;
  const kindEntry: MapEntry = {
    key: "kind",
    keySpan: span,
    value: { kind: "scalar", span, value: kind, text: kind, isPlain: true },
  };
  return { ...node, entries: [kindEntry, ...entries] };
}
