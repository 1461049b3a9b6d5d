import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import {
  formatConfigReport,
  parseConfig,
  resolveTransport,
  SecretResolver,
  type ToolServerConfig,
} from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { openSecretStore } from "@toolcrib/secrets";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolcrib-secrets-"));
});
after(() => rm(folder, { recursive: true }));

async function secretFile(path: string, content: string | Uint8Array, mode = 0o600): Promise<string> {
  const full = join(folder, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, content);
  await chmod(full, mode);
  return full;
}

function resolver(env: { readonly [name: string]: string } = {}): SecretResolver {
  return new SecretResolver({ env, readFile: readRegularFile, home: join(folder, "home") });
}

/** The first server of a file `toolcrib.yaml` (or `name`) in the folder. */
function serverOf(text: string, name = "toolcrib.yaml"): ToolServerConfig {
  const { value, diagnostics } = parseConfig([{ name: join(folder, name), text }]);
  assert.ok(value, formatConfigReport([], diagnostics));
  const [server] = value.toolServers;
  assert.ok(server);
  return server;
}

const withKey = (ref: string): ToolServerConfig =>
  serverOf(
    `tool_servers:\n- id: a\n  transport:\n    kind: stdio\n    command: x\n    env:\n      API_KEY: { secret_key_ref: ${ref} }\n`,
  );

/** Resolves the variable API_KEY. */
async function keyOf(ref: string, secrets: SecretResolver): Promise<string | undefined> {
  const transport = await resolveTransport(withKey(ref), secrets);
  return transport.kind === "stdio" ? transport.env["API_KEY"] : undefined;
}

/** Returns the error of a server that cannot start. */
async function failureOf(
  server: ToolServerConfig,
  secrets: SecretResolver,
): Promise<{ code: string; message: string; hint: string }> {
  try {
    await resolveTransport(server, secrets);
  } catch (error) {
    assert.ok(isCodedError(error));
    return {
      code: error.code,
      message: error.message.replaceAll(folder, "…"),
      hint: (error.hint ?? "").replaceAll(folder, "…"),
    };
  }
  return assert.fail("it resolved");
}

test("resolveTransport() reads a secret from the environment", async () => {
  const secrets = resolver({ TOKEN: "hunter2" });
  assert.equal(await keyOf("{ env: TOKEN }", secrets), "hunter2");
  assert.deepEqual(secrets.values(), ["hunter2"]);
});

test("resolveTransport() remembers no literal that only may be a secret: it would be removed from results", async () => {
  const env = {
    COMPASS: "north-west",
    BUCKET: "my-company-prod-logs-eu-central-1-123456789012",
    SPREADSHEET: "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgVE2upms",
    PIN: "4920",
    DATABASE_URL: "postgresql://app:hunter2@db/shop",
  };
  const own = { tool_servers: [{ id: "a", transport: { kind: "stdio", command: "x", env } }] };
  const foreign = { mcpServers: { a: { command: "x", env } } };
  for (const [config, name] of [
    [own, "toolcrib.json"],
    [foreign, ".mcp.json"],
  ] as const) {
    const secrets = resolver();
    const transport = await resolveTransport(serverOf(JSON.stringify(config), name), secrets);
    assert.deepEqual(transport.kind === "stdio" && transport.env, env);
    assert.deepEqual(secrets.values(), [], name);
  }
  // What is one by its name or form is removed: only other programs' files may contain it.
  const secrets = resolver();
  const certain = {
    mcpServers: { a: { command: "x", env: { API_KEY: "hunter2", OTHER: `ghp_${"aB3d".repeat(9)}` } } },
  };
  await resolveTransport(serverOf(JSON.stringify(certain), ".mcp.json"), secrets);
  assert.deepEqual(secrets.values(), [`ghp_${"aB3d".repeat(9)}`, "hunter2"]);
});

