/** The checks of the values of a call against the schemas of its tool and against the limits. */

import { completedArguments, explainArguments, hiddenNames } from "@toolcrib/discovery";
import { isCoercible, isJsonObject, type JsonObject, jsonSize } from "@toolcrib/json";
import { isInputRequired, textResult } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import type { CallTarget } from "./call-target.ts";
import type { GovernedCallDeps } from "./governed-call-deps.ts";
import { shownId } from "./shown-id.ts";

/** Returns the arguments of a call, or undefined if `value` cannot be arguments; absent arguments are empty. */
export function toArguments(value: unknown): JsonObject | undefined {
  if (value === undefined) return {};
  return isJsonObject(value) ? value : undefined;
}

/** Returns the arguments of a call with those that the operator sets. @throws {GatewayError} for one that the client may not send */
export function withFixedArguments(
  { override, shownName, inputSchema }: Pick<CallTarget, "override" | "shownName" | "inputSchema">,
  args: JsonObject,
): JsonObject {
  if (override === undefined) return args;
  const completed = completedArguments(override, args, inputSchema);
  if ("args" in completed) return completed.args;
  const message = `"${shownName}" was not called: its argument "${completed.refused}" is set by the operator of the gateway`;
  throw new GatewayError("PARAMS_INVALID", message, { hint: "leave the argument out" });
}

/** Returns an error result that lists all problems, so that a model can correct the call; undefined if the arguments are valid. */
export function validateArguments(
  deps: GovernedCallDeps,
  target: CallTarget,
  args: JsonObject,
  callId: string,
): JsonObject | undefined {
  if (target.inputSchema === undefined) return undefined;
  const verdict = deps.validator.validateSupported(target.inputSchema, args);
  if (verdict.kind === "valid") return undefined;
  if (target.passesNulls && hasOnlyNullsMore(deps, target.inputSchema, args)) return undefined;
  if (target.coercesArguments && isCoercible(deps.validator, target.inputSchema, args)) return undefined;
  if (verdict.kind === "unusable") {
    deps.log.warn(
      { tool: shownId(deps, target), reason: verdict.reason },
      "input schema cannot be used; arguments pass unchecked",
    );
    return undefined;
  }
  const hidden = target.override === undefined ? [] : hiddenNames(target.override);
  const sent = Object.entries(args).filter(([name]) => !hidden.includes(name));
  const { shownName: tool, shownSchema: schema = target.inputSchema } = target;
  const { problems } = verdict;
  const call = { tool, schema, args: Object.fromEntries(sent), problems, hidden };
  return {
    ...textResult(explainArguments(call, deps.validator), true),
    _meta: { "toolcrib/code": "ARGUMENTS_INVALID", "toolcrib/callId": callId },
  } as JsonObject;
}

/** Whether arguments are valid without the `null` of those that are optional: many clients write it for "absent". */
function hasOnlyNullsMore({ validator }: GovernedCallDeps, schema: JsonObject, args: JsonObject): boolean {
  const { required } = schema;
  const isOptional = (name: string) => !(Array.isArray(required) && required.includes(name));
  const kept = Object.entries(args).filter(([name, value]) => value !== null || !isOptional(name));
  if (kept.length === Object.keys(args).length) return false;
  return validator.validateSupported(schema, Object.fromEntries(kept)).kind === "valid";
}

/** The size of a result. @throws {GatewayError} `RESULT_TOO_LARGE` */
export function limitResult({ limits }: GovernedCallDeps, result: JsonObject): number {
  const size = jsonSize(result, limits.resultMaxBytes);
  if (size <= limits.resultMaxBytes) return size;
  throw new GatewayError("RESULT_TOO_LARGE", `The result is larger than ${limits.resultMaxBytes} bytes`, {
    hint: "request less from the tool, or raise serve.limits.result_max_bytes",
  });
}

/** @throws {GatewayError} `RESULT_INVALID` */
export function validateResult(deps: GovernedCallDeps, target: CallTarget, result: JsonObject): void {
  const { outputSchema } = target;
  if (outputSchema === undefined || result["isError"] === true || isInputRequired(result)) return;
  const verdict = deps.validator.validateSupported(outputSchema, result["structuredContent"]);
  if (verdict.kind === "valid") return;
  if (verdict.kind === "unusable") {
    deps.log.warn(
      { tool: shownId(deps, target), reason: verdict.reason },
      "output schema cannot be used; results pass unchecked",
    );
    return;
  }
  const lines = verdict.problems.map(({ path, message }) => `- structuredContent${path} ${message}`);
  throw new GatewayError(
    "RESULT_INVALID",
    `The result of "${target.shownName}" does not match the tool's output schema:\n${lines.join("\n")}`,
    { hint: "report it to the operator of this server; the result was not passed on" },
  );
}
