/**
 * `toolcrib toolpack --call`: one call without a client, for packages whose tool is a program (MCPKG document, local
 * endpoints). The input is a JSON object on standard input; the result is one JSON value on standard output.
 */

import { isJsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { McpService } from "@toolcrib/mcp";
import { localIdentity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { readStandardInput } from "../standard-input.ts";

/**
 * Calls `tool` once.
 *
 * @returns `failed` if the tool returns an error, which is written to standard error
 * @throws {CliError} `CLI_ARGUMENTS_INVALID`
 */
export async function callOnce(context: CliContext, service: McpService, tool: string): Promise<ExitCode> {
  const text = await readStandardInput(context);
  let args: JsonValue | undefined;
  try {
    args = parseJson(text);
  } catch {
    // Reported below.
  }
  if (args === undefined || !isJsonObject(args)) {
    throw new CliError("CLI_ARGUMENTS_INVALID", "The input is not a JSON object", {
      hint: `write the arguments to standard input, such as {"id": 7}`,
    });
  }
  const result = await service.handle({
    method: "tools/call",
    params: { name: tool, arguments: args },
    view: "",
    identity: localIdentity("stdio", "call"),
    era: "modern",
    clientCapabilities: {},
    wantsProgress: false,
    signal: context.signal,
    progress() {},
    notify() {},
    ask: () => Promise.reject(new Error("there is no client to ask")),
  });
  const {
    content = [],
    structuredContent,
    isError,
  } = result as {
    readonly content?: readonly { readonly text?: string }[];
    readonly structuredContent?: JsonValue;
    readonly isError?: boolean;
  };
  const shown = content.flatMap(({ text: part }) => (part === undefined ? [] : [part])).join("\n");
  if (isError === true) {
    context.stderr.write(`${shown}\n`);
    return exitCodes.failed;
  }
  context.stdout.write(`${JSON.stringify(structuredContent ?? { text: shown })}\n`);
  return exitCodes.done;
}
