/**
 * A program that runs in a user namespace of its own, whose limits of namespaces it sets: prints how a trial of a tier ends
 * where there is no namespace left, and how the next one ends. Arguments: the tier.
 */

import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseStartParent, Sandboxes } from "@toolcrib/sandbox";
import { strictPolicy, type TierId } from "./sandbox-harness.ts";

const tier = process.argv[2] as TierId;
const facts = {
  uid: 0,
  gid: 0,
  temporaryDirectory: chooseStartParent(tmpdir()),
  userHome: "/home/nobody-here",
};
const limit = (count: number) => writeFileSync("/proc/sys/user/max_net_namespaces", String(count));

const sandboxes = new Sandboxes(facts, { tiers: [tier], trials: { pauseMs: 1 } });
const request = { program: "/bin/true", args: [], env: {} };
const hasNetwork = async () => {
  await using prepared = await sandboxes.prepare(request, strictPolicy({ network: "scoped" }));
  return prepared.request.args.includes("--map-root-user");
};

limit(0);
const [without] = await sandboxes.check();
limit(1000);
await sleep(50);
const [after] = await sandboxes.check();
// The network of the tier bubblewrap has a trial of its own.
limit(0);
const hadNetwork = await hasNetwork();
limit(1000);
await sleep(50);
console.log(JSON.stringify({ without, after, hadNetwork, hasNetwork: await hasNetwork() }));
