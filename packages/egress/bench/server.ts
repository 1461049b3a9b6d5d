/** The host of the benchmark, in a process of its own: writes one line of JSON with its endpoint and authority, and serves until stdin ends. */

import { createTestAuthority, startTlsServer } from "@toolcrib/testing";

const authority = createTestAuthority();
const bodies = new Map([1, 100].map((kilobytes) => [`/${kilobytes}`, makeBody(kilobytes * 1000)]));
const server = await startTlsServer({
  certificate: authority.sign({ hosts: ["api.example.com"] }),
  respond: ({ target }, response) => {
    const body = bodies.get(target) ?? "{}";
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
  },
});
process.stdout.write(
  `${JSON.stringify({ endpoint: server.endpoint, certificate: authority.certificate })}\n`,
);
process.stdin.resume();
process.stdin.once("end", () => void server[Symbol.asyncDispose]());

/** JSON as an API answers with it: names, numbers, URLs with escapes. */
function makeBody(bytes: number): string {
  const items: string[] = [];
  for (let at = 0, length = 0; length < bytes; at += 1) {
    const item = JSON.stringify({
      id: at,
      url: `https://api.example.com/v1/items/${at}?q=%20x`,
      title: `"item" ${at}`,
    });
    items.push(item);
    length += item.length + 1;
  }
  return `[${items.join(",")}]`;
}
