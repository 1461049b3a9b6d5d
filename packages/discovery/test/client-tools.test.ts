/** `ClientTools`: lists are estimated in tokens when somebody asks, and are not kept for it once they are old. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ClientTools, createToolListing } from "@toolcrib/discovery";
import type { JsonObject } from "@toolcrib/json";
import { localIdentity, type ToolDefinition } from "@toolcrib/tool";

type Deps = ConstructorParameters<typeof ClientTools>[0];

const identity = localIdentity("token", "agent");
const listing = createToolListing({
  serve: {
    mode: "full",
    tools: { hidden: [], pinned: [] },
    list: { tokenBudget: 0, mostUsed: 0 },
    results: { tokenBudget: 0 },
  },
});

/** The tools of clients over an index without tools, and a function that reports a change of it. */
function setUp() {
  const listeners = new Set<() => void>();
  const deps: Deps = {
    index: {
      tools: [],
      find: () => undefined,
      get search() {
        return assert.fail("nothing is searched");
      },
      onChange(listener) {
        const call = () => listener(new Set());
        listeners.add(call);
        return () => listeners.delete(call);
      },
    },
    policy: { allowsListing: () => true, profileOf: () => undefined } as unknown as Deps["policy"],
    roster: { featureSources: [] },
    visibility: { isUsable: () => true },
    listing,
    taughtFor: () => undefined,
    clientKeys: () => [],
    scrubber: { text: (text) => text },
  };
  return { tools: new ClientTools(deps), change: () => listeners.forEach((call) => void call()) };
}

function listOf(name: string): readonly JsonObject[] {
  const definition: ToolDefinition = { name, description: "one two three", inputSchema: { type: "object" } };
  return [definition as unknown as JsonObject];
}

/** Whether the collector of unused objects leaves the referenced ones there. */
async function areKept(references: readonly WeakRef<object>[]): Promise<readonly boolean[]> {
  // A reference that was made keeps its object for the rest of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString("--expose-gc");
  try {
    await (runInNewContext("gc") as NodeJS.GCFunction)({ type: "major", execution: "async" });
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
  return references.map((one) => one.deref() !== undefined);
}

it("a list is kept until its tools change, and then counts without being kept", async () => {
  const { tools, change } = setUp();
  const count = () => {
    const items = listOf("first");
    tools.countList(items, identity, undefined);
    tools.countList(items, identity, undefined);
    return new WeakRef(items);
  };
  const reference = count();
  assert.deepEqual(await areKept([reference]), [true]);
  change();
  assert.deepEqual(await areKept([reference]), [false]);
  const { listedTokens } = tools.usage;
  tools.countList(listOf("first"), identity, undefined);
  assert.equal(tools.usage.listedTokens, listedTokens * 1.5);
});

it("few of the lists that clients received are kept", async () => {
  const { tools } = setUp();
  const references = Array.from({ length: 30 }, (_, at) => {
    const items = listOf(`name${at}`);
    tools.countList(items, identity, undefined);
    return new WeakRef(items);
  });
  const kept = (await areKept(references)).filter((isKept) => isKept);
  assert.ok(kept.length <= 8, String(kept.length));
  const before = tools.usage.listedTokens;
  tools.countList(listOf("name0"), identity, undefined);
  assert.ok(before > 27 * (tools.usage.listedTokens - before));
});