test("resolveTransport() reads a secret from a file, without its trailing line break", async () => {
  await secretFile("key", "hunter2\n");
  await secretFile("crlf", "hunter2\r\n");
  await secretFile("spaces", " two \nlines\n\n");
  assert.equal(
    await keyOf("{ file: key }", resolver()),
    "hunter2",
    "relative to the folder of the configuration",
  );
  assert.equal(await keyOf(`{ file: ${join(folder, "key")} }`, resolver()), "hunter2");
  assert.equal(await keyOf("{ file: ~/key }", resolver({ HOME: folder })), "hunter2");
  assert.equal(await keyOf("{ file: crlf }", resolver()), "hunter2");
  assert.equal(await keyOf("{ file: spaces }", resolver()), " two \nlines\n", "one line break only");
});

test("resolveTransport() looks for a named secret in its variable, then in Toolcrib's home", async () => {
  await secretFile("home/secrets/my-tool.api_key", "from the file\n");
  assert.equal(await keyOf("my-tool.api_key", resolver()), "from the file");
  assert.equal(
    await keyOf("my-tool.api_key", resolver({ TOOLCRIB_SECRET_MY_TOOL_API_KEY: "from the variable" })),
    "from the variable",
  );
});

/** Writes a keychain command with the entry `kept` into a separate folder. */
async function keychainCommand(): Promise<string> {
  const [name, absent] = process.platform === "darwin" ? ["security", 44] : ["secret-tool", 1];
  const path = await secretFile(
    `keychain/${name}`,
    `#!/bin/sh\ncase "$*" in *kept*) printf 'from the keychain' ;; *broken*) echo no session >&2; exit 1 ;; *) exit ${absent} ;; esac\n`,
    0o700,
  );
  return dirname(path);
}

const stored = { now: Date.now, randomBytes };

test("resolveTransport() reads secrets of the store and of the keychain", async () => {
  const home = join(folder, "home");
  await using store = await openSecretStore({ home, env: {} }, stored);
  await store.set("kept", "from the store");
  await store.set("my-tool.api_key2", "named in the store");
  await secretFile("home/secrets/my-tool.api_key2", "from the file\n");
  const PATH = await keychainCommand();
  const secrets = resolver({ PATH });
  assert.equal(await keyOf("{ store: kept }", secrets), "from the store");
  assert.equal(await keyOf("{ keychain: kept }", secrets), "from the keychain");
  assert.equal(await keyOf("my-tool.api_key2", secrets), "named in the store", "before the plain file");
  assert.deepEqual(
    [...secrets.values()].sort(),
    ["from the keychain", "from the store", "named in the store"],
    "all of them are scrubbed",
  );
  await store.set("kept", "rotated in the store");
  assert.equal(await keyOf("{ store: kept }", secrets), "rotated in the store");
  await store.delete("kept");
  await store.delete("my-tool.api_key2");
  assert.equal(await keyOf("my-tool.api_key2", secrets), "from the file");
});

test("resolveTransport() does not fall back on a plain file when the stored secret cannot be opened", async () => {
  const home = join(folder, "home");
  const key = randomBytes(32).toString("base64");
  await using store = await openSecretStore(
    { home: join(folder, "other"), env: { TOOLCRIB_SECRETS_KEY: key } },
    stored,
  );
  await store.set("lost", "in the store");
  await secretFile("home/secrets/lost", "an old value\n");
  await mkdir(join(home, "secrets/.store"), { recursive: true, mode: 0o700 });
  await secretFile(
    "home/secrets/.store/lost.sealed",
    await readFile(join(folder, "other/secrets/.store/lost.sealed")),
  );
  const { code, message } = await failureOf(
    withKey("lost"),
    resolver({ TOOLCRIB_SECRETS_KEY: randomBytes(32).toString("base64") }),
  );
  assert.equal(code, "CONFIG_SECRET_UNREADABLE");
  assert.match(message, /Cannot decrypt secret "lost": it was encrypted with a different key/);
  await rm(join(home, "secrets/.store/lost.sealed"));
});

