/**
 * Runs an `http` endpoint: plans the request with a placeholder for each secret, sends it through the
 * egress, and maps the response as that of a toolspec. Accesses the network only through `send`.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { type CallContext, failedResult, type ToolResult } from "@toolcrib/tool";
import { type ExchangeDeps, exchange } from "@toolcrib/toolpack";
import { type FilledCredential, mapResponse } from "@toolcrib/toolspec";
import { type EndpointRunner, NotStarted } from "../endpoint-runner.ts";
import { type EndpointPlan, type HttpEndpoint, planEndpoint } from "./plan-endpoint.ts";

/** Dependencies of a runner of an `http` endpoint. */
export interface HttpRunnerDeps extends ExchangeDeps {
  /** Version of Toolcrib, for `User-Agent`. */
  readonly version: string;
  /** Returns the credentials with their placeholders. Called for each call. */
  credentials(): readonly FilledCredential[];
}

/** Errors in the arguments. They become results, since a model can correct its arguments. */
const argumentFaults: ReadonlySet<string> = new Set([
  "TOOLSPEC_ARGUMENT_INVALID",
  "TOOLSPEC_REQUEST_TOO_LARGE",
  "TOOLSPEC_VALUE_HOSTILE",
  "PACKAGE_INPUT_INVALID",
]);

/** Errors of a request of which nothing was sent. */
const unreachable: ReadonlySet<string> = new Set(["EGRESS_UNREACHABLE", "EGRESS_TLS_FAILED"]);

/** Creates the runner of `endpoint`. */
export function createHttpRunner(
  toolId: string,
  endpoint: HttpEndpoint,
  deps: HttpRunnerDeps,
): EndpointRunner {
  return {
    async run(args, context) {
      const { signal, callId, deadline } = context;
      const credentials = deps.credentials();
      const planned = tryPlan(() => plan(toolId, endpoint, args, { credentials, deps }), context);
      if (planned.kind === "refused") return planned.result;
      const { tool, ...request } = planned.plan;
      let isAnswered = false;
      const send: typeof deps.send = async (sent) => {
        const response = await deps.send(sent);
        isAnswered = true;
        return response;
      };
      try {
        const { response, refusal } = await exchange(
          {
            tool,
            plan: request,
            credentials,
            signal,
            deadline,
            callId,
            beforeRepeat: () => context.recheck?.(),
          },
          { ...deps, send },
        );
        const { result } = mapResponse(tool, response, { uri: `package:${toolId}` });
        if (refusal === undefined) return result;
        return { ...result, content: [...result.content, { type: "text", text: `[${refusal}]` }] };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        // After an answer, such as to a first attempt, the host may have done a part of the work.
        if (!isAnswered && isCodedError(error) && unreachable.has(error.code)) {
          throw new NotStarted(error.message, { hint: error.hint, cause: error });
        }
        throw error;
      }
    },
  };
}

function plan(
  toolId: string,
  endpoint: HttpEndpoint,
  args: JsonObject,
  { credentials, deps }: { readonly credentials: readonly FilledCredential[]; readonly deps: HttpRunnerDeps },
): EndpointPlan {
  return planEndpoint(endpoint, args, { toolId, credentials, userAgent: `toolcrib/${deps.version}` });
}

type Planned =
  | { readonly kind: "planned"; readonly plan: EndpointPlan }
  | { readonly kind: "refused"; readonly result: ToolResult };

/** @throws {CodedError} for an error that is not in the arguments */
function tryPlan(make: () => EndpointPlan, { callId }: CallContext): Planned {
  try {
    return { kind: "planned", plan: make() };
  } catch (error) {
    if (!isCodedError(error) || !argumentFaults.has(error.code)) throw error;
    return { kind: "refused", result: failedResult(error, callId) };
  }
}
