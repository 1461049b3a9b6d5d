/** Reads the switches of the home for the load of the configuration. */

import { randomBytes } from "node:crypto";
import type { loadConfig } from "@toolcrib/config";
import { SwitchStore } from "@toolcrib/store";

type Switches = NonNullable<NonNullable<Parameters<typeof loadConfig>[2]>["switches"]>;

/** What is switched, and the file that says so, which need not exist. */
export interface ReadSwitches {
  readonly switches: Switches;
  readonly path: string;
}

/** Reads the switches of `home`. @throws {StoreError} `STORE_UNREADABLE`: what is switched off is not known then */
export async function readSwitches(home: string): Promise<ReadSwitches> {
  const store = new SwitchStore(home, { randomBytes });
  const all = await store.list();
  const ofKind = (wanted: string) => all.filter(({ kind }) => kind === wanted);
  return {
    switches: {
      servers: new Map(ofKind("server").map(({ name, isOn }) => [name, isOn])),
      tools: ofKind("tool").flatMap(({ name, isOn }) => (isOn ? [] : [name])),
    },
    path: store.path,
  };
}
