/** `toolcrib chains`. */

import { InvalidArgumentError } from "commander";
import { parseSince } from "../audit/audit-filter.ts";
import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { duration, wholeNumber } from "../option-values.ts";

export const command: CliCommandGroup = {
  name: "chains",
  summary: "find chains of tools in the audit trail, and faster variants of installed chains",
  commands: [
    defineCommand({
      name: "suggest",
      summary:
        "find sequences of calls whose results became arguments of later ones, and write them as chain packages",
      options: {
        since: {
          value: "time",
          parse: parseSince,
          help: "only records since then: 15m, 1h, 7d, or a date and time",
        },
        until: { value: "time", parse: parseSince, help: "only records before then, in the same notation" },
        client: {
          value: "name",
          help: "only calls of this client (the name of its token, or cli)",
        },
        minSupport: {
          value: "count",
          parse: wholeNumber(2, 1_000_000),
          help: "fewest runs of a sequence (default: 5)",
        },
        minClients: {
          value: "count",
          parse: wholeNumber(1, 1000),
          help: "fewest clients that made them (default: 1)",
        },
        minConfidence: {
          value: "share",
          parse: parseShare,
          help: "smallest share of the calls of its rarest tool that belongs to a sequence (default: 0.2)",
        },
        maxSteps: {
          value: "count",
          parse: wholeNumber(2, 6),
          help: "most steps of a chain, 2 to 6 (default: 6)",
        },
        limit: {
          short: "n",
          value: "count",
          parse: wholeNumber(1, 100),
          help: "most chains, 1 to 100 (default: 20)",
        },
        prefix: {
          value: "id",
          parse: parsePrefix,
          help: "first parts of the tool ids, such as acme.workflows (default: suggested)",
        },
        out: { short: "o", value: "dir", help: "write each chain to a folder of its tool id below this one" },
      },
      examples: ["toolcrib chains suggest --since 30d --out chains"],
      run: async (context, _args, options) =>
        (await import("../chains/suggest-chains.ts")).suggestChains(context, options),
    }),
    defineCommand({
      name: "optimize",
      summary:
        "find a faster variant of an installed chain that passes its tests, and write it as a new version",
      arguments: { toolId: { help: "toolId of an installed chain with tests" } },
      options: {
        out: {
          short: "o",
          value: "path",
          help: "folder to write, or archive (.mcpkg) (default: TOOLID-VERSION)",
        },
        sign: { help: "sign it with the publisher key of the home, which is created at its first use" },
        key: { value: "file", help: "sign it with this Ed25519 key in PEM" },
        allowCalls: { help: "also run chains whose steps may change something" },
        pairs: {
          value: "count",
          parse: wholeNumber(3, 100),
          help: "pairs of runs that each variant is measured with (default: 7)",
        },
        minGain: {
          value: "share",
          parse: parseShare,
          help: "smallest share of the time that a variant must save (default: 0.1)",
        },
        timeout: {
          value: "duration",
          parse: duration,
          help: "no further variant is tried after this time (default: 10m)",
        },
      },
      examples: ["toolcrib chains optimize acme.text.flow --sign"],
      run: async (context, { toolId }, options) =>
        (await import("../chains/optimize-chain.ts")).optimizeChain(context, toolId, options),
    }),
  ],
};

function parseShare(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 1.");
}

function parsePrefix(text: string): string {
  if (text.length <= 100 && /^[a-z0-9][a-z0-9_]*(?:\.[a-z0-9][a-z0-9_]*)*$/.test(text)) return text;
  throw new InvalidArgumentError(
    "It must be parts of a-z, 0-9 and _ with dots between, such as acme.workflows.",
  );
}
