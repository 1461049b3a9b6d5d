/**
 * Changes of approvals, pins and switches that a kill interrupts: each prepares the state before
 * it, makes the change, and reads the state of a home.
 */

import { randomBytes } from "node:crypto";
import { type FileSteps, nodeFileSteps } from "@toolcrib/files";
import type { Pin, PinStore } from "@toolcrib/store";
import {
  type Approval,
  type ApprovalStore,
  createPinStore,
  openApprovalStore,
  SwitchStore,
} from "@toolcrib/store";

/** A step that changes the disk or syncs it. */
export type StepName = "create" | "write" | "sync" | "close" | "rename" | "remove" | "syncDirectory";

/** Runs a step. `half` does the part of it that can happen before it fails. */
export type AroundStep = <T>(name: StepName, run: () => Promise<T>, half?: () => Promise<void>) => Promise<T>;

/** Returns the steps on Node's file system, each inside `around`. */
export function steppedBy(around: AroundStep): FileSteps {
  return {
    ...nodeFileSteps,
    rename: (from, to) => around("rename", () => nodeFileSteps.rename(from, to)),
    remove: (path) => around("remove", () => nodeFileSteps.remove(path)),
    syncDirectory: (path) => around("syncDirectory", () => nodeFileSteps.syncDirectory(path)),
    async create(path, mode) {
      const draft = await around("create", () => nodeFileSteps.create(path, mode));
      return {
        ...draft,
        write: (bytes) =>
          around(
            "write",
            () => draft.write(bytes),
            () => draft.write(bytes.subarray(0, bytes.length >> 1)),
          ),
        sync: () => around("sync", () => draft.sync()),
        close: () => around("close", () => draft.close()),
      };
    },
  };
}

/** One change of a home. */
export interface Change {
  /** Creates the state before. Not interrupted. */
  prepare(home: string): Promise<void>;
  /** The change that is interrupted. */
  run(home: string, steps: FileSteps): Promise<void>;
  /** Returns the records that the change is about, through a new store. */
  read(home: string): Promise<unknown>;
  /** Makes a later change, which must succeed after every kill. */
  change(home: string): Promise<void>;
  readonly before: unknown;
  readonly after: unknown;
}

const narrow: Approval = { name: "job", reach: { tools: ["s:get"], dynamic: false }, approvedAt: 1 };
const wide: Approval = { ...narrow, reach: { tools: ["s:get", "s:set"], dynamic: false }, approvedAt: 2 };
const other: Approval = { ...narrow, name: "other" };
const stored = (approval: Approval, version: number) => ({ ...approval, version });

async function withApprovals(home: string, run: (store: ApprovalStore) => Promise<void>, steps?: FileSteps) {
  await using store = await openApprovalStore(home, { randomBytes, ...(steps && { steps }) });
  await run(store);
}

function ofApprovals(
  prepare: (store: ApprovalStore) => Promise<unknown>,
  run: (store: ApprovalStore) => Promise<unknown>,
  [before, after]: readonly [unknown, unknown],
): Change {
  return {
    prepare: (home) => withApprovals(home, async (store) => void (await prepare(store))),
    run: (home, steps) => withApprovals(home, async (store) => void (await run(store)), steps),
    async read(home) {
      let found: unknown;
      await withApprovals(home, async (store) => {
        found = await store.list();
      });
      return found;
    },
    change: (home) =>
      withApprovals(home, async (store) => {
        await store.put({ ...narrow, name: "later" }, undefined);
        await store.delete("later", 1);
      }),
    before,
    after,
  };
}

const pin: Pin = {
  kind: "tool",
  name: "x",
  digest: "sha256:1",
  state: { kind: "pinned" },
  firstSeenAt: 1,
  lastSeenAt: 1,
};
const first = { sourceId: "a", pins: [pin] };
const second = { sourceId: "a", pins: [{ ...pin, digest: "sha256:2" }] };

async function withPins(home: string, run: (store: PinStore) => Promise<void>, steps?: FileSteps) {
  await using store = createPinStore(home, { randomBytes, ...(steps && { steps }) });
  await run(store);
}

function ofPins(
  prepare: (store: PinStore) => Promise<unknown>,
  run: (store: PinStore) => Promise<unknown>,
  [before, after]: readonly [unknown, unknown],
): Change {
  return {
    prepare: (home) => withPins(home, async (store) => void (await prepare(store))),
    run: (home, steps) => withPins(home, async (store) => void (await run(store)), steps),
    async read(home) {
      let found: unknown;
      await withPins(home, async (store) => {
        found = await store.get("a");
      });
      return found;
    },
    change: (home) =>
      withPins(home, async (store) => {
        await store.put({ ...first, sourceId: "later" }, undefined);
        await store.delete("later", 1);
      }),
    before,
    after,
  };
}

type Switch = Parameters<SwitchStore["change"]>[0][number];

const off: Switch = {
  kind: "server",
  name: "a",
  isOn: false,
  changedBy: { issuer: "toolcrib:cli", subject: "cli" },
  changedAt: 1,
};
const tool: Switch = { ...off, kind: "tool", name: "a:*" };

function ofSwitches(before: readonly Switch[], put: readonly Switch[], after: readonly Switch[]): Change {
  const open = (home: string, steps?: FileSteps) =>
    new SwitchStore(home, { randomBytes, ...(steps === undefined ? {} : { steps }) });
  return {
    prepare: (home) => open(home).change(before, []),
    run: (home, steps) => open(home, steps).change(put, before),
    read: (home) => open(home).list(),
    async change(home) {
      const later: Switch = { ...off, name: "later" };
      await open(home).change([later], []);
      await open(home).change([], [later]);
    },
    before,
    after,
  };
}

const nothing = async () => undefined;

/** All changes, by name. */
export const changes: { readonly [name: string]: Change } = {
  "a first approval": ofApprovals(nothing, (store) => store.put(narrow, undefined), [
    [],
    [stored(narrow, 1)],
  ]),
  "a wider approval": ofApprovals(
    (store) => store.put(narrow, undefined),
    (store) => store.put(wide, 1),
    [[stored(narrow, 1)], [stored(wide, 2)]],
  ),
  "a narrower approval": ofApprovals(
    (store) => store.put(wide, undefined),
    (store) => store.put(narrow, 1),
    [[stored(wide, 1)], [stored(narrow, 2)]],
  ),
  "the deletion of an approval": ofApprovals(
    (store) => store.put(wide, undefined),
    (store) => store.delete("job", 1),
    [[stored(wide, 1)], []],
  ),
  "the adoption of approvals": ofApprovals(
    (store) => store.put(narrow, undefined),
    (store) => store.adopt([wide, other]),
    [[stored(narrow, 1)], [stored(narrow, 1), stored(other, 1)]],
  ),
  "first pins": ofPins(nothing, (store) => store.put(first, undefined), [
    undefined,
    { ...first, version: 1 },
  ]),
  "other pins": ofPins(
    (store) => store.put(first, undefined),
    (store) => store.put(second, 1),
    [
      { ...first, version: 1 },
      { ...second, version: 2 },
    ],
  ),
  "the deletion of pins": ofPins(
    (store) => store.put(first, undefined),
    (store) => store.delete("a", 1),
    [{ ...first, version: 1 }, undefined],
  ),
  "other switches": ofSwitches([off], [tool], [tool]),
  "the end of the last switch": ofSwitches([off], [], []),
};
