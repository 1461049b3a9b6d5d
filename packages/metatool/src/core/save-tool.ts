/**
 * `save_tool`: reports every problem of a definition, or saves the tool and returns
 * its facts. The reach of the program is determined by the tools that its saver may
 * call. A later save that widens the reach must be approved.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { SavedTool, SavedToolDefinition } from "@toolcrib/store";
import {
  type CallContext,
  foldName,
  type Identity,
  identityKey,
  isOperator,
  type ToolResult,
} from "@toolcrib/tool";
import { MetatoolError } from "../metatool-error.ts";
import { analyseComposite, type CompositeAnalysis } from "../run/analyse/analyse-composite.ts";
import type { Reach } from "../run/analyse/reach.ts";
import type { Catalog, CatalogTool } from "../run/catalog.ts";
import { type CompositeCache, sourceNameOf } from "../run/composite-cache.ts";
import { toProblem } from "../run/composite-error.ts";
import { lintSavedTool } from "../saved/lint-saved-tool.ts";
import { approvedReachOf, saveApproved } from "./approved-reach.ts";
import { toErrorResponse, toJsonResult } from "./envelope.ts";
import { lintInputSchema } from "./lint-input-schema.ts";
import type { MetatoolDeps } from "./metatool.ts";
import { isListed, mayChange, notOwnerFinding, ownerOf, withOwner } from "./ownership.ts";
import { meaningOfName } from "./reserved-name.ts";
import { Assessment, factsToJson, type SavedEntry, toObjectSchema, toSavedId } from "./saved-entries.ts";
import { digestCode, growthOf, namesOf } from "./tool-facts.ts";

/** Maximum number of problems in one answer. */
const maxProblems = 50;

const takenName = "another tool or server has this name or a confusable one";

