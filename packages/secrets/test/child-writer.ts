/**
 * A process that changes a store: `child-writer.ts HOME NAME ROUNDS`. Sets NAME
 * to a value that contains the number of the round, and prints a line for each
 * stored value.
 */

import { randomBytes } from "node:crypto";
import { openSecretStore } from "@toolcrib/secrets";
import { roundValue } from "./round-value.ts";

const [home = "", name = "", rounds = "0"] = process.argv.slice(2);
await using store = await openSecretStore({ home, env: {} }, { now: Date.now, randomBytes });
for (let round = 1; round <= Number(rounds); round += 1) {
  await store.set(name, roundValue(name, round));
  process.stdout.write(`${round}\n`);
}
