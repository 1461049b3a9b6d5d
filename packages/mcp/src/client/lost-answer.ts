/** Answers of a server that cannot be used: their limits and the error that the request gets. */

import { type AnswerFault, messageMaxValues } from "../framing/lines.ts";
import { McpError } from "../mcp-error.ts";

/** Largest message of a server. */
export const defaultMessageMaxBytes = 32 * 1024 * 1024;

/** Creates the error of a request whose answer cannot be used. */
export function answerError(fault: AnswerFault, maxBytes: number, cause?: unknown): McpError {
  const effect = "the call may have had an effect";
  const options = { cause, hint: "check the effect before you repeat it" };
  if (fault === "too large") {
    const text = `The server's answer is larger than ${maxBytes} bytes; ${effect}`;
    return new McpError("MCP_MESSAGE_TOO_LARGE", text, options);
  }
  if (fault === "too deep") {
    return new McpError("MCP_MESSAGE_TOO_DEEP", `The server's answer nests too deeply; ${effect}`, options);
  }
  if (fault === "too many values") {
    const text = `The server's answer has more than ${messageMaxValues} values; ${effect}`;
    return new McpError("MCP_MESSAGE_TOO_LARGE", text, options);
  }
  return new McpError("MCP_INVALID_MESSAGE", `The server's answer is not valid JSON; ${effect}`, options);
}
