/**
 * Attempts to pass a labelled value on to a tool that its label excludes. Each attempt
 * is made with a labelled source, where it must fail, and with one without a label,
 * where it must succeed.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { JsonObject } from "@toolcrib/json";
import { fastSample, makeTemporaryDirectory, slowTest } from "@toolcrib/testing";
import {
  dataOf,
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  toolNamed,
} from "./gateway-harness.ts";

const secret = "jane.doe@example.com";

/** Programs that send something that follows from `p.read()`, or only after it. `P` is the server that they read from. */
const programs: { readonly [name: string]: string } = {
  "the value itself": "mail.send(text=P.read().text)",
  "a constant after it": 'P.read()\nmail.send(text="x")',
  "a slice": "mail.send(text=P.read().text[0:3])",
  "single characters": 'mail.send(text="".join([c for c in P.read().text.elems()]))',
  "another case": "mail.send(text=P.read().text.upper())",
  "a replacement": 'mail.send(text=P.read().text.replace("@", " at "))',
  "parts of a split": 'mail.send(text=P.read().text.split("@")[0])',
  "a format": 'mail.send(text="<%s>" % P.read().text)',
  "a format method": 'mail.send(text="<{}>".format(P.read().text))',
  "an f-string": 'x = P.read().text\nmail.send(text=f"<{x}>")',
  "its length": "mail.send(text=str(len(P.read().text)))",
  "a code point": "mail.send(text=str(ord(P.read().text[0])))",
  "a key of a dict": "d = {P.read().text: 1}\nmail.send(text=d.keys()[0])",
  "a value of a dict": 'd = {"k": P.read().text}\nmail.send(text=d["k"])',
  "a list": "l = [P.read().text]\nmail.send(text=l[0])",
  "a sorted list": "mail.send(text=sorted([P.read().text])[0])",
  "a count": 'mail.send(text=str(P.read().text.count("e")))',
  "a condition": 'if "jane" in P.read().text:\n    mail.send(text="yes")',
  "the other branch": 'if "nobody" in P.read().text:\n    pass\nelse:\n    mail.send(text="no")',
  "the number of turns": 'n = 0\nfor c in P.read().text.elems():\n    n += 1\nmail.send(text="x" * n)',
  "a comparison": 'mail.send(text=str(P.read().text > "j"))',
  JSON: "mail.send(text=json.encode(P.read()))",
  "JSON there and back": "mail.send(text=json.decode(json.encode(P.read().text)))",
  "a function": "def f(x):\n    return x\nmail.send(text=f(P.read().text))",
  "a captured variable": "x = P.read().text\ndef f():\n    return x\nmail.send(text=f())",
  "a lambda": "f = lambda x: x + x\nmail.send(text=f(P.read().text))",
  "a tuple": "a, b = (P.read().text, 1)\nmail.send(text=a)",
  "an argument's name": 'mail.send(**{"text": "x", P.read().text: 1})',
  "the message of an error": "try:\n    P.broken()\nexcept ToolError as e:\n    mail.send(text=e.message)",
  "an error alone": 'try:\n    P.broken()\nexcept Error as e:\n    mail.send(text="failed")',
  "parallel calls before it": "r = parallel([lambda: P.read(), lambda: P.read()])\nmail.send(text=str(r))",
  "a computed tool name": 'tools["mail" + "__send"](text=P.read().text)',
};

interface Servers extends AsyncDisposable {
  readonly labelled: ScriptedServer;
  readonly plain: ScriptedServer;
  readonly mail: ScriptedServer;
  /** Texts that `mail.send` received. */
  readonly sent: string[];
}

async function startServers(): Promise<Servers> {
  const sent: string[] = [];
  const source = () =>
    startScriptedServer({
      tools: () => [toolNamed("read"), toolNamed("broken")],
      resources: () => [{ uri: "file:///people", name: "people" }],
      prompts: () => [{ name: "people" }],
      call: (_request, name) =>
        name === "broken"
          ? { content: [{ type: "text", text: `cannot read ${secret}` }], isError: true }
          : { content: [{ type: "text", text: secret }], structuredContent: { text: secret } },
      other: ({ method, params }): JsonObject | undefined =>
        method === "resources/read"
          ? { contents: [{ uri: String(params["uri"]), text: secret }] }
          : method === "prompts/get"
            ? { messages: [{ role: "user", content: { type: "text", text: secret } }] }
            : undefined,
    });
  const mail = await startScriptedServer({
    tools: () => [toolNamed("send")],
    call(_request, _name, args) {
      sent.push(JSON.stringify(args));
      return { content: [{ type: "text", text: "sent" }] };
    },
  });
  const [labelled, plain] = [await source(), await source()];
  return {
    labelled,
    plain,
    mail,
    sent,
    async [Symbol.asyncDispose]() {
      for (const server of [labelled, plain, mail]) await server[Symbol.asyncDispose]();
    },
  };
}

function documentFor({ labelled, plain, mail }: Servers, fact: "labels" | "seen_labels"): JsonObject {
  const files = { "main.cedar": policyBy(fact) };
  return {
    tool_servers: [
      onHttp("people", labelled.url, { data_labels: ["personal", "internal"] }),
      onHttp("plain", plain.url),
      onHttp("mail", mail.url),
    ],
    policy: { files: Object.keys(files) },
  };
}

