/**
 * The text of a configuration as it may be shown: of the same length, so that
 * spans keep their meaning, with credentials starred out and control characters
 * replaced. Every diagnostic of a configuration points into such a text, never
 * into the original.
 */

import type { Source, Span } from "@toolcrib/diagnostics";
import type { ConfigNode, ConfigScalar } from "./config-tree.ts";
import {
  credentialStretches,
  isCredentialHeader,
  isCredentialVariable,
  looksLikeCredential,
  suspectedCredentials,
} from "./credential.ts";

/** `source` as it may be shown. Without a `tree` (the text has syntax errors) it hides what it suspects. */
export function toDisplaySource(source: Source, tree: ConfigNode | undefined): Source {
  const hidden: Span[] = tree === undefined ? suspectedCredentials(source.text) : [];
  if (tree !== undefined) {
    hidden.push(...credentialStretches(source.text));
    hidden.push(...credentialSpans(tree));
  }
  return { name: source.name, text: harmless(starOut(source.text, hidden)) };
}

/** Control characters (but tab and line breaks) and direction overrides, each as one replacement character. */
function harmless(text: string): string {
  return text.replace(
    /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    "\ufffd",
  );
}

function starOut(text: string, spans: readonly Span[]): string {
  const sorted = [...spans].sort((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let at = 0;
  for (const span of sorted) {
    if (span.end <= at) continue;
    const start = Math.max(span.start, at);
    pieces.push(text.slice(at, start), text.slice(start, span.end).replace(/[^\r\n]/g, "*"));
    at = span.end;
  }
  pieces.push(text.slice(at));
  return pieces.join("");
}

/** What stands around a value: nothing special, the name of a credential, or a reference to a secret. */
type Surroundings = "plain" | "credential" | "reference";

/** Fields that hold names of secrets, not secrets. */
const referenceFields: ReadonlySet<string> = new Set(["env", "file", "store", "keychain"]);

function credentialSpans(tree: ConfigNode): Span[] {
  const hidden: Span[] = [];
  // Aliases share nodes; each is visited at most once for each kind of surroundings.
  const seen = {
    plain: new Set<ConfigNode>(),
    credential: new Set<ConfigNode>(),
    reference: new Set<ConfigNode>(),
  };

  function visit(node: ConfigNode, around: Surroundings): void {
    if (seen[around].has(node)) return;
    seen[around].add(node);
    if (node.kind === "list") {
      for (const item of node.items) visit(item, around);
    } else if (node.kind === "map") {
      for (const { key, keySpan, value } of node.entries) {
        if (looksLikeCredential(key)) hidden.push(keySpan);
        visit(value, surroundingsOf(key, around));
      }
    } else if (isHidden(node, around)) {
      hidden.push(node.span);
    }
  }

  visit(tree, "plain");
  return hidden;
}

function surroundingsOf(key: string, around: Surroundings): Surroundings {
  if (key === "secret_key_ref" || (around === "reference" && referenceFields.has(key))) return "reference";
  if (around === "credential" && key === "prefix") return "plain";
  return around !== "plain" || isCredentialHeader(key) || isCredentialVariable(key) ? "credential" : "plain";
}

function isHidden(node: ConfigScalar, around: Surroundings): boolean {
  if (looksLikeCredential(node.text)) return !isVariable(node.text);
  if (around === "plain" || node.value === null || typeof node.value === "boolean") return false;
  // What is no name may be a secret that was written in place of one.
  if (around === "reference") return !/^[\w.~/\\:-]*$/.test(node.text);
  return !isVariable(node.text);
}

/** Whether a text is nothing but variables, such as `Bearer ${TOKEN}`, which hides nothing. */
function isVariable(text: string): boolean {
  return /^\s*(?:[A-Za-z]+\s+)?(?:\$\{[\w:.-]{0,200}\}\s*){1,20}$/.test(text) && !text.includes(":-");
}
