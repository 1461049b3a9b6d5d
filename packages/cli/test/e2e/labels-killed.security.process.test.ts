/** A gateway that is killed when its client has labelled data: the next one knows the label. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { type ServedGateway, serveGateway } from "./gateway-process.ts";

/** A server whose tools send personal data in each form. */
const source = `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const data = "jane.doe@example.com";
const names = ["send", "result", "error", "log", "progress", "ask"];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: "s", version: "1" } } });
  else if (method === "tools/list") send({ id, result: { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) } });
  else if (method === "tools/call") {
    const { name, _meta } = params;
    if (name === "error") send({ id, error: { code: -32000, message: data } });
    else if (name === "log") send({ method: "notifications/message", params: { level: "error", data } });
    else if (name === "progress") send({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress: 1, message: data } });
    else if (name === "ask") send({ id: "q", method: "elicitation/create", params: { message: data, requestedSchema: { type: "object", properties: {} } } });
    else send({ id, result: { content: [{ type: "text", text: name === "send" ? "sent" : data }] } });
  } else if (id !== undefined && method !== undefined) send({ id, result: {} });
});
`;

/** Opens a session, and returns a function that posts a call. */
async function openSession({ baseUrl, token }: ServedGateway) {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token}`,
  };
  const post = (method: string, params: object, id?: number) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    return fetch(`${baseUrl}/mcp`, { method: "POST", headers, body });
  };
  const clientInfo = { name: "kill", version: "1" };
  const capabilities = { elicitation: {} };
  const opened = await post("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo }, 1);
  headers["mcp-session-id"] = opened.headers.get("mcp-session-id") as string;
  await opened.text();
  await (await post("notifications/initialized", {})).text();
  await (await post("logging/setLevel", { level: "debug" }, 2)).text();
  return (name: string) =>
    post("tools/call", { name, arguments: {}, _meta: { progressToken: `token of ${name}` } }, 3);
}

describe("a client that has received labelled data when its gateway is killed", () => {
  for (const way of ["result", "error", "log", "progress", "ask"]) {
    it(`is refused by the next gateway, after ${way === "ask" ? "a question" : `data by ${way}`}`, async () => {
      await using directory = await makeTemporaryDirectory();
      const home = directory.join("home");
      const config = directory.join("toolcrib.json");
      const transport = { kind: "stdio", command: process.execPath, args: [directory.join("server.mjs")] };
      writeFileSync(directory.join("server.mjs"), source);
      writeFileSync(
        directory.join("main.cedar"),
        `permit(principal, action, resource);
         forbid(principal, action == Action::"call", resource in ToolServer::"sink") when { context.seen_labels.contains("personal") };`,
      );
      const tool_servers = [
        { id: "people", transport, trust_state: "certified", data_labels: ["personal"] },
        { id: "sink", transport, trust_state: "certified" },
      ];
      writeFileSync(config, JSON.stringify({ tool_servers, policy: { files: ["main.cedar"] } }));
      const start = async () => {
        const gateway = await serveGateway(config, home);
        await waitUntil(async () => (await fetch(`${gateway.baseUrl}/readyz`)).ok);
        return gateway;
      };
      {
        await using gateway = await start();
        const call = await openSession(gateway);
        assert.match(await (await call("sink__send")).text(), /sent/);
        const response = await call(`people__${way}`);
        let received = "";
        for await (const piece of response.body ?? []) {
          received += Buffer.from(piece).toString();
          if (!received.includes("jane.doe")) continue;
          process.kill(gateway.process.pid, "SIGKILL");
          break;
        }
        assert.match(received, /jane\.doe/);
      }
      await using again = await start();
      const call = await openSession(again);
      assert.match(await (await call("sink__send")).text(), /POLICY_DENIED/);
    });
  }
});