const policyBy = (fact: "labels" | "seen_labels") => `
permit(principal, action, resource);
@id("no-personal-mail")
forbid(principal, action == Action::"call", resource in ToolServer::"mail") when { context.${fact}.contains("personal") };`;

const start = (servers: Servers, fact: "labels" | "seen_labels", clients: readonly string[], home?: string) =>
  startTestGateway(documentFor(servers, fact), {
    clients,
    files: { "main.cedar": policyBy(fact) },
    ...(home === undefined ? {} : { home }),
  });

const run = (client: Client, code: string) =>
  client.callTool({ name: "eval_starlark", arguments: { code } }).catch(String);

const send = async (client: Client) =>
  ((await client.callTool({ name: "mail__send", arguments: { text: "x" } })) as { isError?: boolean })
    .isError !== true;

describe("a labelled value", () => {
  for (const fact of ["labels", "seen_labels"] as const) {
    it(`cannot be passed on by a program, by context.${fact}`, async () => {
      await using servers = await startServers();
      const attempts = fastSample(Object.entries(programs));
      const clients = attempts.flatMap((_attempt, at) => [`l${at}`, `p${at}`]);
      await using test = await start(servers, fact, clients);
      for (const [at, [name, code]] of attempts.entries()) {
        const refused = await run(await test.connect({ as: `l${at}` }), code.replaceAll("P.", "people."));
        assert.deepEqual(servers.sent.splice(0), [], name);
        // The rule and its file are for the operator.
        assert.doesNotMatch(JSON.stringify(refused), /main\.cedar|no-personal-mail/, name);
        const control = await run(await test.connect({ as: `p${at}` }), code.replaceAll("P.", "plain."));
        assert.notDeepEqual(
          servers.sent.splice(0),
          [],
          `${name}, without the label: ${JSON.stringify(control)}`,
        );
      }
    });
  }

  it("cannot be passed on by a client that has received it in any way", slowTest, async () => {
    await using servers = await startServers();
    const ways: { readonly [name: string]: (client: Client, server: string) => Promise<unknown> } = {
      "a call": (client, server) => client.callTool({ name: `${server}__read`, arguments: {} }),
      "a call that fails": (client, server) => client.callTool({ name: `${server}__broken`, arguments: {} }),
      call_tool: (client, server) =>
        client.callTool({ name: "call_tool", arguments: { name: `${server}__read`, arguments: {} } }),
      "a resource": async (client, server) =>
        await (await connectTo(client, server)).readResource({ uri: "file:///people" }),
      "a prompt": (client, server) => client.getPrompt({ name: `${server}__people` }),
      "a program": (client, server) => run(client, `return ${server}.read()`),
      "a program that returns nothing of it": (client, server) => run(client, `${server}.read()\nreturn 1`),
      "a saved tool": async (client, server) => {
        const name = `tool_${server}`;
        await client.callTool({
          name: "save_tool",
          arguments: { name, description: "Reads", inputSchema: {}, code: `return ${server}.read()` },
        });
        return client.callTool({ name, arguments: {} });
      },
    };
    const names = Object.keys(ways);
    const clients = names.flatMap((_name, at) => [`l${at}`, `p${at}`]);
    await using test = await start(servers, "seen_labels", clients);
    const views = new Map<Client, string>();
    async function connectTo(client: Client, server: string): Promise<Client> {
      return test.connect({ as: views.get(client) as string, server });
    }
    for (const [at, name] of names.entries()) {
      for (const [as, server] of [
        [`l${at}`, "people"],
        [`p${at}`, "plain"],
      ] as const) {
        const client = await test.connect({ as });
        views.set(client, as);
        assert.equal(await send(client), true, `${name}: before`);
        await ways[name]?.(client, server);
        // In another session of the same client.
        assert.equal(await send(await test.connect({ as })), server === "plain", `${name}: ${server}`);
      }
    }
  });

  it("is remembered over restarts, on record, in results, and until the operator forgets it", async () => {
    await using servers = await startServers();
    await using folder = await makeTemporaryDirectory();
    const home = folder.join("home");
    {
      await using test = await start(servers, "seen_labels", ["ci", "dev"], home);
      const ci = await test.connect({ as: "ci" });
      const result = await ci.callTool({ name: "people__read", arguments: {} });
      assert.deepEqual(result._meta?.["toolcrib/labels"], ["internal", "personal"]);
      assert.equal(await send(ci), false);
      assert.equal(await send(await test.connect({ as: "dev" })), true);
      await test.stop();
      const [completed] = dataOf(test.audit(), "call.completed");
      assert.deepEqual(completed?.labels, ["internal", "personal"]);
      const intents = dataOf(test.audit(), "call.intent");
      assert.deepEqual([intents[0]?.labels, intents[0]?.seenLabels], [[], []]);
    }
    await using again = await start(servers, "seen_labels", ["ci"], home);
    assert.equal(await send(await again.connect({ as: "ci" })), false);
  });
});