test("resolveTransport() reports secrets that are missing in the keychain", async () => {
  const PATH = await keychainCommand();
  const absent = await failureOf(withKey("{ keychain: absent }"), resolver({ PATH }));
  assert.equal(absent.code, "CONFIG_SECRET_NOT_FOUND");
  assert.match(absent.message, /Cannot find secret "absent" in the keychain/);
  for (const [env, ref] of [
    [{ PATH }, "broken"],
    [{ PATH: join(folder, "nowhere") }, "kept"],
  ] as const) {
    const { code, message } = await failureOf(withKey(`{ keychain: ${ref} }`), resolver(env));
    assert.equal(code, "CONFIG_SECRET_NOT_AVAILABLE");
    assert.match(
      message,
      /Cannot read secret "\w+" from the keychain: (?:the command .* is not found|.* failed)/,
    );
  }
});

test("resolveTransport() names the field without its secret, and how to set it", async () => {
  await secretFile("exposed", "hunter2", 0o644);
  await secretFile("home/secrets/shared", "hunter2", 0o640);
  await secretFile("empty", "\n");
  await secretFile("large", "x".repeat(64 * 1024 + 1));
  await secretFile("binary", Buffer.from([0xff, 0xfe]));
  await mkdir(join(folder, "directory"), { recursive: true });
  const at = "(env.API_KEY) […/toolcrib.yaml:7:16]";
  const rows: readonly (readonly [ref: string, code: string, message: string, hint: string])[] = [
    [
      "{ env: TOKEN }",
      "CONFIG_SECRET_NOT_FOUND",
      "Cannot read a secret from the environment: TOKEN is not set",
      "set TOKEN in the environment that starts Toolcrib",
    ],
    [
      "{ env: EMPTY }",
      "CONFIG_SECRET_NOT_FOUND",
      "Cannot read a secret from the environment: EMPTY is empty",
      "set EMPTY in the environment that starts Toolcrib",
    ],
    [
      "{ env: constructor }",
      "CONFIG_SECRET_NOT_FOUND",
      "Cannot read a secret from the environment: constructor is not set",
      "set constructor in the environment that starts Toolcrib",
    ],
    [
      "{ file: missing }",
      "CONFIG_SECRET_NOT_FOUND",
      'Cannot read the secret file "…/missing": the file does not exist',
      "create it (mode 600), or correct the path",
    ],
    [
      "{ file: directory }",
      "CONFIG_SECRET_UNREADABLE",
      'Cannot read the secret file "…/directory": it is a folder',
      "make it a file that the user who runs Toolcrib can read",
    ],
    [
      "{ file: exposed }",
      "CONFIG_SECRET_EXPOSED",
      'Cannot use the secret file "…/exposed": its mode 644 gives other users of this machine access',
      "run chmod 600 …/exposed",
    ],
    [
      "{ file: empty }",
      "CONFIG_SECRET_UNUSABLE",
      'Cannot use the secret file "…/empty": it is empty',
      "write the secret into it",
    ],
    [
      "{ file: large }",
      "CONFIG_SECRET_UNUSABLE",
      'Cannot use the secret file "…/large": it is longer than 65,536 bytes',
      "name a file that contains only the secret",
    ],
    [
      "{ file: binary }",
      "CONFIG_SECRET_UNUSABLE",
      'Cannot use the secret file "…/binary": it is not UTF-8 text',
      "store the secret as text",
    ],
    [
      "my-token",
      "CONFIG_SECRET_NOT_FOUND",
      'Cannot find secret "my-token": there is no file "…/home/secrets/my-token", and TOOLCRIB_SECRET_MY_TOKEN is not set',
      "run toolcrib secret set my-token, or put it into that file (mode 600), or set TOOLCRIB_SECRET_MY_TOKEN",
    ],
    [
      "shared",
      "CONFIG_SECRET_EXPOSED",
      'Cannot use the secret file "…/home/secrets/shared": its mode 640 gives other users of this machine access',
      "run chmod 600 …/home/secrets/shared",
    ],
    [
      "{ store: kept }",
      "CONFIG_SECRET_NOT_FOUND",
      'Cannot find secret "kept" in the secret store',
      "run toolcrib secret set kept",
    ],
  ];
  for (const [ref, code, message, hint] of rows) {
    assert.deepEqual(await failureOf(withKey(ref), resolver({ EMPTY: "" })), {
      code,
      message: `Tool server "a" cannot start: ${message} ${at}`,
      hint,
    });
  }
});

