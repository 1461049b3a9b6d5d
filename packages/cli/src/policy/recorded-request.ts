/**
 * A recorded call as a request for a decision: the facts that its record holds, and those that it does
 * not. The preview of the arguments leaves out credentials and long texts; where its digest is that of the
 * arguments, it holds all of them.
 */

import { argumentMaxLength, type OfflinePolicy } from "@toolcrib/cedar";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { PolicyRequest, PolicyTarget } from "@toolcrib/policy";
import { type AuditRecord, jsonDigest } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";

/** A record of a call that a policy decided about. */
export type DecidedRecord = AuditRecord<"call.intent" | "call.denied">;

/** The facts of a request that a record does not hold. */
export type UnknownFacts = Parameters<OfflinePolicy["decidePartially"]>[1];

/** A recorded call as a request. */
export interface RecordedRequest {
  readonly request: PolicyRequest;
  readonly unknown: UnknownFacts;
}

/** Marks of what a preview leaves out. */
const leftOut = /…|\[redacted\]|\[secret /;
/** The end of a text that was shortened, with its length. */
const shortenedText = /… \((\d+) characters\)$/;

/** Returns the request. @param parentTool id of the tool that made the call; `undefined` where it is not known */
export function recordedRequest(
  { type, data, time }: DecidedRecord,
  target: PolicyTarget,
  parentTool: string | undefined,
): RecordedRequest {
  const { client, depth, argumentsDigest, preview } = data;
  const { issuer = "", subject = client.name, name } = client;
  const identity: Identity = { issuer, subject, name, roles: [] };
  const args = argumentsIn(preview, argumentsDigest);
  const { labels = [], seenLabels = [] } = type === "call.intent" ? (data as LabelledIntent) : {};
  const parent = depth === 0 ? "" : parentTool;
  const call = {
    args: args.known,
    depth,
    parentTool: parent ?? "",
    era: "modern" as const,
    now: Date.parse(time),
    labels,
    seenLabels,
  };
  const context = [
    "era" as const,
    ...(parent === undefined ? (["parent"] as const) : []),
    // A denial does not record them.
    ...(type === "call.denied" ? (["labels", "seen_labels"] as const) : []),
  ];
  return {
    request: { identity, action: "call", target, call },
    unknown: { ...args.unknown, context: new Set(context) },
  };
}

interface LabelledIntent {
  readonly labels?: readonly string[];
  readonly seenLabels?: readonly string[];
}

/** The arguments that are known, and which are not. */
interface RecordedArguments {
  readonly known: JsonObject;
  readonly unknown: Pick<UnknownFacts, "hasUnknown" | "isUnknown" | "isText">;
}

function argumentsIn(preview: JsonValue | undefined, digest: string | undefined): RecordedArguments {
  const shown = isJsonObject(preview) ? preview : undefined;
  const whole = shown ?? {};
  if (digest === jsonDigest(whole)) {
    const none = { hasUnknown: false, isUnknown: () => false, isText: () => false };
    return { known: whole, unknown: none };
  }
  if (shown === undefined) {
    return { known: {}, unknown: { hasUnknown: true, isUnknown: () => true, isText: () => false } };
  }
  const entries = Object.entries(shown);
  const isWhole = (value: JsonValue | undefined) => typeof value !== "object" && !leftOut.test(String(value));
  const known = Object.fromEntries(entries.filter(([, value]) => value === null || isWhole(value)));
  // Names are shortened and cleaned like texts: after one of these, any other name can be missing.
  const hasOthers = entries.some(([name]) => leftOut.test(name));
  const isUnknown = (name: string) =>
    !Object.hasOwn(known, name) && (hasOthers || Object.hasOwn(shown, name));
  const isText = (name: string) => {
    const length = Object.hasOwn(shown, name) ? shortenedText.exec(String(shown[name]))?.[1] : undefined;
    return length !== undefined && Number(length) <= argumentMaxLength;
  };
  return { known, unknown: { hasUnknown: true, isUnknown, isText } };
}
