/** The findings of a verification, and what identifies each: an operator accepts exactly what was found, and nothing that comes after it. */

import { hash } from "node:crypto";
import { canonicalJson, type JsonValue } from "@toolcrib/json";
import type { AuditAccepted } from "./audit-event.ts";
import { toSignedBytes } from "./home-file.ts";
import { isSignature, type SigningKey, signBytes } from "./signing-key.ts";

/** A place at which the trail is not as it was written. */
export interface TrailFinding {
  /**
   * `changed`: this line or the one before it. `missing`: records before this line. `moved`: the line is not in its
   * place, or was inserted. `unreadable`: the line is not a record, or the file is no regular one. `unchained`: the line
   * has no hash, although earlier lines have one. `cut_off`: records are missing at the end. `head`: the signed head of
   * a writer is missing or not valid. `writers`: so is the signed list of writers, or an earlier one was put back, or a writer
   * is missing in it. `key`: the key is missing, unreadable or another one. `unsigned`: records of more than two minutes, or
   * of another run than the one of the signed end, were never signed, or records follow an end that a shutdown signed.
   * `damaged`: a start found one of these, and went on. `anchor`: the trail is not the one of an anchor. `proof`: the proof
   * of an export as a whole is not signed with its key. `writers`: more than a home can have.
   */
  readonly kind:
    | "changed"
    | "missing"
    | "moved"
    | "unreadable"
    | "unchained"
    | "cut_off"
    | "head"
    | "writers"
    | "key"
    | "unsigned"
    | "damaged"
    | "anchor"
    | "proof";
  /** File name of the segment, or the path of the export; empty for a writer without one and for the home. For `anchor`, the path of the anchor file. */
  readonly segment: string;
  /** From 1; 0 for the whole file. */
  readonly line: number;
  readonly message: string;
  /** Digest of everything that identifies it: a finding with another id is another one. */
  readonly id: string;
}

/** An accepted finding. */
export interface AcceptedFinding extends TrailFinding {
  readonly reason: string;
  /** When it was accepted, RFC 3339. */
  readonly time: string;
}

/** Returns a finding. @param facts what identifies it, with hashes of the content where there are some. */
export function toFinding(
  kind: TrailFinding["kind"],
  place: { readonly segment: string; readonly line: number },
  message: string,
  facts: { readonly [name: string]: JsonValue },
): TrailFinding {
  const id = hash("sha256", canonicalJson({ kind, ...facts }), "hex");
  return { kind, segment: place.segment, line: place.line, message, id };
}

/** Signs an acceptance: a record of one that somebody else wrote does not count. */
export function signAccepted(key: SigningKey, accepted: Omit<AuditAccepted, "signature">): AuditAccepted {
  return { ...accepted, signature: signBytes(key, toBytes(accepted)) };
}

/** Returns the acceptance in the data of a record; `undefined` for one that is not signed with the key of the home. @param key of the home */
export function toAccepted(
  data: unknown,
  key: Pick<SigningKey, "publicKey"> | undefined,
): AuditAccepted | undefined {
  const { signature, ...accepted } = data as Partial<AuditAccepted>;
  const { findings, reason } = accepted;
  if (key === undefined || typeof signature !== "string" || typeof reason !== "string") return undefined;
  // The key can be that of a forger, in the proof of an export.
  if (!Array.isArray(findings) || !findings.every((one) => typeof one?.id === "string")) return undefined;
  try {
    if (!isSignature(key.publicKey, toBytes(accepted), signature)) return undefined;
  } catch {
    // A value that has no canonical form was not signed.
    return undefined;
  }
  return data as AuditAccepted;
}

function toBytes(accepted: object): Buffer {
  return toSignedBytes({ ...accepted, type: "audit.accepted" } as unknown as JsonValue);
}
