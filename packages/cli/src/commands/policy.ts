/** `toolcrib policy`. */

import { parseSince } from "../audit/audit-filter.ts";
import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

const check = () => import("../policy/check-policies.ts");

export const command: CliCommandGroup = {
  name: "policy",
  summary: "check, test and compare the policy",
  commands: [
    defineCommand({
      name: "check",
      summary: "print every problem of the policy files and its position (exit code 2)",
      arguments: {
        files: {
          isOptional: true,
          isVariadic: true,
          help: "policy files (default: the configuration with its lists and policy files)",
        },
      },
      run: async (context, { files }) => (await check()).checkPolicies(context, files),
    }),
    defineCommand({
      name: "test",
      summary: "run the tests of the policy (exit code 1 if one fails)",
      arguments: {
        files: {
          isOptional: true,
          isVariadic: true,
          help: "files with tests (default: *.policy-test.yaml next to the policy files and the configuration)",
        },
      },
      run: async (context, { files }) =>
        (await import("../policy/test-policies.ts")).testPolicies(context, files),
    }),
    defineCommand({
      name: "matrix",
      summary: "show what each client may list and call",
      options: {
        client: { value: "name", isRepeatable: true, help: "only this client (default: all known clients)" },
        tool: { value: "pattern", isRepeatable: true, help: "only these tools, such as github:*" },
        onDisk: { help: "the policy as its files are now, and not that of the running gateway" },
      },
      run: async (context, _args, options) =>
        (await import("../policy/print-matrix.ts")).printMatrix(context, options),
    }),
    defineCommand({
      name: "simulate",
      summary: "compare recorded decisions with those of the policy as its files are now",
      options: {
        since: {
          value: "time",
          parse: parseSince,
          help: "records since then: 15m, 1h, 7d, or a time (default: 1d)",
        },
      },
      examples: ["toolcrib policy simulate --config changed.yaml --since 7d"],
      run: async (context, _args, options) =>
        (await import("../policy/simulate-policy.ts")).simulatePolicy(context, options),
    }),
    defineCommand({
      name: "schema",
      summary: "print the schema of policy files",
      run: async (context) => (await check()).printPolicySchema(context),
    }),
  ],
};
