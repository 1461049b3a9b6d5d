/**
 * Changes of installed packages that a kill interrupts: each prepares the state before it, makes the
 * change, and says what is installed before and after. Keys are fixed, so that every process builds the same archives.
 */

import { type FileSteps, nodeFileSteps } from "@toolcrib/files";
import { readPrivateKey } from "@toolcrib/mcpkg";
import { uninstallPackages } from "@toolcrib/mcpkg-install";
import { archiveOf, changeDeps, install, type TestPlace } from "./sample-packages.ts";

/** A step that changes the disk or syncs it; `commit` is the rename of the record that decides. */
export type StepName = keyof FileSteps | "write" | "sync" | "close" | "commit";

/** Runs a step. `half` does the part of it that can happen before it fails. */
export type AroundStep = <T>(name: StepName, run: () => Promise<T>, half?: () => Promise<void>) => Promise<T>;

/** Returns the steps on Node's file system, each inside `around`. */
export function steppedBy(around: AroundStep): FileSteps {
  let commits = 0;
  return {
    ...nodeFileSteps,
    rename(from, to) {
      const isCommit = to.endsWith(".record.json") && ++commits === 1;
      return around(isCommit ? "commit" : "rename", () => nodeFileSteps.rename(from, to));
    },
    remove: (path) => around("remove", () => nodeFileSteps.remove(path)),
    makeDirectory: (path, mode) => around("makeDirectory", () => nodeFileSteps.makeDirectory(path, mode)),
    removeDirectory: (path) => around("removeDirectory", () => nodeFileSteps.removeDirectory(path)),
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

/** Installed versions by toolId. */
export type Versions = { readonly [toolId: string]: string };

/** One change. */
export interface KilledChange {
  /** Creates the state before. Not interrupted. */
  prepare(place: TestPlace): Promise<unknown>;
  /** The change that is interrupted. */
  run(place: TestPlace, steps: FileSteps): Promise<unknown>;
  readonly before: Versions;
  readonly after: Versions;
}

/** A key for these tests alone. */
const signer = readPrivateKey(`-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
`);

const files = { "bin/run.sh": "#!/bin/sh\n", "docs/a.md": "a" };
const first = archiveOf({ version: "1.0.0", files, executable: "bin/run.sh", signer });
const second = archiveOf({ version: "2.0.0", files: { "docs/b.md": "b" }, signer });
const step = archiveOf({ toolId: "demo.step", signer });
const pipeline = archiveOf({ toolId: "demo.pipe", chain: ["demo.step"], signer });
const nothing = async () => undefined;

/** All changes, by name. */
export const changes: { readonly [name: string]: KilledChange } = {
  "a first installation": {
    prepare: nothing,
    run: (place, steps) => install(place, [first], { steps }),
    before: {},
    after: { "demo.echo": "1.0.0" },
  },
  "a newer version": {
    prepare: (place) => install(place, [first]),
    run: (place, steps) => install(place, [second], { steps }),
    before: { "demo.echo": "1.0.0" },
    after: { "demo.echo": "2.0.0" },
  },
  "a chain with its tool": {
    prepare: (place) => install(place, [first]),
    run: (place, steps) => install(place, [pipeline, step], { steps }),
    before: { "demo.echo": "1.0.0" },
    after: { "demo.echo": "1.0.0", "demo.pipe": "1.0.0", "demo.step": "1.0.0" },
  },
  "an installation for the user": {
    prepare: nothing,
    run: (place, steps) => install(place, [first], { steps, isForUser: true }),
    before: {},
    after: { "demo.echo": "1.0.0" },
  },
  "the removal of one of two": {
    prepare: (place) => install(place, [first, step]),
    run: (place, steps) => uninstallPackages({ ...changeDeps, steps }, { ...place, toolIds: ["demo.echo"] }),
    before: { "demo.echo": "1.0.0", "demo.step": "1.0.0" },
    after: { "demo.step": "1.0.0" },
  },
  "the removal of the last one": {
    prepare: (place) => install(place, [first]),
    run: (place, steps) => uninstallPackages({ ...changeDeps, steps }, { ...place, toolIds: ["demo.echo"] }),
    before: { "demo.echo": "1.0.0" },
    after: {},
  },
};
