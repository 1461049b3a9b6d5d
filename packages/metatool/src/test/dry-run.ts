/**
 * Dry runs: a call of a saved tool whose inner calls get recorded replies and reach no
 * tool. A client requests it with `_meta` (`toolcrib/dryRun`), or with an argument
 * `dry_run` when the tool has no parameter of that name.
 */

import { isJsonObject, isSameJson, type JsonObject, type SchemaValidator } from "@toolcrib/json";
import type { SavedTool } from "@toolcrib/store";
import type { CallContext } from "@toolcrib/tool";
import type { ReplySource } from "../run/inner-calls.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import type { CompositeDeps } from "../run/run-composite.ts";
import { answers, explainUnmatched, noReply, RecordedReplies, toInnerReply } from "./recorded-replies.ts";
import { toRepliesDeps } from "./run-test-case.ts";
import { parseTestCases } from "./test-case.ts";

/** The key of `_meta` that requests a dry run with `true`. */
export const dryRunMetaKey = "toolcrib/dryRun";
/** The argument that requests a dry run. */
export const dryRunArgument = "dry_run";

/** The request, and the arguments without it. */
export interface DryRunRequest {
  readonly isDryRun: boolean;
  readonly args: JsonObject;
}

/**
 * Returns whether a call requests a dry run. The argument counts when it is `true` and
 * the schema of the tool neither names it nor allows members that it does not name.
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
  // These keywords may refer to it.
  return ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "unevaluatedProperties"].some(
    (keyword) => schema[keyword] !== undefined,
  );
}

/** The replies of a dry run. */
export interface DryRun {
  readonly replies: ReplySource;
  /** The recorded value of `time.now`, in nanoseconds since 1970; absent without a recording for these parameters. */
  readonly nowNs: bigint | undefined;
}

/** Dependencies of a dry run. */
export interface DryRunDeps extends Pick<CompositeDeps, "host" | "nextTurn"> {
  readonly validator: SchemaValidator;
}

/**
 * Prepares a dry run: the replies of the case with the same parameters come first, in
 * order; then those of all other cases, for calls with exactly the same arguments, any
 * number of times.
 *
 * @param params prepared arguments.
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
  const own = new RecordedReplies(same?.replies ?? [], toRepliesDeps(context, deps));
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
