import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import {
  createTestAuthority,
  makeTemporaryDirectory,
  type ProcessOutcome,
  runProcess,
  startServerProcess,
  startTlsServer,
  type TemporaryDirectory,
  type TlsServer,
  waitUntil,
} from "@toolcrib/testing";
import { skipWithoutSandbox } from "./skip-without-sandbox.ts";
import { cleanEnvironment, commandLine, runToolcrib } from "./transcript.ts";

const host = "api.example.com";
const secret = "c4nary-value-of-a-secret";

interface Setting extends AsyncDisposable {
  readonly directory: TemporaryDirectory;
  readonly server: TlsServer;
  /** Options that route requests to the test server. */
  readonly flags: readonly string[];
  /** Runs a program with the proxy. */
  run(program: readonly string[], env?: { readonly [name: string]: string }): Promise<ProcessOutcome>;
}

const manifest = `
schemaVersion: 1
name: acme
version: 1.0.0
source: { repo: https://github.com/acme/acme, tag: v1.0.0 }
image: { ref: ghcr.io/acme/acme, digest: "sha256:${"0".repeat(64)}", entrypoint: /app/server }
tier: sealed
entitlements: { egress: [${host}, "*.wild.example.com"] }
credentials:
  - id: token
    type: api_key
    inject: { header: Authorization, format: "Bearer {token}" }
tools: [{ name: get, default: true }]
`;

