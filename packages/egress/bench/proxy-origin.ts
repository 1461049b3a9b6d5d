/** The origin of the proxy's benchmark, in a process of its own: HTTP/1.1 and HTTP/2 over TLS, `/N` answers N bytes. */

import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { pipeline, Readable } from "node:stream";
import { createTestAuthority } from "@toolcrib/testing";

const authority = createTestAuthority();
const { certificate, key } = authority.sign({ hosts: ["api.example.com"] });
/** Text as of JSON, in which nothing repeats soon. */
const piece = Buffer.from(
  Array.from({ length: 2000 }, (_, index) =>
    JSON.stringify({ id: index * 7919, name: `item-${(index * 104729).toString(36)}` }),
  ).join(","),
).subarray(0, 64 * 1024);

function* body(length: number): Generator<Buffer> {
  for (let left = length; left > 0; left -= piece.length) {
    yield left < piece.length ? piece.subarray(0, left) : piece;
  }
}

const server = createSecureServer({ cert: certificate, key, allowHTTP1: true }, (request, response) => {
  request.resume();
  const length = Number(request.url.slice(1));
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", length);
  // A client that breaks off ends its own response.
  pipeline(Readable.from(body(length), { objectMode: false, highWaterMark: 256 * 1024 }), response, () => {});
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.send?.({ port: (server.address() as AddressInfo).port, certificate: authority.certificate });
process.once("disconnect", () => process.exit());
