/**
 * Changes of a directory of saved tools that are interrupted by a kill or by an error:
 * the state before, the change, and the state after.
 */

import type { SavedToolStore } from "@toolcrib/store";
import { definitionOf } from "./saved-harness.ts";

const largeCode = `# ${"x".repeat(100_000)}\n`;

/** Two versions of a tool, by size. */
const versions = {
  small: [definitionOf(), definitionOf({ code: "return params.n + params.n\n" })],
  medium: [
    definitionOf({ code: `# ${"a".repeat(9_000)}\n` }),
    definitionOf({ code: `# ${"b".repeat(11_000)}\n`, toolcrib: { reach: ["github.searchIssues"] } }),
  ],
  large: [definitionOf({ code: largeCode }), definitionOf({ code: largeCode.replaceAll("x", "y") })],
} as const;

/** The state of the tool `double`: its code and its count; `undefined` when it does not exist. */
export type ToolState = { readonly code: string; readonly executionCount: number } | undefined;

/** One change. */
export interface Change {
  /** Creates the state before. Not interrupted. */
  prepare(saved: SavedToolStore): Promise<void>;
  /** The change that is interrupted. */
  run(saved: SavedToolStore): Promise<void>;
  readonly before: ToolState;
  readonly after: ToolState;
  /** Index of the `rename` or `remove` of `run` that changes the state, from 0. */
  readonly decisive: number;
}

const small = versions.small[0];

function saveNew(definition: (typeof versions)[keyof typeof versions][0]): Change {
  return {
    prepare: async () => undefined,
    run: async (saved) => void (await saved.save(definition)),
    before: undefined,
    after: { code: definition.code, executionCount: 0 },
    decisive: 0,
  };
}

function update([before, after]: (typeof versions)[keyof typeof versions]): Change {
  return {
    prepare: async (saved) => void (await saved.save(before)),
    run: async (saved) => void (await saved.save(after)),
    before: { code: before.code, executionCount: 0 },
    after: { code: after.code, executionCount: 0 },
    decisive: 0,
  };
}

/** Counts two executions that are written, and three more that are not. */
async function count(saved: SavedToolStore): Promise<void> {
  await saved.save(small);
  for (const at of [1, 2]) saved.recordExecution("double", at);
  await saved.flush();
  for (const at of [3, 4, 5]) saved.recordExecution("double", at);
}

const counted = {
  before: { code: small.code, executionCount: 2 },
  after: { code: small.code, executionCount: 5 },
  decisive: 0,
};

/** All changes by name. */
export const changes: Readonly<Record<string, Change>> = {
  "a small new tool": saveNew(versions.small[0]),
  "a large new tool": saveNew(versions.large[0]),
  "a small update": update(versions.small),
  "a medium update": update(versions.medium),
  "a large update": update(versions.large),
  "a deletion": {
    prepare: async (saved) => void (await saved.save(small)),
    run: async (saved) => void (await saved.delete("double")),
    before: { code: small.code, executionCount: 0 },
    after: undefined,
    decisive: 0,
  },
  "a flush of counters": { prepare: count, run: (saved) => saved.flush(), ...counted },
  "an update of a tool with counters": {
    prepare: async (saved) => {
      await count(saved);
      await saved.flush();
    },
    run: async (saved) => void (await saved.save(versions.small[1])),
    before: { code: small.code, executionCount: 5 },
    after: { code: versions.small[1].code, executionCount: 5 },
    decisive: 0,
  },
  "a disposal": { prepare: count, run: async (saved) => saved[Symbol.asyncDispose](), ...counted },
};