async function startSetting(text = manifest): Promise<Setting> {
  const directory = await makeTemporaryDirectory();
  const authority = createTestAuthority();
  const server = await startTlsServer({
    certificate: authority.sign({ hosts: [host] }),
    respond(request, response) {
      const authorization = request.headers.find(([name]) => name.toLowerCase() === "authorization");
      response.writeHead(200, { "content-type": "text/plain" });
      response.end(`${request.method} ${request.target} ${request.body} ${authorization?.[1]}\n`);
    },
  });
  writeFileSync(directory.join("manifest.yaml"), text);
  writeFileSync(directory.join("ca.pem"), authority.certificate);
  const flags = [
    ...["--manifest", "manifest.yaml", "--ca-file", "ca.pem"],
    ...["--connect-to", `${host}=${server.endpoint}`, "--internal-range", "127.0.0.0/8"],
  ];
  return {
    directory,
    server,
    flags,
    run: (program, env = { TOOLCRIB_SECRET_ACME_TOKEN: secret }) =>
      runToolcrib(["egress", ...flags, "--", ...program], { directory: directory.path, env }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Programs without any Toolcrib code: each POSTs a body with the credential of its environment, and prints the response. */
const clients: readonly {
  readonly name: string;
  readonly probe: readonly string[];
  readonly program: readonly string[];
}[] = [
  {
    name: "curl over HTTP/1.1",
    probe: ["curl", "--version"],
    program: [
      "sh",
      "-c",
      `curl -sS --http1.1 -d hello -H "Authorization: Bearer $TOOLCRIB_CREDENTIAL_TOKEN" https://${host}/path?x=1`,
    ],
  },
  {
    name: "curl over HTTP/2",
    probe: ["sh", "-c", "curl --version | grep -q HTTP2"],
    program: [
      "sh",
      "-c",
      `curl -sS --http2 -d hello -H "Authorization: Bearer $TOOLCRIB_CREDENTIAL_TOKEN" https://${host}/path?x=1`,
    ],
  },
  {
    name: "urllib of Python",
    probe: ["python3", "-c", "import ssl"],
    program: [
      "python3",
      "-c",
      `import os, urllib.request as u
request = u.Request("https://${host}/path?x=1", b"hello", {"Authorization": "Bearer " + os.environ["TOOLCRIB_CREDENTIAL_TOKEN"]})
print(u.urlopen(request).read().decode(), end="")`,
    ],
  },
  {
    name: "requests of Python",
    probe: ["python3", "-c", "import requests"],
    program: [
      "python3",
      "-c",
      `import os, requests
headers = {"Authorization": "Bearer " + os.environ["TOOLCRIB_CREDENTIAL_TOKEN"]}
print(requests.post("https://${host}/path?x=1", data=b"hello", headers=headers).text, end="")`,
    ],
  },
  {
    name: "fetch of Node",
    probe: [process.execPath, "--version"],
    program: [
      process.execPath,
      "-e",
      `fetch("https://${host}/path?x=1", {method: "POST", body: "hello", headers: {authorization: "Bearer " + process.env.TOOLCRIB_CREDENTIAL_TOKEN}})
        .then((response) => response.text()).then((text) => process.stdout.write(text))`,
    ],
  },
  {
    name: "https of Node",
    probe: [process.execPath, "--version"],
    program: [
      process.execPath,
      "-e",
      `require("https").request("https://${host}/path?x=1", {method: "POST", headers: {authorization: "Bearer " + process.env.TOOLCRIB_CREDENTIAL_TOKEN}},
        (response) => response.pipe(process.stdout)).end("hello")`,
    ],
  },
  {
    name: "openssl and nothing else",
    probe: ["openssl", "version"],
    program: [
      "sh",
      "-c",
      `printf 'POST /path?x=1 HTTP/1.1\\r\\nHost: ${host}\\r\\nContent-Length: 5\\r\\nConnection: close\\r\\nAuthorization: Bearer %s\\r\\n\\r\\nhello' "$TOOLCRIB_CREDENTIAL_TOKEN" |
        openssl s_client -quiet -verify_return_error -proxy "\${HTTPS_PROXY#http://}" -connect ${host}:443 -servername ${host} -CAfile "$SSL_CERT_FILE" 2>/dev/null | grep -a '^POST'`,
    ],
  },
];

async function isThere([command = "", ...args]: readonly string[], directory: string): Promise<boolean> {
  const { code } = await runProcess(command, args, { env: cleanEnvironment(directory) });
  return code === 0;
}

for (const { name, probe, program } of clients) {
  test(`a program that uses ${name} reaches the API by its environment alone, and never sees the secret`, async (context: TestContext) => {
    await using setting = await startSetting();
    if (!(await isThere(probe, setting.directory.path))) return context.skip(`${name} is not here`);
    const { code, stdout, stderr } = await setting.run(program);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^POST \/path\?x=1 hello Bearer toolcrib-ph-[0-9a-f]{32}\n/);
    const [request, ...more] = setting.server.requests;
    assert.equal(more.length, 0);
    assert.equal(request?.body.toString(), "hello");
    const sent = request?.headers.find(([header]) => header.toLowerCase() === "authorization");
    assert.equal(sent?.[1], `Bearer ${secret}`);
    const records = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const used = records.find(({ msg }) => msg === "a secret was used");
    assert.equal(used?.secretName, "acme-token", stderr);
    assert.doesNotMatch(`${stdout}${stderr}`, /c4nary/);
    return undefined;
  });
}

test("the environment of the program contains no secret from any source", async () => {
  await using setting = await startSetting();
  const { code, stdout, stderr } = await setting.run(["env"], {
    TOOLCRIB_SECRET_ACME_TOKEN: secret,
    TOOLCRIB_SECRET_OTHER: "c4nary-of-another",
    TOOLCRIB_SECRETS_KEY: Buffer.alloc(32).toString("base64"),
    TOOLCRIB_TOKEN: "c4nary-of-the-gateway",
    ACME_TOKEN: secret,
    ACME_URL: `https://x:${secret}@${host}`,
    NO_PROXY: "*",
    no_proxy: "*",
    KEPT: "as it is",
  });
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stdout, /c4nary|TOOLCRIB_SECRET/);
  assert.match(stdout, /^KEPT=as it is$/m);
  const url = /^HTTPS_PROXY=(http:\/\/127\.0\.0\.1:\d+)$/m.exec(stdout)?.[1];
  for (const name of ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"]) {
    for (const each of [name, name.toLowerCase()]) assert.match(stdout, new RegExp(`^${each}=${url}$`, "m"));
  }
  assert.doesNotMatch(stdout, /^no_proxy=/im);
  for (const name of [
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
  ]) {
    const file = new RegExp(`^${name}=(.+)$`, "m").exec(stdout)?.[1] ?? "";
    assert.ok(existsSync(file), name);
    assert.doesNotMatch(readFileSync(file, "utf8"), /PRIVATE KEY/);
  }
  assert.match(stdout, /^TOOLCRIB_CREDENTIAL_TOKEN=toolcrib-ph-[0-9a-f]{32}$/m);
});

test("a program gets 403 with the reason for hosts that its manifest does not list, and the log reports it", async () => {
  await using setting = await startSetting();
  const script = `fetch("https://evil.example.com/").catch((error) => console.log("refused", error.cause?.code ?? ""))`;
  const { code, stdout, stderr } = await setting.run([process.execPath, "-e", script]);
  assert.equal(code, 0);
  assert.match(stdout, /^refused/);
  assert.match(stderr, /"code":"EGRESS_HOST_DENIED"/);
  assert.equal(setting.server.connectionCount, 0);
});

test("plain HTTP is refused with the reason, and no request in it leaves", async () => {
  await using setting = await startSetting();
  const plain = createServer((_request, response) => void response.end("reached"));
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  const { port } = plain.address() as AddressInfo;
  const programs = [
    `fetch("http://${host}/", { headers: { authorization: process.env.TOOLCRIB_CREDENTIAL_TOKEN } }).then((response) => response.text()).then(console.log)`,
    `require("node:http").get("http://${host}/", (response) => response.pipe(process.stdout))`,
  ];
  for (const script of programs) {
    const { stdout } = await setting.run([process.execPath, "-e", script]);
    assert.match(stdout, /EGRESS_PLAIN_HTTP/);
  }
  const curl = await setting.run([
    "sh",
    "-c",
    `command -v curl >/dev/null && curl -sS http://${host}/ || echo EGRESS_PLAIN_HTTP`,
  ]);
  assert.match(curl.stdout, /EGRESS_PLAIN_HTTP/);
  const local = `fetch("http://127.0.0.1:${port}/").then((response) => response.text()).then(console.log)`;
  assert.match((await setting.run([process.execPath, "-e", local])).stdout, /EGRESS_PLAIN_HTTP/);
  const own = ["env", "NO_PROXY=127.0.0.1", process.execPath, "-e", local];
  assert.match((await setting.run(own)).stdout, /^reached$/m);
  plain.close();
  assert.equal(setting.server.connectionCount, 0);
});

test("the exit code is the program's, or 128 plus its signal", async () => {
  await using setting = await startSetting();
  for (const [script, expected] of [
    ["exit 0", 0],
    ["exit 7", 7],
    ["exit 255", 255],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137],
  ] as const) {
    const { code } = await setting.run(["sh", "-c", script]);
    assert.equal(code, expected, script);
  }
});