test("resolveTransport() reports all missing secrets of a server together", async () => {
  const server = serverOf(
    "tool_servers: [{ id: a, transport: { kind: sse, url: https://x.test/, headers: { X-A: { secret_key_ref: { env: A } }, X-B: { secret_key_ref: { env: B } } } } }]",
  );
  const { message } = await failureOf(server, resolver());
  assert.match(message, /A is not set \(headers\.X-A\).*; .*B is not set \(headers\.X-B\)/);
});

test("resolveTransport() reads a secret again at each start", async () => {
  const server = withKey("{ file: rotated }");
  const secrets = resolver();
  for (const value of ["first", "second-and-longer"]) {
    await secretFile("rotated", value);
    const transport = await resolveTransport(server, secrets);
    assert.equal(transport.kind === "stdio" && transport.env["API_KEY"], value);
  }
  assert.deepEqual(
    secrets.values(),
    ["second-and-longer", "first"],
    "both are scrubbed, the longer one first",
  );
});

test("resolveTransport() puts the prefix before the secret, and remembers the secret alone", async () => {
  const server = serverOf(
    'tool_servers: [{ id: a, transport: { kind: sse, url: https://x.test/sse, headers: { Authorization: { prefix: "Bearer ", secret_key_ref: { env: T } } } } }]',
  );
  const secrets = resolver({ T: "hunter2" });
  assert.deepEqual(await resolveTransport(server, secrets), {
    kind: "sse",
    url: "https://x.test/sse",
    headers: { Authorization: "Bearer hunter2" },
  });
  assert.deepEqual(secrets.values(), ["hunter2"]);
});

test("resolveTransport() rejects a secret that is not a valid header value, without revealing it", async () => {
  const server = serverOf(
    "tool_servers: [{ id: a, transport: { kind: sse, url: https://x.test/sse, headers: { Authorization: { secret_key_ref: { env: T } } } } }]",
  );
  const { code, message } = await failureOf(server, resolver({ T: "hunter2\r\nX-Injected: 1" }));
  assert.equal(code, "CONFIG_SECRET_UNUSABLE");
  assert.doesNotMatch(message, /hunter2|Injected/);
});

test("resolveTransport() does not change a server without secrets", async () => {
  const server = serverOf(
    `tool_servers: [{ id: a, transport: { kind: stdio, command: ./x, args: ["\${HOME}", ""], env: { A: b }, cwd: sub } }]`,
  );
  assert.deepEqual(await resolveTransport(server, resolver({ HOME: "/root" })), {
    kind: "stdio",
    command: "./x",
    args: [`\${HOME}`, ""],
    env: { A: "b" },
    cwd: join(folder, "sub"),
  });
});

test("resolveTransport() expands variables in the files of other programs", async () => {
  const text = JSON.stringify({
    mcpServers: {
      a: {
        command: `\${BIN:-npx}`,
        args: [`\${workspaceFolder}/data`, `--home=\${userHome}`, `\${EMPTY:-default}`, `\${EMPTY}`],
        env: { API_KEY: `\${API_KEY}`, MODE: `\${MODE:-fast}` },
      },
    },
  });
  const secrets = resolver({ API_KEY: "hunter2", HOME: "/home/me", EMPTY: "" });
  const expected = {
    kind: "stdio",
    command: "npx",
    args: [`${folder}/data`, "--home=/home/me", "default", ""],
    env: { API_KEY: "hunter2", MODE: "fast" },
  };
  assert.deepEqual(await resolveTransport(serverOf(text, ".mcp.json"), secrets), expected);
  assert.deepEqual(secrets.values(), ["hunter2"], "what is no credential is not scrubbed");
  assert.deepEqual(
    await resolveTransport(serverOf(text, ".vscode/mcp.json"), secrets),
    expected,
    "the folder above .vscode",
  );
});

test("resolveTransport() names the unset variable of another program's file", async () => {
  const server = serverOf(
    `{ "mcpServers": { "a": { "url": "https://x.test/\${PLACE}", "headers": { "Authorization": "Bearer \${TOKEN}" } } } }`,
    ".mcp.json",
  );
  const { code, message, hint } = await failureOf(server, resolver());
  assert.equal(code, "CONFIG_VARIABLE_NOT_SET");
  assert.match(
    message,
    /Cannot fill "\$\{PLACE\}" \(url\): PLACE is not set .*; Cannot fill "\$\{TOKEN\}" \(headers\.Authorization\)/,
  );
  assert.equal(hint, `set PLACE in the environment that starts Toolcrib, or write \${PLACE:-default}`);
});

