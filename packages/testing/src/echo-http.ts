/**
 * Entry: the echo server on HTTP. The first line on stdout is its URL. It runs
 * until SIGTERM, SIGINT or the end of stdin.
 *
 *     node packages/testing/src/echo-http.ts [--transport sse] [--token T] [--answers json] …
 *
 * Takes the flags of `EchoOptions` and `EchoStreamableHttpOptions`;
 * `--transport` is `streamable` (the default) or `sse`.
 */

import { parseEchoFlags, toEchoOptions } from "./echo/echo-options.ts";
import type { AnswerForm } from "./echo/http-session.ts";
import { startEchoHttpServer } from "./echo-http-server.ts";
import { startEchoSseServer } from "./echo-sse-server.ts";
import { untilStopped } from "./until-stopped.ts";

const flags = parseEchoFlags(process.argv.slice(2), {
  transport: { type: "string", default: "streamable" },
  port: { type: "string", default: "0" },
  token: { type: "string" },
  "no-sessions": { type: "boolean" },
  answers: { type: "string", default: "sse" },
  resumable: { type: "boolean" },
});
const options = {
  ...toEchoOptions(flags),
  port: Number(flags.port),
  token: flags.token,
  crash: (code: number) => process.exit(code),
};
await using server =
  flags.transport === "sse"
    ? await startEchoSseServer(options)
    : await startEchoHttpServer({
        ...options,
        sessions: flags["no-sessions"] !== true,
        answers: flags.answers as AnswerForm,
        resumable: flags.resumable === true,
      });
console.log(server.url);
await untilStopped();