test("the program has the standard streams of the command", async () => {
  await using setting = await startSetting();
  const { stdout, code } = await runToolcrib(["egress", ...setting.flags, "--", "cat", "-"], {
    directory: setting.directory.path,
    stdin: "\0 through \xff\n",
    env: { TOOLCRIB_SECRET_ACME_TOKEN: secret },
  });
  assert.equal(code, 0);
  assert.equal(stdout, "\0 through \xff\n");
});

test("the command forwards signals to the program, which decides how to handle them", async () => {
  await using setting = await startSetting();
  const script = 'trap "echo got TERM; exit 9" TERM; echo ready; while :; do sleep 0.05; done';
  const child = spawn(
    process.execPath,
    [...commandLine, "egress", ...setting.flags, "--", "sh", "-c", script],
    {
      cwd: setting.directory.path,
      env: {
        ...process.env,
        ...cleanEnvironment(setting.directory.path),
        TOOLCRIB_SECRET_ACME_TOKEN: secret,
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  await waitUntil(() => stdout.includes("ready"), { what: "the program runs" });
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  assert.equal(code, 9);
  assert.match(stdout, /got TERM/);
});

test("--listen prints the environment for other programs, and serves them until it is stopped", async () => {
  await using setting = await startSetting();
  const { path } = setting.directory;
  await using server = await startServerProcess(
    process.execPath,
    [...commandLine, "egress", ...setting.flags, "--listen", "--json"],
    {
      cwd: path,
      env: { ...cleanEnvironment(path), TOOLCRIB_SECRET_ACME_TOKEN: secret },
      urlPattern: /http:\/\/127\.0\.0\.1:\d+(?=[\s\S]*\n\}\n)/,
    },
  );
  const { url, ca_file: caFile, environment } = JSON.parse(server.stdout());
  assert.equal(url, server.url);
  assert.equal(environment.HTTPS_PROXY, url);
  assert.equal(environment.NODE_EXTRA_CA_CERTS, caFile);
  const script = `fetch("https://${host}/x", {headers: {authorization: "Bearer " + process.env.TOOLCRIB_CREDENTIAL_TOKEN}}).then((r) => r.text()).then((t) => process.stdout.write(t))`;
  const { stdout } = await runProcess(process.execPath, ["-e", script], {
    env: { ...cleanEnvironment(path), ...environment },
  });
  assert.match(stdout, /^GET \/x {2}Bearer toolcrib-ph-/);
  assert.equal(statSync(`${path}/.toolcrib/egress/authority.pem`).mode & 0o777, 0o600);
  assert.equal(statSync(`${path}/.toolcrib/egress`).mode & 0o777, 0o700);
  const { code } = await server.stop();
  assert.equal(code, 0);
});

test("problems are reported before the program starts", async () => {
  await using setting = await startSetting();
  const { directory, flags } = setting;
  const env = { TOOLCRIB_SECRET_ACME_TOKEN: secret };
  writeFileSync(directory.join("bad.yaml"), "schemaVersion: 1\nname: Acme\n");
  for (const [args, expected, code] of [
    [[...flags], "CLI_USAGE", 2],
    [[...flags, "--listen", "--", "env"], "CLI_USAGE", 2],
    [[...flags, "--json", "--", "env"], "CLI_USAGE", 2],
    [[...flags, "--secret", "other=x", "--", "env"], "CLI_USAGE", 2],
    [[...flags, "--secret", "token", "--", "env"], "CLI_USAGE", 2],
    [[...flags, "--secret", "token=absent", "--", "env"], "SECRETS_NOT_FOUND", 4],
    [[...flags, "--connect-to", host, "--", "env"], "CLI_USAGE", 2],
    [[...flags, "--connect-to", `${host}=${host}:443`, "--", "env"], "EGRESS_SETTINGS_INVALID", 1],
    [[...flags, "--internal-range", "10.0.0.0", "--", "env"], "EGRESS_SETTINGS_INVALID", 1],
    [[...flags, "--ca-file", "absent.pem", "--", "env"], "CLI_FILE_UNUSABLE", 1],
    [["--manifest", "absent.yaml", "--", "env"], "CLI_FILE_UNUSABLE", 1],
    [["--manifest", "bad.yaml", "--", "env"], "CLI_CONFIG_INVALID", 2],
    [[...flags, "--", "no-such-program"], "CLI_PROGRAM_UNUSABLE", 1],
  ] as const) {
    const outcome = await runToolcrib(["egress", ...args], { directory: directory.path, env });
    assert.match(outcome.stderr, new RegExp(`error ${expected}`), args.join(" "));
    assert.equal(outcome.code, code, args.join(" "));
    assert.equal(outcome.stdout.replace(/^\{[\s\S]*\}\n$/, ""), "");
  }
});

test("the network settings of a configuration given with --config apply", async () => {
  await using setting = await startSetting();
  const { directory, server } = setting;
  writeFileSync(
    directory.join("toolcrib.yaml"),
    `egress:\n  internal_ranges: [127.0.0.0/8]\n  connect_to: {${host}: "${server.endpoint}"}\n  ca_files: [./ca.pem]\n`,
  );
  const script = `fetch("https://${host}/x").then((r) => r.text()).then((t) => process.stdout.write(t))`;
  const { stdout, stderr } = await runToolcrib(
    [
      ...["--config", "toolcrib.yaml", "egress", "--manifest", "manifest.yaml", "--"],
      process.execPath,
      "-e",
      script,
    ],
    { directory: directory.path, env: { TOOLCRIB_SECRET_ACME_TOKEN: secret } },
  );
  assert.equal(stdout, "GET /x  undefined\n", stderr);
});

test("the program gets the credential of an entrusted manifest in the variable that the manifest names", async () => {
  const entrusted = manifest
    .replace("tier: sealed", "tier: entrusted")
    .replace(/inject: .*$/m, "inject: { env: ACME_TOKEN }");
  await using setting = await startSetting(entrusted);
  const { stdout, stderr } = await setting.run([
    "sh",
    "-c",
    'echo "$ACME_TOKEN:$TOOLCRIB_SECRET_ACME_TOKEN"',
  ]);
  assert.equal(stdout, `${secret}:\n`, stderr);
});

const containing = { skip: await skipWithoutSandbox() };

test(
  "egress --contain leaves the program no way but the proxy, and no file of the user",
  containing,
  async () => {
    await using setting = await startSetting();
    const { directory, server, flags } = setting;
    writeFileSync(directory.join("private.txt"), "private");
    writeFileSync(directory.join("shown.txt"), "shown");
    const env = { TOOLCRIB_SECRET_ACME_TOKEN: secret };
    const run = (more: readonly string[], script: string) =>
      runToolcrib(["egress", ...flags, "--contain", ...more, "--", "/bin/sh", "-c", script], {
        directory: directory.path,
        env,
      });
    const request = `curl -sS -m 20 -H "Authorization: Bearer $TOOLCRIB_CREDENTIAL_TOKEN" https://${host}/path`;
    const allowed = await run([], `${request}; ${request.replace("curl", "curl --noproxy '*'")}; exit 7`);
    assert.equal(allowed.code, 7, allowed.stderr);
    const answer = "GET /path  Bearer [REDACTED:token]\n";
    assert.equal(allowed.stdout.replaceAll(/Bearer \S+/g, "Bearer [REDACTED:token]"), answer.repeat(2));
    assert.ok(!allowed.stdout.includes(secret));
    const seen = server.requests.map(
      ({ headers }) => headers.find(([name]) => /^authorization$/i.test(name))?.[1],
    );
    assert.deepEqual(seen, [`Bearer ${secret}`, `Bearer ${secret}`]);

    const [, port] = server.endpoint.split(":");
    const probes = [
      `curl -sk -m 5 --noproxy '*' https://127.0.0.1:${port}/ || echo no machine`,
      "curl -s -m 5 https://other.example.com/ || echo no host",
      `cat ${directory.join("private.txt")} 2>/dev/null || echo no file`,
      `cat ${directory.join("shown.txt")}`,
      `env | grep -c ${secret}`,
    ];
    const refused = await run(["--read", "shown.txt"], probes.join("; "));
    assert.equal(refused.stdout, "no machine\nno host\nno file\nshown0\n", refused.stderr);
    assert.equal(server.requests.length, 2);

    const unused = await runToolcrib(["egress", ...flags, "--read", ".", "--", "true"], {
      directory: directory.path,
      env,
    });
    assert.match(unused.stderr, /--read and --write need --contain/);
  },
);
