/**
 * Dry runs: a call of a saved tool that is answered from its recordings and
 * touches no other tool. It is asked for with `_meta` (`toolcrib/dryRun`), or
 * with an argument `dry_run` where the tool could not mean one of its own.
 */

import { isJsonObject, type JsonObject, type SchemaValidator } from "@toolcrib/json";
import type { CallContext } from "@toolcrib/tool";
import type { ReplySource } from "../run/inner-calls.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import type { CompositeDeps } from "../run/run-composite.ts";
import type { SavedTool } from "../saved/saved-tool.ts";
import { isSameJson } from "./differences.ts";
import {
  answers,
  createRecordedReplies,
  explainUnmatched,
  noReply,
  toInnerReply,
} from "./recorded-replies.ts";
import { toRepliesDeps } from "./run-test-case.ts";
import { parseTestCases } from "./test-case.ts";

/** The key of a request's `_meta` that asks for a dry run with `true`. */
export const dryRunMetaKey = "toolcrib/dryRun";
/** The argument that asks for one. */
export const dryRunArgument = "dry_run";

/** A call with what it asks for taken out. */
export interface DryRunRequest {
  readonly isDryRun: boolean;
  readonly args: JsonObject;
}

/**
 * Whether a call asks for a dry run. The argument counts when it is `true` and
 * the tool's schema neither names it nor says anything of members that it does
 * not name; then it is no argument of the tool's.
 */
export function takeDryRun(
  inputSchema: JsonObject,
  args: JsonObject,
  meta: JsonObject | undefined,
): DryRunRequest {
  const isAskedByMeta = meta?.[dryRunMetaKey] === true;
  const isAskedByArgument = args[dryRunArgument] === true && !couldHaveArgument(inputSchema);
  if (!isAskedByArgument) return { isDryRun: isAskedByMeta, args };
  const { [dryRunArgument]: _taken, ...own } = args;
  return { isDryRun: true, args: own };
}

function couldHaveArgument(schema: JsonObject): boolean {
  const { properties, additionalProperties, patternProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, dryRunArgument)) return true;
  if (patternProperties !== undefined) return true;
  if (additionalProperties !== undefined && additionalProperties !== false) return true;
  // What stands in these may name it.
  return ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "unevaluatedProperties"].some(
    (keyword) => schema[keyword] !== undefined,
  );
}

/** What answers the calls of a dry run. */
export interface DryRun {
  readonly replies: ReplySource;
  /** What `time.now` gave when the recording was made, in nanoseconds since 1970; absent without one for these parameters. */
  readonly nowNs: bigint | undefined;
}

/** What a dry run needs. */
export interface DryRunDeps extends Pick<CompositeDeps, "host" | "nextTurn"> {
  readonly validator: SchemaValidator;
}

/**
 * Prepare a dry run: replies of the case with the same parameters come first,
 * in their order; after them those of all other cases to calls with exactly the
 * same arguments, as often as they are asked for.
 *
 * @param params as the program gets them.
 */
export function createDryRun(
  tool: Pick<SavedTool, "inputSchema" | "toolcrib">,
  params: JsonObject,
  context: CallContext,
  deps: DryRunDeps,
): DryRun {
  const cases = parseTestCases(tool.toolcrib).value;
  const same = cases.find((one) => {
    const prepared = prepareArguments(deps.validator, tool.inputSchema, one.params);
    return prepared.kind === "valid" && isSameJson(prepared.params, params);
  });
  const others = cases.filter((one) => one !== same).flatMap(({ replies }) => replies);
  const own = createRecordedReplies(same?.replies ?? [], toRepliesDeps(context, deps));
  return {
    nowNs: same?.now === undefined ? undefined : BigInt(same.now),
    async replies(inner, args) {
      const before = own.unmatched.length;
      const reply = await own.source(inner, args);
      if (own.unmatched.length === before) return reply;
      const other = others.find((one) => one.params !== undefined && answers(one, inner, args));
      if (other !== undefined) return toInnerReply(other);
      if (cases.length === 0) return noReply(inner, "the tool has no tests; record one with test_saved_tool");
      const all = cases.flatMap(({ replies }) => replies);
      return noReply(inner, explainUnmatched(inner, args, all, []));
    },
  };
}
