/** `toolcrib export`. */

import { InvalidArgumentError } from "commander";
import { defineCommand } from "../cli-command.ts";
import { wholeNumber } from "../option-values.ts";

const formats = ["mcp", "openai", "anthropic", "gemini"] as const;

export const command = defineCommand({
  name: "export",
  summary: "print the tools of the installed packages for a runtime of models (tools.json)",
  options: {
    format: {
      value: "runtime",
      parse: toFormat,
      help: "form of the runtime: mcp, openai, anthropic or gemini (default: tools.json with everything)",
    },
    all: {
      help: "also the tools that the gateway does not list for you: denied, hidden, held back or not available",
    },
    out: { value: "file", help: "write to this file instead" },
    "examples-length": {
      value: "count",
      parse: wholeNumber(0, 100_000),
      help: "most characters of examples for each tool; 0 leaves them out (default: 2000)",
    },
  },
  examples: ["toolcrib export > tools.json", "toolcrib export --format openai --out tools.json"],
  run: async (context, _args, options) =>
    (await import("../package/export-packages.ts")).exportPackages(context, options),
});

function toFormat(text: string): (typeof formats)[number] {
  const format = formats.find((one) => one === text);
  if (format !== undefined) return format;
  throw new InvalidArgumentError(`It must be one of ${formats.join(", ")}.`);
}
