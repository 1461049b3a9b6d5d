/**
 * Entry, loaded into a process before its program (`node --import`). Names are
 * resolved by the DNS server of a test (`TOOLCRIB_TEST_DNS`, its port) instead of
 * the system's. Each attempted TCP connection is written to a file
 * (`TOOLCRIB_TEST_CONNECTIONS`) as address and port, so that a test also observes
 * attempts to addresses on which nothing can listen.
 */

import dns, { type LookupAddress } from "node:dns";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isIP, Socket } from "node:net";

const dnsPort = process.env["TOOLCRIB_TEST_DNS"];
const file = process.env["TOOLCRIB_TEST_CONNECTIONS"];

if (dnsPort !== undefined) lookUpAt(`127.0.0.1:${dnsPort}`);
if (file !== undefined) writeConnectionsTo(file);

function lookUpAt(server: string): void {
  const resolver = new dns.promises.Resolver({ timeout: 10_000, tries: 1 });
  resolver.setServers([server]);
  const find = async (host: string): Promise<LookupAddress[]> => {
    if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
    if (host === "localhost") return [{ address: "127.0.0.1", family: 4 }];
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [
      ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length > 0) return found;
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
  };
  const isAll = (options: unknown) =>
    typeof options === "object" && options !== null && "all" in options && options.all === true;
  const lookup = async (host: string, options?: unknown) => {
    const found = await find(host);
    return isAll(options) ? found : found[0];
  };
  type Done = (error: Error | null, found?: unknown, family?: number) => void;
  const lookupWithCallback = (host: string, ...rest: readonly unknown[]) => {
    const done = rest.at(-1) as Done;
    find(host).then(
      (found) => (isAll(rest[0]) ? done(null, found) : done(null, found[0]?.address, found[0]?.family)),
      done,
    );
  };
  Reflect.set(dns.promises, "lookup", lookup);
  Reflect.set(dns, "lookup", lookupWithCallback);
  syncBuiltinESMExports();
}

function writeConnectionsTo(path: string): void {
  const { connect } = Socket.prototype;
  Reflect.set(Socket.prototype, "connect", function (this: Socket, ...args: unknown[]): unknown {
    this.on("connectionAttempt", (address, port) => appendFileSync(path, `${address} ${port}\n`));
    return Reflect.apply(connect, this, args);
  });
}
