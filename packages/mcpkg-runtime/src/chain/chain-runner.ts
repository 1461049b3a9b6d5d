/**
 * Runs a chain (MCPKG document, section 11.3): one call after the other, each with arguments from
 * the input and from the results of earlier steps. Each step is an inner call that the gateway
 * governs; this file calls no tool itself. The first step that fails ends the chain, and the error
 * says which, why, and what ran before it.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { type JsonObject, type JsonValue, jsonSize, parseJson, type SchemaValidator } from "@toolcrib/json";
import { type Manifest, mapInputs, PathUse, withDefaults } from "@toolcrib/mcpkg";
import { type CallContext, failedResult, type ToolResult, textResult } from "@toolcrib/tool";
import type { EndpointRunner } from "../endpoint-runner.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";
import { type Chain, type ChainTool, type ChainTools, chainTools } from "./chain-tools.ts";

/** The parts of the gateway that a chain needs. */
export interface ChainDeps {
  /** The tools around the chain, as the caller of a call finds them. */
  tools(context: Pick<CallContext, "identity">): ChainTools;
  /** Makes an inner call of the chain's call. @throws {CodedError} when it is denied or fails */
  callTool(context: CallContext, name: string, args: JsonObject): Promise<ToolResult>;
  readonly validator: SchemaValidator;
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonicMs: () => number;
}

/** Bytes of all results of one run together, and of all arguments. @limit program */
const resultsMaxBytes = 64 * 1024 * 1024;
/** Bytes of the arguments of one step: mappings can repeat a result. @limit program */
const argumentsMaxBytes = 8 * 1024 * 1024;

/** Creates the runner of the chain of `manifest`. */
export function createChainRunner(manifest: Manifest, chain: Chain, deps: ChainDeps): EndpointRunner {
  return {
    async run(args, context) {
      let tools: readonly ChainTool[];
      try {
        tools = chainTools(manifest.toolId, chain, deps.tools(context));
      } catch (error) {
        if (!(error instanceof McpkgRuntimeError)) throw error;
        return failedResult(error, context.callId);
      }
      return await new ChainRun(manifest, context, deps).run(chain, tools, args);
    },
  };
}

type Step = Chain[number];

/** Why a step failed. */
interface StepFailure {
  readonly reason: string;
  readonly hint?: string | undefined;
  /** The code of the error that was its cause. */
  readonly code?: string | undefined;
}

/** One call of a chain. */
class ChainRun {
  readonly #manifest: Manifest;
  readonly #context: CallContext;
  readonly #deps: ChainDeps;
  readonly #ran: { readonly step: string; readonly tool: string }[] = [];
  #bytesLeft = resultsMaxBytes;
  #argumentBytesLeft = resultsMaxBytes;

  constructor(manifest: Manifest, context: CallContext, deps: ChainDeps) {
    this.#manifest = manifest;
    this.#context = context;
    this.#deps = deps;
  }

  async run(chain: Chain, tools: readonly ChainTool[], args: JsonObject): Promise<ToolResult> {
    const { input_schema: inputSchema } = this.#manifest;
    const input = withDefaults(args, inputSchema);
    const verdict = this.#deps.validator.validateSupported(inputSchema, input);
    if (verdict.kind === "invalid") {
      const [problem] = verdict.problems;
      const reason = `a default of the input schema does not match it: ${problem?.path ?? ""} ${problem?.message ?? ""}`;
      return this.#failed(chain[0], { reason });
    }
    const results: [name: string, value: JsonValue][] = [["input", input]];
    let value: JsonValue = null;
    // The mappings of all steps together: they run on the thread that serves every client.
    const limits = { now: this.#deps.monotonicMs, used: new PathUse() };
    for (const [at, step] of chain.entries()) {
      this.#context.signal.throwIfAborted();
      const options = { inputSchema: tools[at]?.inputSchema, limits };
      const mapped = mapInputs(step.inputMapping, Object.fromEntries(results), options);
      if (mapped.kind === "failed") {
        const reason = mapped.problems.map(({ message }) => message).join("; ");
        return this.#failed(step, { reason: reason.slice(0, failureMaxLength) });
      }
      const tooLarge = this.#countArguments(mapped.args);
      if (tooLarge !== undefined) return this.#failed(step, tooLarge);
      const result = await this.#call(step, mapped.args);
      if ("reason" in result) return this.#failed(step, result);
      ({ value } = result);
      results.push([step.outputKey, value], [step.step, value]);
      this.#ran.push({ step: step.step, tool: step.tool });
    }
    return { ...textResult(JSON.stringify(value)), structuredContent: value };
  }

  /** Counts the arguments of a step before anything serializes them. @returns why they are too large */
  #countArguments(args: JsonObject): StepFailure | undefined {
    const limit = Math.min(argumentsMaxBytes, this.#argumentBytesLeft);
    const size = jsonSize(args, limit);
    this.#argumentBytesLeft -= size;
    if (size <= limit) return undefined;
    return { reason: `its mapped arguments are larger than ${limit} bytes` };
  }

  async #call({ tool }: Step, args: JsonObject): Promise<{ readonly value: JsonValue } | StepFailure> {
    let result: ToolResult;
    try {
      result = await this.#deps.callTool(this.#context, tool, args);
    } catch (error) {
      this.#context.signal.throwIfAborted();
      if (!isCodedError(error)) throw error;
      return { reason: messageOf(error), hint: error.hint, code: error.code };
    }
    if (result.isError === true) {
      const code = result._meta?.["toolcrib/code"];
      const reason = textOf(result).slice(0, failureMaxLength);
      return { reason, code: typeof code === "string" ? code : undefined };
    }
    const value = resultValue(result);
    this.#bytesLeft -= jsonSize(value, this.#bytesLeft);
    return this.#bytesLeft < 0
      ? { reason: `the results of all steps are larger than ${resultsMaxBytes} bytes` }
      : { value };
  }

  #failed(step: Step | undefined, { reason, hint, code }: StepFailure): ToolResult {
    const ran = this.#ran.map((one) => `${one.step} (${one.tool})`).join(", ");
    const place = `step "${step?.step ?? ""}" (${step?.tool ?? ""})`;
    const message = `The chain "${this.#manifest.toolId}" failed at ${place}: ${reason}\nSteps that ran before it: ${ran === "" ? "none" : ran}`;
    const error = new McpkgRuntimeError("PACKAGE_CHAIN_FAILED", message, { hint });
    const result = failedResult(error, this.#context.callId);
    const trace = {
      step: step?.step ?? "",
      ran: this.#ran.map((one) => ({ ...one })),
      ...(code === undefined ? {} : { cause: code }),
    };
    return { ...result, _meta: { ...result._meta, "toolcrib/chain": trace } };
  }
}

/** Longest text of a failed step in an error, in UTF-16 units. */
const failureMaxLength = 2000;

function textOf({ content }: ToolResult): string {
  const texts = content.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  return texts.join("\n");
}

/** The value of a result: its structured content, or else its text, as JSON where it is JSON. */
function resultValue(result: ToolResult): JsonValue {
  if (result.structuredContent !== undefined) return result.structuredContent;
  const text = textOf(result);
  try {
    return parseJson(text, { maxLength: Number.POSITIVE_INFINITY, maxDepth: 64 });
  } catch {
    return text;
  }
}
