/**
 * Looks in the texts of a definition for what an attacker would write there: hidden characters,
 * instructions to the model, references to tools of other servers, names that resemble theirs, and
 * descriptions that grew ("tool poisoning"). The findings help the operator to read; they decide nothing, and a
 * definition without findings is not known to be harmless.
 *
 * Pure. The texts come from servers: the time is limited by the length that is read.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { foldName } from "@toolcrib/tool";
import { stripHidden } from "./hidden-text.ts";
import { modelSentences } from "./model-sentences.ts";

/** The kind of a finding. */
type DefinitionRule =
  | "hidden_text"
  | "instruction"
  | "other_tool"
  | "similar_name"
  | "longer_text"
  | "not_read";

/** A suspicious part of a text. */
export interface DefinitionFinding {
  readonly rule: DefinitionRule;
  /** Member of the definition, such as `inputSchema.properties.path.description`. */
  readonly path: string;
  /** The finding, for people. */
  readonly message: string;
  /** The part of the text. */
  readonly evidence: string;
}

/** A tool of another server. */
interface OtherTool {
  readonly server: string;
  /** The server's own name for it. */
  readonly name: string;
}

/** Characters of the texts of one definition that are read. */
const inspectedMaxLength = 65_536;
/** Findings of one definition. */
const findingsMaxCount = 20;
/** Characters of an excerpt, and before and after what was found. */
const evidenceMaxLength = 160;
const evidenceMargin = 30;
/** A text is longer than before from this factor and this number of characters on. */
const growthFactor = 2;
const growthMinLength = 200;

/** Patterns of texts that are unusual in the definition of a tool, with the message of each. */
const instructions = [...modelSentences, ["it holds a long encoded text", /[A-Za-z0-9+/_-]{160}/]] as const;

/** Names of tools of other servers, prepared for comparison. */
class OtherTools {
  /** By name, where a name is no ordinary word. */
  readonly #byName = new Map<string, OtherTool>();
  readonly #byFold = new Map<string, OtherTool>();

  constructor(tools: Iterable<OtherTool>) {
    for (const tool of tools) {
      if (/[_-]|[a-z][A-Z]/.test(tool.name) && tool.name.length > 5) this.#byName.set(tool.name, tool);
      const fold = foldName(tool.name);
      if (!this.#byFold.has(fold)) this.#byFold.set(fold, tool);
    }
  }

  /** Returns the first tool whose name is a word of `text`. @param own names that are not meant */
  mentionedIn(text: string, own: ReadonlySet<string>): OtherTool | undefined {
    for (const [word] of text.matchAll(/[A-Za-z][A-Za-z0-9_-]{3,80}/g)) {
      const name = word.replace(/^.*__/, "");
      if (!own.has(name) && this.#byName.has(name)) return this.#byName.get(name);
    }
    return undefined;
  }

  /** Returns a tool whose name differs from `name` and looks like it. */
  similarTo(name: string): OtherTool | undefined {
    const other = this.#byFold.get(foldName(name));
    return other?.name === name ? undefined : other;
  }
}

/**
 * Returns what is suspicious in one definition, in the order of its members.
 *
 * @param previous the accepted definition, for one that changed.
 */
export type InspectDefinition = (
  definition: JsonObject,
  previous: JsonObject | undefined,
) => readonly DefinitionFinding[];

/**
 * Creates the inspection of the definitions of one server.
 *
 * @param others tools of other servers.
 * @param own names of the tools of the server.
 */
export function createInspection(others: Iterable<OtherTool>, own: ReadonlySet<string>): InspectDefinition {
  const context = { others: new OtherTools(others), own };
  return (definition, previous) => inspectDefinition(definition, previous, context);
}

function inspectDefinition(
  definition: JsonObject,
  previous: JsonObject | undefined,
  { others, own }: Omit<TextContext, "before">,
): readonly DefinitionFinding[] {
  const findings: DefinitionFinding[] = [];
  const { name, inputSchema } = definition;
  // Only tools have an input schema: prompts and resources are not called by these names.
  const isNewTool = typeof name === "string" && inputSchema !== undefined && previous === undefined;
  const similar = isNewTool ? others.similarTo(name) : undefined;
  if (isNewTool && similar !== undefined) {
    const message = `its name looks like "${similar.name}" of the server "${similar.server}"`;
    findings.push({ rule: "similar_name", path: "name", message, evidence: name });
  }
  const before = new Map(previous === undefined ? [] : textsOf(previous));
  let left = inspectedMaxLength;
  for (const [path, text] of textsOf(definition)) {
    // What was accepted was looked at.
    if (before.get(path) === text) continue;
    if (findings.length >= findingsMaxCount) break;
    const read = text.slice(0, left);
    findings.push(...inspectText(path, read, { before: before.get(path), others, own }));
    left -= text.length;
    if (left >= 0) continue;
    const message = `only the first ${inspectedMaxLength} characters of its texts were inspected`;
    findings.push({ rule: "not_read", path, message, evidence: excerptAt(text, read.length, 1) });
    break;
  }
  return findings.slice(0, findingsMaxCount);
}

interface TextContext {
  readonly before: string | undefined;
  readonly others: OtherTools;
  readonly own: ReadonlySet<string>;
}

function inspectText(path: string, text: string, { before, others, own }: TextContext): DefinitionFinding[] {
  const findings: DefinitionFinding[] = [];
  const visible = stripHidden(text);
  if (visible !== text) {
    let at = 0;
    while (at < visible.length && visible[at] === text[at]) at += 1;
    const message = "it has characters that people do not see and models read";
    findings.push({ rule: "hidden_text", path, message, evidence: excerptAt(text, at, 1) });
  }
  const flat = visible.replace(/\s+/g, " ");
  for (const [message, pattern] of instructions) {
    const found = pattern.exec(flat);
    if (found === null) continue;
    const evidence = excerptAt(flat, found.index, found[0].length);
    findings.push({ rule: "instruction", path, message, evidence });
  }
  const other = others.mentionedIn(visible, own);
  if (other !== undefined) {
    const message = `it names "${other.name}", a tool of the server "${other.server}"`;
    const evidence = excerptAt(visible, visible.indexOf(other.name), other.name.length);
    findings.push({ rule: "other_tool", path, message, evidence });
  }
  const growth = before === undefined ? 0 : text.length - before.length;
  if (before !== undefined && growth >= growthMinLength && text.length >= before.length * growthFactor) {
    const message = `it has ${text.length} characters, and had ${before.length}`;
    findings.push({ rule: "longer_text", path, message, evidence: excerptAt(visible, 0, evidenceMaxLength) });
  }
  return findings;
}

/** The texts of a definition by their paths, names of members included: a model reads them too. */
function* textsOf(value: JsonValue | undefined, path = ""): Generator<readonly [string, string]> {
  if (typeof value === "string") yield [path, value];
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield* textsOf(item, `${path}.${at}`);
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      const at = path === "" ? key : `${path}.${key}`;
      if (key.length > 40 || stripHidden(key) !== key) yield [`${at} (its name)`, key];
      yield* textsOf(member, at);
    }
  }
}

function excerptAt(text: string, at: number, length: number): string {
  const start = Math.max(0, at - evidenceMargin);
  const end = Math.min(
    text.length,
    at + Math.min(length, evidenceMaxLength - 2 * evidenceMargin) + evidenceMargin,
  );
  return `${start === 0 ? "" : "…"}${text.slice(start, end)}${end === text.length ? "" : "…"}`;
}
