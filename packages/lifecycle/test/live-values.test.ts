/** `LiveValues` compared with a `Set` for any sequence of additions and removals. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveValues } from "@toolcrib/lifecycle";
import fc from "fast-check";

test("LiveValues holds exactly the values that were added and not removed, and reuses their places", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(), { nil: undefined })), (steps) => {
      const values = new LiveValues<{ readonly id: number }>();
      const places: number[] = [];
      const model = new Set<{ readonly id: number }>();
      let most = 0;
      for (const removed of steps) {
        if (removed === undefined || places.length === 0) {
          const value = { id: model.size };
          places.push(values.add(value));
          model.add(value);
        } else {
          const [place] = places.splice(removed % places.length, 1) as [number];
          model.delete(values.get(place)!);
          values.remove(place);
          assert.equal(values.get(place), undefined);
        }
        most = Math.max(most, model.size);
        assert.deepEqual(new Set(values.all()), model);
      }
      assert.ok(places.every((place) => place < most));
      values.clear();
      assert.deepEqual(values.all(), []);
    }),
  );
});

test("LiveValues keeps the place of a value that is replaced", () => {
  const values = new LiveValues<string>();
  const place = values.add("first");
  values.replace(place, "second");
  assert.equal(values.get(place), "second");
  assert.deepEqual(values.all(), ["second"]);
});