test("resolveTransport() checks a URL that came from a variable", async () => {
  const server = serverOf(`{ "mcpServers": { "a": { "url": "\${URL}" } } }`, ".mcp.json");
  assert.equal(
    (await failureOf(server, resolver({ URL: "http://tool.internal/" }))).code,
    "CONFIG_URL_INSECURE",
  );
  assert.equal(
    (await failureOf(server, resolver({ URL: "https://me:pw@tool.internal/" }))).code,
    "CONFIG_URL_CREDENTIALS",
  );
  assert.equal((await failureOf(server, resolver({ URL: "nonsense" }))).code, "CONFIG_URL_INVALID");
  assert.deepEqual(await resolveTransport(server, resolver({ URL: "https://tool.internal/" })), {
    kind: "streamable_http",
    url: "https://tool.internal/",
    headers: {},
  });
});

test("resolveTransport() refuses a server that only another program can start", async () => {
  const server = serverOf(
    `{ "servers": { "a": { "command": "x", "env": { "K": "\${input:k}" } } } }`,
    "mcp.json",
  );
  const { code, message } = await failureOf(server, resolver());
  assert.equal(code, "CONFIG_VARIABLE_NOT_AVAILABLE");
  assert.match(message, /^Tool server "a" cannot start: .*needs an answer from a person/);
});

test("resolveTransport() remembers credentials in another program's file, with and without their scheme", async () => {
  const server = serverOf(
    '{ "mcpServers": { "a": { "url": "https://x.test/", "headers": { "Authorization": "Bearer hunter2hunter2" } } } }',
    ".mcp.json",
  );
  const secrets = resolver();
  await resolveTransport(server, secrets);
  assert.deepEqual(secrets.values(), ["Bearer hunter2hunter2", "hunter2hunter2"]);
});

test("resolveTransport() follows HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and never uses a proxy to this machine", async () => {
  const secrets = resolver({
    HTTPS_PROXY: "http://secure:1",
    http_proxy: "plain:2",
    NO_PROXY: "intern.test, .corp.test,10.0.0.1:8443",
  });
  const proxyTo = async (url: string) => {
    const transport = `{ kind: streamable_http, url: "${url}", allow_http: true, proxy: env }`;
    const resolved = await resolveTransport(
      serverOf(`tool_servers:\n- id: a\n  transport: ${transport}\n`),
      secrets,
    );
    return resolved.kind === "stdio" ? assert.fail("it is a process") : resolved.network?.proxy;
  };
  assert.equal(await proxyTo("https://a.test/"), "http://secure:1");
  assert.equal(await proxyTo("http://a.test/"), "http://plain:2");
  const direct = ["intern.test", "a.intern.test", "a.corp.test", "10.0.0.1:8443"];
  for (const host of [...direct, "localhost", "127.0.0.1", "[::1]"]) {
    assert.equal(await proxyTo(`https://${host}/`), undefined, host);
  }
  assert.equal(await proxyTo("https://10.0.0.1/"), "http://secure:1");
});

test("resolveTransport() rejects a proxy whose password cannot be decoded, without revealing it", async () => {
  const server = serverOf(
    "tool_servers: [{ id: a, transport: { kind: streamable_http, url: https://a.test/, proxy: { secret_key_ref: { env: P } } } }]",
  );
  for (const password of ["hunter%zz2", "hunter2%", "hunter%ff2"]) {
    const secrets = resolver({ P: `http://me:${password}@proxy.test:1` });
    const { code, message } = await failureOf(server, secrets);
    assert.equal(code, "CONFIG_URL_INVALID");
    assert.match(message, /transport\.proxy has a user or password with a percent sign/);
    assert.doesNotMatch(message, /hunter/);
    assert.ok(secrets.values().includes(password));
  }
});
