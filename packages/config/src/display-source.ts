/**
 * The text of a configuration as it may be shown: of the same length, so that
 * spans keep their meaning, with credentials starred out and control characters
 * replaced. Every diagnostic of a configuration points into such a text, never
 * into the original.
 */

import type { Source, Span } from "@toolcrib/diagnostics";
import { type DocumentNode, quote as quoteText, type ScalarNode, starOut } from "@toolcrib/document";
import {
  credentialStretches,
  isCredentialHeader,
  isCredentialVariable,
  looksLikeCredential,
  suspectedCredentials,
} from "./credential.ts";

/** `text` in quotes, harmless to a terminal and cut to a line; never a credential. */
export function quote(text: string): string {
  return looksLikeCredential(text) ? "(what looks like a secret)" : quoteText(text);
}

/** `source` as it may be shown. Without a `tree` (the text has syntax errors) it hides what it suspects. */
export function toDisplaySource(source: Source, tree: DocumentNode | undefined): Source {
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

/** What stands around a value: nothing special, the name of a credential, or a reference to a secret. */
type Surroundings = "plain" | "credential" | "reference";

/** Fields that hold names of secrets, not secrets. */
const referenceFields: ReadonlySet<string> = new Set(["env", "file", "store", "keychain"]);

function credentialSpans(tree: DocumentNode): Span[] {
  const hidden: Span[] = [];
  // Aliases share nodes; each is visited at most once for each kind of surroundings.
  const seen = {
    plain: new Set<DocumentNode>(),
    credential: new Set<DocumentNode>(),
    reference: new Set<DocumentNode>(),
  };

  function visit(node: DocumentNode, around: Surroundings): void {
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

function isHidden(node: ScalarNode, around: Surroundings): boolean {
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
