/**
 * The displayable text of a configuration. It has the same length as the
 * original, so that spans stay valid; stars replace credentials, and control
 * characters are replaced. Every diagnostic of a configuration points into such
 * a text, never into the original.
 */

import type { Source, Span } from "@toolcrib/diagnostics";
import { type DocumentNode, quote as quoteText, type ScalarNode, starOut } from "@toolcrib/document";
import {
  credentialRanges,
  isCredentialHeader,
  isCredentialVariable,
  looksLikeCredential,
  secretVerdict,
  suspectedCredentials,
} from "@toolcrib/redaction";
import { credentialArguments } from "./credential-arguments.ts";
import { judgeArguments } from "./judge-arguments.ts";

/** Returns `text` in quotes, harmless to a terminal and cut to one line; never a credential. */
export function quote(text: string): string {
  return looksLikeCredential(text) ? "(possible secret)" : quoteText(text);
}

/** Returns the displayable `source`. Without a `tree` (the text has syntax errors) it hides suspected credentials. */
export function toDisplaySource(source: Source, tree: DocumentNode | undefined): Source {
  const hidden: Span[] = tree === undefined ? suspectedCredentials(source.text) : [];
  if (tree !== undefined) {
    hidden.push(...credentialRanges(source.text));
    hidden.push(...credentialSpans(tree));
  }
  return { name: source.name, text: harmless(starOut(source.text, hidden)) };
}

/** Replaces each control character (except tab and line breaks) and each direction override with U+FFFD. */
function harmless(text: string): string {
  return text.replace(
    /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    "\ufffd",
  );
}

/** Context of a value: no special field, a field named like a credential, or a reference to a secret. */
type ValueContext = "plain" | "credential" | "reference";

/** Fields whose values are names of secrets. */
const referenceFields: ReadonlySet<string> = new Set(["env", "file", "store", "keychain"]);

function credentialSpans(tree: DocumentNode): Span[] {
  const hidden: Span[] = [];
  // Aliases share nodes; each node is visited at most once in each context.
  const seen = {
    plain: new Set<DocumentNode>(),
    credential: new Set<DocumentNode>(),
    reference: new Set<DocumentNode>(),
  };

  function visit(node: DocumentNode, context: ValueContext): void {
    if (seen[context].has(node)) return;
    seen[context].add(node);
    if (node.kind === "list") {
      const named = credentialArguments(node.items.map(textOf));
      for (const [index, item] of node.items.entries()) {
        if (named.has(index)) hidden.push(item.span);
        else visit(item, context);
      }
    } else if (node.kind === "map") {
      const { entries } = node;
      for (const { key, keySpan, value } of entries) {
        if (looksLikeCredential(key)) hidden.push(keySpan);
        const isText = value.kind === "scalar" && typeof value.value === "string";
        if (isText && isSecretSetting(key, value.text)) hidden.push(value.span);
        if (key === "args" && value.kind === "list") {
          const program = entries.find((entry) => entry.key === "command")?.value;
          const { secrets } = judgeArguments(
            program === undefined ? "" : (textOf(program) ?? ""),
            value.items.map(textOf),
          );
          hidden.push(...[...secrets].map((at) => value.items[at]!.span));
        }
        visit(value, contextOf(key, context));
      }
    } else if (isHidden(node, context)) {
      hidden.push(node.span);
    }
  }

  visit(tree, "plain");
  return hidden;
}

/** Whether a text is a secret by its name and value. Texts of people, such as descriptions, are judged by their known forms alone. */
function isSecretSetting(name: string, value: string): boolean {
  if (name === "url" && !isVariable(value)) return isSecretEndpoint(value);
  return (
    /^[A-Z][A-Z0-9_]*$/.test(name) &&
    !isVariable(value) &&
    secretVerdict("variable", name, value) === "likely"
  );
}

/** Whether a URL may be a secret. A user name in it has a finding of its own, and is hidden alone. */
export function isSecretEndpoint(value: string): boolean {
  return (
    secretVerdict("url", "", value.replace(/^([a-z][a-z0-9+.-]{0,40}:\/\/)[^/?#@]*@/i, "$1")) === "likely"
  );
}

/** Returns the text of a scalar that is not null. */
export function textOf(node: DocumentNode): string | undefined {
  return node.kind === "scalar" && node.value !== null ? node.text : undefined;
}

function contextOf(key: string, context: ValueContext): ValueContext {
  if (key === "secret_key_ref" || (context === "reference" && referenceFields.has(key))) return "reference";
  if (context === "credential" && key === "prefix") return "plain";
  const isNamed = isCredentialHeader(key) || isCredentialVariable(key, "display");
  return context !== "plain" || isNamed ? "credential" : "plain";
}

function isHidden(node: ScalarNode, context: ValueContext): boolean {
  if (looksLikeCredential(node.text)) return !isVariable(node.text);
  if (context === "plain" || node.value === null || typeof node.value === "boolean") return false;
  // A text that is not a name may be a secret written in place of its name.
  if (context === "reference") return !/^[\w.~/\\:-]*$/.test(node.text);
  return !isVariable(node.text);
}

/** Whether a text consists of variables only, such as `Bearer ${TOKEN}`, and so contains no secret. */
function isVariable(text: string): boolean {
  return /^\s*(?:[A-Za-z]+\s+)?(?:\$\{[\w:.-]{0,200}\}\s*){1,20}$/.test(text) && !text.includes(":-");
}