/** Saves tools, one at a time. */
export class ToolSaver {
  readonly #deps: MetatoolDeps;
  readonly #cache: CompositeCache;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: MetatoolDeps, cache: CompositeCache) {
    this.#deps = deps;
    this.#cache = cache;
  }

  /** Answers a call of `save_tool`. @throws {MetatoolError} when it cannot be written */
  save(args: JsonObject, context: CallContext): Promise<ToolResult> {
    const turn = this.#last.then(() => this.#save(args, context));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #save(args: JsonObject, context: CallContext): Promise<ToolResult> {
    const { saved, approvals, host } = this.#deps;
    const current = await saved.list();
    await approvals.refresh();
    const catalog = host.catalog(context.identity);
    const turn = this.#deps.turns?.start(identityKey(context.identity));
    if (turn !== undefined) await turn;
    const analysis = analyse(args, catalog, this.#cache);
    const problems = this.#problemsOf(args, current, analysis, context);
    const code = String(args["code"]);
    const warnings = warningsOf(analysis, String(args["name"]), code);
    if (problems.length > 0) return toErrorResponse(refusal(problems, warnings));
    const definition = args as unknown as SavedToolDefinition;
    const { name } = definition;
    const previous = current.find((tool) => tool.name === name);
    const { reach } = analysis as CompositeAnalysis;
    const before = previous === undefined ? approvals.current(name)?.reach : this.#approvedOf(previous);
    const growth = before === undefined ? [] : growthOf(reach, before);
    const after = growth.length === 0 ? reach : (before as Reach);
    const codeDigest = digestCode(code);
    const { description } = definition;
    const inputSchema = toObjectSchema(definition.inputSchema);
    let stored: SavedTool;
    try {
      const { issuer, subject } = context.identity;
      const result = await saveApproved(
        this.#deps,
        { name, description, inputSchema, code, toolcrib: withOwner(previous?.toolcrib, context.identity) },
        {
          reach,
          before,
          after,
          approvedBy: { issuer, subject },
          isByOperator: growth.length === 0 && isOperator(context.identity),
          ...(previous && { expectedModified: previous.metadata.modified }),
        },
      );
      stored = result.tool;
    } catch (error) {
      const found = problemsOfRefusal(error);
      if (found === undefined) throw error;
      return toErrorResponse(refusal(found));
    }
    this.#deps.onEvent({
      type: "tool.saved",
      tool: toSavedId(name),
      context,
      owner: ownerOf(stored.toolcrib),
      codeDigest,
      reach: namesOf(reach),
    });
    const assessment = new Assessment(this.#deps, saved.current());
    const entry = assessment.entryOf(stored);
    this.#reportGrowth(entry, context);
    return toJsonResult({
      name,
      status: previous === undefined ? "created" : "updated",
      ...factsToJson(entry),
      warnings,
    });
  }

  /** Returns the approved reach of a tool before it is replaced; for a pending tool, the reach from before it was pending. */
  #approvedOf(previous: SavedTool): Reach {
    const approved = approvedReachOf(previous, this.#deps.approvals);
    return approved ?? new Assessment(this.#deps, []).entryOf(previous).reach;
  }

  /** Records that a tool waits for the operator's approval. */
  #reportGrowth({ saved, growth }: SavedEntry, context: CallContext): void {
    if (growth.length === 0) return;
    this.#deps.onEvent({
      type: "approval.requested",
      tool: toSavedId(saved.name),
      context,
      owner: ownerOf(saved.toolcrib),
      codeDigest: digestCode(saved.code),
      reach: growth,
    });
  }

  #problemsOf(
    args: JsonObject,
    current: readonly SavedTool[],
    analysis: CompositeAnalysis | undefined,
    { identity }: CallContext,
  ): readonly JsonObject[] {
    const { name, inputSchema, code } = args;
    const findings: Diagnostic[] = [...lintSavedTool(args), ...lintUnknownFields(args)];
    const previous = current.find((tool) => tool.name === name);
    if (previous !== undefined && !mayChange(previous, identity)) {
      findings.push(notOwnerFinding(previous.name));
    }
    if (typeof name === "string" && previous === undefined) {
      findings.push(...this.#lintNewName(name, current, identity));
    }
    if (isJsonObject(inputSchema)) findings.push(...lintInputSchema(inputSchema, this.#deps.validator));
    const problems = findings.map(toFieldProblem);
    if (analysis === undefined || typeof code !== "string") return problems;
    const errors = analysis.diagnostics.filter(({ severity }) => severity === "error");
    return [...problems, ...errors.map((error) => codeProblem(error, name, code))];
  }

  /** Returns why a saved tool may not have `name`; `undefined` if it may. Names that `identity` cannot see are no reason. */
  #reasonAgainst(name: string, identity: Identity): string | undefined {
    const meaning = meaningOfName(name);
    if (meaning !== undefined) return meaning;
    if (name.includes("__")) return 'names with "__" are those of servers\' tools';
    const { host } = this.#deps;
    const fold = foldName(name);
    const isNamespace = ({ namespace }: CatalogTool) => namespace !== "" && foldName(namespace) === fold;
    return host.isNameTaken(name, identity) || host.catalog(identity).tools.some(isNamespace)
      ? takenName
      : undefined;
  }

  #lintNewName(name: string, current: readonly SavedTool[], identity: Identity): Diagnostic[] {
    const shown = JSON.stringify(name.slice(0, 80));
    const fold = foldName(name);
    const other = current.find((tool) => foldName(tool.name) === fold);
    if (other !== undefined) {
      const isShown = isListed(other, identity, this.#deps.approvals);
      const message = `Cannot save a tool as ${shown}: it is confusable with ${isShown ? `the saved tool "${other.name}"` : "another name"}`;
      const hint = isShown ? `use another name, or update "${other.name}"` : "use another name";
      return [{ severity: "error", code: "METATOOL_NAME_TAKEN", message, hint, path: "name" }];
    }
    const reason = this.#reasonAgainst(name, identity);
    if (reason === undefined) return [];
    const message = `Cannot save a tool as ${shown}: ${reason}`;
    const hint = "use a different name";
    return [{ severity: "error", code: "METATOOL_NAME_RESERVED", message, hint, path: "name" }];
  }
}

function analyse(
  { name, code, inputSchema }: JsonObject,
  catalog: Catalog,
  cache: CompositeCache,
): CompositeAnalysis | undefined {
  if (typeof code !== "string") return undefined;
  return analyseComposite(code, catalog, {
    name: typeof name === "string" ? name : undefined,
    inputSchema: isJsonObject(inputSchema) ? inputSchema : undefined,
    cache,
  });
}

const fields: readonly string[] = ["name", "description", "inputSchema", "code"];

function lintUnknownFields(args: JsonObject): Diagnostic[] {
  return Object.keys(args)
    .filter((field) => !fields.includes(field))
    .slice(0, maxProblems)
    .map((field) => ({
      severity: "error",
      code: "METATOOL_FIELD_INVALID",
      message: `Unknown field ${JSON.stringify(field.slice(0, 80))}; the fields are ${fields.join(", ")}`,
      path: field.slice(0, 80),
    }));
}

function toFieldProblem({ path, message, hint, code }: Diagnostic): JsonObject {
  return { path: path ?? "", message, code, ...(hint === undefined ? undefined : { hint }) };
}

function codeProblem(finding: Diagnostic, name: JsonValue | undefined, code: string): JsonObject {
  const source = { name: sourceNameOf(typeof name === "string" ? name : "tool"), text: code };
  return { path: "code", ...toProblem(finding, source) };
}

function warningsOf(
  analysis: CompositeAnalysis | undefined,
  name: string,
  code: string,
): readonly JsonObject[] {
  return (analysis?.diagnostics ?? [])
    .filter(({ severity }) => severity === "warning")
    .slice(0, maxProblems)
    .map((warning) => codeProblem(warning, name, code));
}

function refusal(problems: readonly JsonObject[], warnings: readonly JsonObject[] = []) {
  const [first] = problems;
  const place = first?.["line"] === undefined ? "" : ` (line ${first["line"]})`;
  const listed = `${first?.["message"]}${place}`;
  const message =
    problems.length === 1
      ? `The tool was not saved: ${listed}`
      : `The tool was not saved; it has ${problems.length} problems: ${listed}, …`;
  return {
    type: "validation_error",
    message,
    details: {
      problems: problems.slice(0, maxProblems),
      ...(warnings.length === 0 ? undefined : { warnings }),
    },
  } as const;
}

/** Returns the problems of a tool that the store refused; undefined for other errors. */
function problemsOfRefusal(error: unknown): readonly JsonObject[] | undefined {
  if (!(error instanceof MetatoolError) || !refusalCodes.has(error.code)) return undefined;
  const { code, message, hint } = error;
  return [{ path: "name", message, code, ...(hint === undefined ? undefined : { hint }) }];
}

const refusalCodes: ReadonlySet<string> = new Set([
  "METATOOL_NAME_TAKEN",
  "METATOOL_NAME_RESERVED",
  "METATOOL_TOO_MANY_TOOLS",
  "METATOOL_FILE_TOO_LARGE",
  "METATOOL_FILE_IN_THE_WAY",
  "METATOOL_CHANGED_MEANWHILE",
]);
