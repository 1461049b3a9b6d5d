/** `RequestTable` compared with a `Map` for any sequence of operations. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestTable, type RpcId } from "@toolcrib/mcp";
import fc from "fast-check";

type Step = { readonly kind: "set" | "delete" | "clear"; readonly id: RpcId; readonly value: number };

const ids: readonly RpcId[] = [1, "1", 2, "2", 0, "", -1];

const step = fc.record({
  kind: fc.constantFrom("set" as const, "set" as const, "delete" as const),
  id: fc.constantFrom(...ids),
  value: fc.nat(),
});
const clear: fc.Arbitrary<Step> = fc.constant({ kind: "clear", id: 0, value: 0 });

/** The observable state of a table. */
function seen(table: Pick<RequestTable<number>, "size" | "has" | "get">): unknown {
  return [table.size, ids.map((id) => [table.has(id), table.get(id)])];
}

test("RequestTable has the content of a Map, in the same order", () => {
  const steps = fc.array(fc.oneof({ arbitrary: step, weight: 20 }, { arbitrary: clear, weight: 1 }));
  fc.assert(
    fc.property(steps, (taken) => {
      const table = new RequestTable<number>();
      const model = new Map<RpcId, number>();
      for (const { kind, id, value } of taken) {
        if (kind === "set") {
          table.set(id, value);
          model.set(id, value);
        } else if (kind === "delete") assert.equal(table.delete(id), model.delete(id));
        else {
          table.clear();
          model.clear();
        }
        assert.deepEqual(seen(table), seen(model));
        assert.deepEqual(table.ids(), [...model.keys()]);
        assert.deepEqual(table.values(), [...model.values()]);
      }
    }),
  );
});
