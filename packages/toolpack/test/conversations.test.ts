/**
 * Requests and responses from the documentation of services, byte for byte, with the
 * toolspecs of the catalog. Each call passes the engine, the egress pipeline with its
 * secrets, and TLS, and reaches a server that refuses a request with any other byte.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createEgress, createPlaceholder } from "@toolcrib/egress";
import type { JsonObject } from "@toolcrib/json";
import {
  clearDefaultRoots,
  clientCall,
  createTestAuthority,
  makeTemporaryDirectory,
  type RecordedRequest,
  startTlsServer,
} from "@toolcrib/testing";
import { createToolpackSource } from "@toolcrib/toolpack";
import { egressPatterns, lintCatalog, placedCredentials } from "@toolcrib/toolspec";
import { startedAt, textsOf } from "./samples.ts";

clearDefaultRoots();

const catalog = join(import.meta.dirname, "../../../catalog");

/** One call with its requests and responses. */
interface Turn {
  readonly title: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly exchanges: readonly { readonly request: string; readonly response: string }[];
  readonly result: string;
  readonly isError: boolean;
}

/** Parses a conversation: `=== title`, then `--- part` with its text. */
function parseConversation(text: string): readonly Turn[] {
  return text
    .split(/^=== /m)
    .slice(1)
    .map((turn) => {
      const [title = "", ...parts] = turn.split(/^--- /m).map((part) => part.replace(/\n+$/, ""));
      const read = parts.map((part) => {
        const end = part.indexOf("\n");
        return { kind: part.slice(0, end), text: part.slice(end + 1) };
      });
      const [call, ...rest] = read;
      const last = rest.pop();
      assert.ok(call !== undefined && last !== undefined, title);
      assert.match(call.kind, /^call /, title);
      assert.match(last.kind, /^(?:failed )?result$/, title);
      const exchanges: { request: string; response: string }[] = [];
      for (let at = 0; at < rest.length; at += 2) {
        const [request, response] = [rest[at], rest[at + 1]];
        assert.deepEqual([request?.kind, response?.kind], ["request", "response"], title);
        exchanges.push({ request: request?.text ?? "", response: response?.text ?? "" });
      }
      return {
        title,
        tool: call.kind.slice("call ".length),
        args: JSON.parse(call.text) as JsonObject,
        exchanges,
        result: last.text,
        isError: last.kind === "failed result",
      };
    });
}

const ofConnection = /^(?:host|connection|content-length|accept-encoding)$/;

/** Formats a request as conversations contain it. */
function written({ method, target, headers, body }: RecordedRequest): string {
  const host = headers.find(([name]) => name.toLowerCase() === "host")?.[1];
  const lines = headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !ofConnection.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
  const text = [`${method} https://${host}${target}`, ...lines].join("\n");
  return body.length === 0 ? text : `${text}\n\n${body.toString("utf8")}`;
}

function parseResponse(text: string): {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
} {
  const [head = "", ...body] = text.split("\n\n");
  const [status, ...lines] = head.split("\n");
  const headers = lines.map((line) => {
    const at = line.indexOf(": ");
    return [line.slice(0, at), line.slice(at + 2)] as const;
  });
  return { status: Number(status), headers, body: body.join("\n\n") };
}

/** Tests the toolspec `name` of the catalog with its conversation. */
function checkConversation(name: string, host: string, secret: string): void {
  const turns = parseConversation(
    readFileSync(join(import.meta.dirname, "conversations", `${name}.txt`), "utf8"),
  );
  const { manifest, toolspec } = readPair(name);
  for (const turn of turns) {
    test(`${name}: ${turn.title}`, async () => {
      await using directory = await makeTemporaryDirectory();
      const authority = createTestAuthority();
      const differences: string[] = [];
      let heard = 0;
      await using server = await startTlsServer({
        certificate: authority.sign({ hosts: [host] }),
        respond(request, answer) {
          const { request: expected, response } = turn.exchanges[heard] ?? {
            request: "nothing more",
            response: "500",
          };
          heard += 1;
          const actual = written(request);
          if (actual !== expected) {
            differences.push(actual, expected);
            answer.writeHead(599).end();
            return;
          }
          const { status, headers, body } = parseResponse(response);
          answer.writeHead(status, Object.fromEntries(headers));
          answer.end(body);
        },
      });
      const placeholder = createPlaceholder(randomBytes);
      await using egress = createEgress(
        {
          connectTo: { [host]: server.endpoint },
          internalRanges: ["127.0.0.0/8"],
          caCertificates: [authority.certificate],
        },
        { directory: directory.path, now: () => startedAt, randomBytes, onEvent() {} },
      );
      const source = {
        id: `toolspec:${name}`,
        allow: egressPatterns(manifest),
        credentials: placedCredentials(manifest, toolspec).map((one) => ({
          ...one,
          placeholder,
          secretName: name,
          read: () => secret,
        })),
      };
      await using toolpack = createToolpackSource(
        {
          manifest,
          toolspec,
          tools: toolspec.tools.map((tool) => tool.name),
          tokenOf: () => placeholder,
        },
        {
          send: (request) => egress.fetch(request, source),
          now: () => startedAt,
          sleep: async () => {},
          random: () => 0,
          version: "1.2.3",
        },
      );
      const tool = toolpack.tools().find(({ definition }) => definition.name === turn.tool);
      assert.ok(tool, `the catalog has no ${turn.tool}`);
      const result = await toolpack.call(tool, turn.args, clientCall());
      assert.equal(differences[0], differences[1]);
      assert.equal(heard, turn.exchanges.length);
      const { body } = parseResponse(turn.exchanges.at(-1)?.response ?? "");
      const expected = turn.result.replace("<body>", () => body).replace("<placeholder>", placeholder);
      assert.equal(textsOf(result).join("\n"), expected);
      assert.equal(result.isError === true, turn.isError);
      assert.doesNotMatch(JSON.stringify(result), new RegExp(secret));
    });
  }
}

function readPair(name: string) {
  const files = ["manifests", "toolspecs"].map((folder) => {
    const path = `${folder}/${name}/0.1.0.yaml`;
    return { path, text: readFileSync(join(catalog, path)) };
  });
  const { pairs, diagnostics } = lintCatalog(files, { subject: "toolspecs" });
  const [pair] = pairs;
  assert.ok(pair, diagnostics.map(({ message }) => message).join("; "));
  return pair;
}

checkConversation("github", "api.github.com", "github-test-token");
checkConversation("gitlab", "gitlab.com", "gitlab-test-token");
checkConversation("stripe", "api.stripe.com", "stripe-test-key");
checkConversation("linear", "api.linear.app", "linear-test-key");
checkConversation("pagerduty", "api.pagerduty.com", "pagerduty-test-key");
checkConversation("twilio", "api.twilio.com", "ACXXXXXXXX:twilio-test-token");
