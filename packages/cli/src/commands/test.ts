/** `toolcrib test`. */

import { defineCommand } from "../cli-command.ts";
import { duration } from "../option-values.ts";

export const command = defineCommand({
  name: "test",
  summary: "run the tests of a tool package, contained and as governed calls (exit code 1 if one fails)",
  arguments: {
    package: {
      help: "toolId of an installed package, or a folder or an archive (.mcpkg) before it is installed",
    },
  },
  options: {
    timeout: { value: "duration", parse: duration, help: "longest time of all tests (default: 10m)" },
    useConfig: {
      help: "give a package that is not installed what the configuration has for its toolId, secrets too",
    },
    allowCalls: {
      help: "let the tests of a chain or a program that is not installed call other tools, and those of a program also tools that may write",
    },
    implementation: { value: "id", help: "test this implementation only (default: each that runs here)" },
    record: {
      help: "run the tests of a folder with real requests and calls, and write what was received into each test that passed",
    },
    replay: {
      help: "answer requests and calls of other tools from what the tests recorded: nothing is sent, and no secret is needed",
    },
    junit: { value: "file", help: "also write the results to this file as JUnit XML" },
  },
  examples: [
    "toolcrib test demo.echo",
    "toolcrib test ./echo --record",
    "toolcrib test ./echo --replay --junit results.xml",
    "toolcrib test ./chain --allow-calls",
  ],
  run: async (context, { package: text }, options) =>
    (await import("../package/test-package.ts")).testPackage(context, text, options),
});
