/** `toolcrib explain`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "explain",
  summary: "explain an error code: cause, example and fix; without a code, list all",
  arguments: {
    code: {
      completes: "code",
      help: "a code such as CONFIG_URL_INSECURE or 32602, an area such as config, or CONFIG_URL_ for all that begin so",
      isOptional: true,
    },
  },
  examples: ["toolcrib explain CALL_TIMEOUT", "toolcrib explain config"],
  run: async (context, { code }) => (await import("../explain/explain-code.ts")).explainCode(context, code),
});
