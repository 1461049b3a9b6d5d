/** Reads the switches of the home for the load of the configuration. */

import { randomBytes } from "node:crypto";
import type { loadConfig } from "@toolcrib/config";
import { SwitchStore } from "@toolcrib/store";

type Switches = NonNullable<NonNullable<Parameters<typeof loadConfig>[2]>["switches"]>;

/**
 * Reads the switches of `home`.
 *
 * @param watch called with the path of the file, which need not exist, before it is read
 * @throws {StoreError} `STORE_UNREADABLE`: what is switched off is not known then
 */
export async function readSwitches(
  home: string,
  watch: (path: string) => void = () => {},
): Promise<Switches> {
  const store = new SwitchStore(home, { randomBytes });
  watch(store.path);
  const all = await store.list();
  const ofKind = (wanted: string) => all.filter(({ kind }) => kind === wanted);
  return {
    servers: new Map(ofKind("server").map(({ name, isOn }) => [name, isOn])),
    tools: ofKind("tool").flatMap(({ name, isOn }) => (isOn ? [] : [name])),
  };
}
