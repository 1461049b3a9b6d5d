/** The meta-tools of a gateway: what they do is what the client could do itself. */

import { isCodedError } from "@toolcrib/diagnostics";
import { type ClientTools, type LongResults, MetaSource, signatureOf } from "@toolcrib/discovery";
import type { ToolIndex } from "@toolcrib/inventory";
import { isJsonObject, type JsonObject, type JsonValue, type SchemaValidator } from "@toolcrib/json";
import type { SecretScrubber } from "@toolcrib/redaction";
import {
  type CallContext,
  type Identity,
  isOperator,
  metaToolNames,
  ownNamespace,
  type ToolResult,
  toToolId,
} from "@toolcrib/tool";
import type { CallTarget } from "../call/call-target.ts";
import type { CallTargets } from "../call/call-targets.ts";
import type { GatewayCoreDeps } from "../core-config.ts";
import type { ToolHit } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import { withDeclared } from "../tool-summary.ts";
import type { UnknownTools } from "./unknown-tool.ts";

/** The meaning of a query. */
export type SearchMeaning = NonNullable<Parameters<ClientTools["search"]>[3]>;

/** Dependencies of the meta-tools. */
export interface MetaToolsDeps
  extends Pick<
    ConstructorParameters<typeof MetaSource>[0],
    "untilListed" | "waiting" | "approveCommand" | "now"
  > {
  readonly index: ToolIndex;
  readonly tools: ClientTools;
  readonly unknownTools: Pick<UnknownTools, "errorFor">;
  readonly results: LongResults;
  readonly scrubber: SecretScrubber;
  /** Observes searches. */
  readonly learning: GatewayCoreDeps["learning"];
  readonly meaningOf: (
    identity: Identity,
    query: string,
  ) => SearchMeaning | undefined | Promise<SearchMeaning | undefined>;
  readonly callInner: (
    context: CallContext,
    name: string,
    args: JsonObject,
    isDirect: boolean,
  ) => Promise<ToolResult>;
}

/** Creates the source of the meta-tools. */
export function createMetaSource(deps: MetaToolsDeps): MetaSource {
  const { index, tools, unknownTools, results, scrubber, learning, callInner } = deps;
  return new MetaSource({
    ...deps,
    cutsResults: tools.cutsResults,
    async search(context, query, limit) {
      const { identity } = context;
      const found = tools.search(identity, query, limit, await deps.meaningOf(identity, query));
      const ids = found.map(({ entry }) => entry.id);
      learning?.searched(context, query, ids);
      return found.map((one) => ({
        ...toHit(one, scrubber, false),
        signature: scrubber.text(signatureOf(one.entry.wireDefinition)),
      }));
    },
    describe(identity, name) {
      const entry = tools.find(identity, name);
      if (entry === undefined) throw unknownTools.errorFor(identity, name);
      if (!tools.isHidden(entry)) return withDeclared(entry.wireDefinition, entry);
      throw new GatewayError("TOOL_UNAVAILABLE", `The tool "${entry.listedName}" is hidden`, {
        hint: "it is not listed or described (serve.tools.hidden); it can be called by its name",
      });
    },
    // To the caller, tools that it does not find do not exist.
    async callTool(context, name, args) {
      const { identity } = context;
      const unknown = () => unknownTools.errorFor(identity, name);
      const entry = index.find(name);
      if (entry !== undefined && (await index.listedFor(identity, entry)) === undefined) throw unknown();
      // It is the client's own call, unless a composite called this tool.
      return callInner(context, name, args, context.depth === 0).catch((error: unknown) => {
        const code = isCodedError(error) ? error.code : "";
        const isDenied = code === "POLICY_DENIED" || code === "POLICY_UNAVAILABLE";
        const isHidden = isDenied && tools.find(identity, name) === undefined;
        throw isHidden && !isOperator(identity) ? unknown() : error;
      });
    },
    readMore({ identity }, cursor) {
      const budget = tools.settingsOf(identity).resultTokenBudget;
      return results.read(identity, cursor, budget, (id) => tools.find(identity, id) !== undefined);
    },
  });
}

/** A result of a search, without secrets. @param explains whether it has the parts of its score */
export function toHit(
  { entry, score, why, ranks }: ReturnType<ClientTools["search"]>[number],
  scrubber: SecretScrubber,
  explains: boolean,
): ToolHit {
  return {
    id: entry.id,
    name: entry.listedName,
    score: ranks === undefined ? Math.round(score * 1000) / 1000 : Math.round(score * 1e6) / 1e6,
    why: [
      ...why.map(({ word, field }) => `${word} in ${field}`),
      ...(ranks?.meaning === undefined ? [] : [`rank ${ranks.meaning} by meaning`]),
    ],
    ...(explains ? { parts: why, ranks } : undefined),
    description: scrubber.value(entry.shownDefinition.description),
  };
}

/** Dependencies of `cutResult`. */
interface CutDeps extends Pick<MetaToolsDeps, "index" | "tools" | "results"> {
  readonly targets: Pick<CallTargets, "forTool">;
  readonly validator: Pick<SchemaValidator, "validateSupported">;
}

/** Returns the first part of the result of a client's call, where it is longer than the budget of its endpoint or tool. */
export function cutResult(
  { index, tools, results, targets, validator }: CutDeps,
  identity: Identity,
  called: CallTarget,
  args: JsonObject,
  result: JsonObject,
): JsonObject {
  const { resultTokenBudget } = tools.settingsOf(identity);
  if (resultTokenBudget === 0) return result;
  // The result of `call_tool` is that of the tool that it calls.
  const { id: tool, override } = innermost(called, args, ({ name }) => {
    const inner = index.find(String(name));
    return inner === undefined ? undefined : targets.forTool(inner);
  });
  const budget = override?.resultTokenBudget ?? resultTokenBudget;
  if (budget === 0 || tool === readMoreId) return result;
  // A client checks the result against the schema of the tool that it called.
  const { outputSchema: schema } = called;
  const isValid = (structured: JsonValue) =>
    schema === undefined || validator.validateSupported(schema, structured).kind !== "invalid";
  const output = schema === undefined ? undefined : { schema, isValid };
  return results.cut(identity, result as unknown as ToolResult, { tool, budget, output }) as JsonObject;
}

/** The tool that a client reaches with `call_tool`, which can call itself. @param calledBy finds the tool that arguments of it name */
function innermost(
  called: CallTarget,
  args: JsonObject,
  calledBy: (args: JsonObject) => CallTarget | undefined,
): CallTarget {
  let target = called;
  for (
    let given: unknown = args;
    target.id === callToolId && isJsonObject(given);
    given = given["arguments"]
  ) {
    const inner = calledBy(given);
    if (inner === undefined) break;
    target = inner;
  }
  return target;
}

const callToolId = toToolId(ownNamespace, metaToolNames.call);
const readMoreId = toToolId(ownNamespace, metaToolNames.readMore);
