import assert from "node:assert/strict";
import { test } from "node:test";
import { SecretCache } from "@toolcrib/secrets";

/** A cache whose secrets are read from `values`, by the names of files. */
function cacheOf(values: Map<string, string>) {
  const state = { now: 0, reads: 0 };
  const cache = new SecretCache({
    now: () => state.now,
    resolver: {
      async resolve(ref) {
        state.reads += 1;
        const value = ref.kind === "file" ? values.get(ref.path) : undefined;
        return value === undefined
          ? { kind: "failed", code: "CONFIG_SECRET_NOT_FOUND", message: "no such file", hint: "write it" }
          : { kind: "value", value, from: "file" };
      },
    },
  });
  return { cache, state };
}

test("readers of one secret read it once, and each reports the value before it returns it", async () => {
  const values = new Map([
    ["a", "secret-of-a"],
    ["b", "secret-of-b"],
  ]);
  const { cache, state } = cacheOf(values);
  const learned: string[] = [];
  const readers = ["a", "a", "b"].map((path, at) =>
    cache.reader({ kind: "file", path }, "toolcrib.yaml", (value) => learned.push(`${at} ${value}`)),
  );
  const readAll = () => Promise.all(readers.map((read) => read()));
  assert.deepEqual(await readAll(), ["secret-of-a", "secret-of-a", "secret-of-b"]);
  assert.equal(state.reads, 2);
  assert.deepEqual(learned.splice(0).sort(), ["0 secret-of-a", "1 secret-of-a", "2 secret-of-b"]);
  await readAll();
  assert.deepEqual({ reads: state.reads, learned }, { reads: 2, learned: [] });

  // A value of a file is kept for a moment only, and the new one is reported, too.
  values.set("a", "new-secret-of-a");
  state.now += 60_000;
  assert.deepEqual(await readAll(), ["new-secret-of-a", "new-secret-of-a", "secret-of-b"]);
  assert.deepEqual(learned.splice(0).sort(), ["0 new-secret-of-a", "1 new-secret-of-a", "2 secret-of-b"]);
});

test("a relative path is another secret in another folder, and a failure is not kept", async () => {
  const { cache, state } = cacheOf(new Map([["a", "secret-of-a"]]));
  const read = (path: string, fileName: string) => cache.reader({ kind: "file", path }, fileName, () => {})();
  await Promise.all([read("a", "one/toolcrib.yaml"), read("a", "two/toolcrib.yaml")]);
  assert.equal(state.reads, 2);
  const missing = cache.reader({ kind: "file", path: "c" }, "toolcrib.yaml", () => assert.fail());
  for (let round = 0; round < 2; round += 1) {
    await assert.rejects(missing(), { code: "CONFIG_SECRET_NOT_FOUND" });
  }
  assert.equal(state.reads, 4);
});

test("a released secret is read again, and stays while another reader uses it", async () => {
  const { cache, state } = cacheOf(new Map([["a", "secret-of-a"]]));
  const reader = () => cache.reader({ kind: "file", path: "a" }, "toolcrib.yaml", () => {});
  const [one, two] = [reader(), reader()];
  await Promise.all([one(), two()]);
  cache.release(one);
  await reader()();
  assert.equal(state.reads, 1);
  const { cache: other, state: states } = cacheOf(new Map([["a", "secret-of-a"]]));
  const alone = other.reader({ kind: "file", path: "a" }, "toolcrib.yaml", () => {});
  await alone();
  other.release(alone);
  await other.reader({ kind: "file", path: "a" }, "toolcrib.yaml", () => {})();
  assert.equal(states.reads, 2);
});
