// An HTTPS API on loopback that answers every request with a small JSON value:
// `node api-server.mjs CERTIFICATE KEY`. It prints its port, and ends with its
// standard input.

import { readFileSync } from "node:fs";
import { createServer } from "node:https";

const [certificate = "", key = ""] = process.argv.slice(2);
const body = JSON.stringify({ id: 7, name: "hello", tags: ["a", "b"], text: "x".repeat(400) });
const server = createServer(
  { cert: readFileSync(certificate), key: readFileSync(key), keepAliveTimeout: 60_000 },
  (request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
      response.end(body);
    });
  },
);
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
