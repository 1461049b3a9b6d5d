/** Runs the proxy of this package in its own process, for the benchmark. Sends its address, and its memory use on request. */

import { randomBytes } from "node:crypto";
import { createEgress, createPlaceholder } from "@toolcrib/egress";
import { parseHostPattern } from "@toolcrib/hosts";

const [port, certificate, directory] = process.argv.slice(2) as [string, string, string];
const host = "api.example.com";
const pattern = parseHostPattern(host);
if (pattern.kind === "invalid") throw new Error(pattern.reason);
const egress = createEgress(
  {
    internalRanges: ["127.0.0.0/8"],
    connectTo: { [host]: `127.0.0.1:${port}` },
    caCertificates: [certificate],
  },
  { directory, now: Date.now, randomBytes, onEvent: () => {} },
);
const allow = [pattern.value];
const placeholder = createPlaceholder(randomBytes);
const place = { kind: "header", name: "Authorization", format: "Bearer {token}" } as const;
const read = () => "sk_live_4eC39HqLyjWDarjtT1zdp7dc";
const credentials = [{ id: "token", place, placeholder, secretName: "token", read }];
const plain = await egress.openProxy({ id: "plain", allow, credentials: [] });
const scrubbed = await egress.openProxy({ id: "scrubbed", allow, credentials });
process.send?.({ plain: plain.url, scrubbed: scrubbed.url, placeholder, caFile: plain.caFile });
process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ rss: process.memoryUsage().rss, cpu: process.cpuUsage() });
});
process.once("disconnect", () => process.exit());
