import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { formatConfigReport, loadConfig, parseConfig } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import {
  checkGolden,
  makeTemporaryDirectory,
  sampleCatalog,
  sampleManifest,
  sampleToolspec,
  writeFiles,
} from "@toolcrib/testing";

/** Loads `toolcrib.yaml` of `files`, with the catalog below `catalog`. */
async function load(
  files: { readonly [path: string]: string },
  names: readonly string[] = ["toolcrib.yaml"],
) {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, files);
  const paths = names.map((name) => directory.join(name));
  const result = await loadConfig(paths, {
    readFile: readRegularFile,
    catalogFolder: directory.join("catalog"),
    userDirectory: directory.join("home"),
  });
  const report = formatConfigReport(paths, result.diagnostics).replaceAll(directory.path, "DIR");
  return { ...result, report };
}

const credentials = "credentials: { token: { secret_key_ref: a-token } }";

function inCatalog(files: { readonly [path: string]: string }): { readonly [path: string]: string } {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [join("catalog", path), text]));
}

test("loadConfig() finds toolspecs by name, version, file and folder", async () => {
  const files = {
    ...inCatalog(sampleCatalog("acme")),
    "catalog/manifests/acme/0.10.0.yaml": sampleManifest("acme", { version: "0.10.0" }),
    "catalog/manifests/acme/0.10.0.toolspec.yaml": sampleToolspec("acme", { version: "0.10.0" }),
    // Without its toolspec it is no version that could be used.
    "catalog/manifests/acme/0.11.0.yaml": sampleManifest("acme", { version: "0.11.0" }),
    "specs/one/manifest.yaml": sampleManifest("one"),
    "specs/one/toolspec.yaml": sampleToolspec("one"),
    "specs/two/0.1.0.yaml": sampleManifest("two"),
    "specs/two/0.1.0.toolspec.yaml": sampleToolspec("two"),
    "other/manifests/three/0.1.0.yaml": sampleManifest("three"),
    "other/toolspecs/three/0.1.0.yaml": sampleToolspec("three"),
    "home/four/a.json": "{}",
    "home/four/b.yaml": sampleManifest("four"),
    "home/four/c.yaml": sampleToolspec("four"),
    "toolcrib.yaml": `toolspecs:
- { name: acme, ${credentials} }
- { name: acme, version: 0.1.0, id: old, ${credentials} }
- { path: ./specs/one, ${credentials} }
- { path: specs/two/0.1.0.yaml, ${credentials} }
- { path: other/toolspecs/three/0.1.0.yaml, id: third, ${credentials} }
- { path: ~/four, ${credentials} }
`,
  };
  const { value, report } = await load(files);
  assert.equal(report, "OK DIR/toolcrib.yaml");
  const found = value?.toolspecs.map(({ id, pair, pairDigest }) => [
    id,
    pair?.manifest.name,
    pair?.toolspec.version,
    /^sha256:[0-9a-f]{64}$/.test(pairDigest ?? ""),
  ]);
  assert.deepEqual(found, [
    ["acme", "acme", "0.10.0", true],
    ["old", "acme", "0.1.0", true],
    ["one", "one", "0.1.0", true],
    ["two", "two", "0.1.0", true],
    ["third", "three", "0.1.0", true],
    ["four", "four", "0.1.0", true],
  ]);
});

test("loadConfig() replaces a whole toolspec of an earlier file in its position, and merges sections field by field", async () => {
  const { value, report } = await load(
    {
      ...inCatalog(sampleCatalog("acme", "beta")),
      "a/ca.pem": await certificate(),
      "a.yaml": `toolspecs:
- { name: acme, ${credentials}, labels: { team: core } }
- { name: beta, ${credentials} }
egress: { internal_ranges: [10.0.0.0/8], ca_files: [a/ca.pem] }
`,
      "b.yaml": `toolspecs:
- { name: acme, credentials: { token: { secret_key_ref: { env: B } } }, tools: all }
egress: { connect_to: { api.acme.example: "10.0.0.1:443" } }
`,
    },
    ["a.yaml", "b.yaml"],
  );
  assert.equal(report, "OK DIR/a.yaml\nOK DIR/b.yaml");
  assert.deepEqual(
    value?.toolspecs.map(({ id, credentials: given, tools, labels }) => ({ id, given, tools, labels })),
    [
      { id: "acme", given: { token: { kind: "env", name: "B" } }, tools: "all", labels: {} },
      { id: "beta", given: { token: { kind: "named", name: "a-token" } }, tools: "default", labels: {} },
    ],
  );
  const { internalRanges, connectTo, caCertificates } = value?.egress ?? assert.fail();
  assert.deepEqual(
    [internalRanges, connectTo, caCertificates],
    [["10.0.0.0/8"], { "api.acme.example": "10.0.0.1:443" }, [await certificate()]],
  );
});

test("loadConfig() returns the same value for a long text with every reader", async () => {
  const servers = Array.from(
    { length: 200 },
    (_, at) =>
      `- id: server-${at}   # number ${at}\n  transport: { kind: stdio, command: "x ${at}", args: [a, 'b c', "${at}"] }\n  containment:\n    max_execution_seconds: ${at + 1}\n`,
  );
  const long = `# Long.\ntool_servers:\n${servers.join("")}`;
  // The last one is outside of what the quick reader takes.
  for (const text of [long, `${long}serve: { mode: fast }\n`, `${long}policy:\n  deny: [\n    "a:*" ]\n`]) {
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory.path, { "toolcrib.yaml": text });
    const name = directory.join("toolcrib.yaml");
    const read = await loadConfig([name], { readFile: readRegularFile });
    assert.deepEqual(read, parseConfig([{ name, text }]));
  }
});

const tenant = {
  "tenant/manifest.yaml": sampleManifest("acme"),
  "tenant/toolspec.yaml": sampleToolspec("acme")
    .replace("schemaVersion: 1", "schemaVersion: 2")
    .replace(
      "https://api.acme.example",
      "https://{tenant}.acme.example\nvariables: { tenant: { description: name of the company } }",
    ),
};

test("loadConfig() reports all errors of toolspecs together, each in its file", async () => {
  const cases: readonly (readonly [title: string, files: { readonly [path: string]: string }])[] = [
    [
      "a name that the catalog does not have",
      { "toolcrib.yaml": "toolspecs:\n- name: acmee\n- name: nothing-like-it\n" },
    ],
    [
      "a version that the catalog does not have",
      { "toolcrib.yaml": "toolspecs:\n- { name: acme, version: 9.0.0 }\n" },
    ],
    [
      "paths that lead nowhere",
      { "empty/readme.md": "", "toolcrib.yaml": "toolspecs:\n- path: none\n- path: empty\n" },
    ],
    ["a folder with several", { "toolcrib.yaml": "toolspecs:\n- path: catalog\n" }],
    [
      "a toolspec without its manifest, and what is neither",
      {
        "alone/0.1.0.toolspec.yaml": sampleToolspec("acme"),
        "other.yaml": "a: b\n",
        "toolcrib.yaml": "toolspecs:\n- path: alone/0.1.0.toolspec.yaml\n- path: other.yaml\n",
      },
    ],
    [
      "missing credentials",
      { "toolcrib.yaml": "toolspecs:\n- name: acme\n- { name: beta, id: work, credentials: {} }\n" },
    ],
    [
      "unknown credentials",
      {
        "free/manifest.yaml": sampleManifest("free", { credentials: "" }),
        "free/toolspec.yaml": sampleToolspec("free"),
        "toolcrib.yaml": `toolspecs:
- name: acme
  credentials: { tokn: { secret_key_ref: a } }
- { path: free, ${credentials} }
`,
      },
    ],
    [
      "unknown tools",
      { "toolcrib.yaml": `toolspecs:\n- { name: acme, tools: [list_repo, get_repo, x], ${credentials} }\n` },
    ],
    [
      "no tool by default",
      {
        "none/manifest.yaml": sampleManifest("none").replaceAll("default: true", "default: false"),
        "none/toolspec.yaml": sampleToolspec("none"),
        "toolcrib.yaml": `toolspecs:\n- { path: none, ${credentials} }\n`,
      },
    ],
    [
      "reserved parameters that are none",
      {
        "toolcrib.yaml": `toolspecs:\n- { name: acme, reserved: [get_repo.ids, list_repos.limit], ${credentials} }\n`,
      },
    ],
    [
      "a variable that is not set",
      { ...tenant, "toolcrib.yaml": `toolspecs:\n- { path: tenant, ${credentials} }\n` },
    ],
    [
      "variables that make no host, or one that is not allowed",
      {
        ...tenant,
        "toolcrib.yaml": `toolspecs:
- { path: tenant, id: a, variables: { tenant: "x/y" }, ${credentials} }
- { path: tenant, id: b, variables: { tenant: a.b }, ${credentials} }
- { path: tenant, id: c, variables: { tenent: acme, tenant: ok }, ${credentials} }
`,
      },
    ],
    [
      "variables that cannot stand in a path",
      {
        "tenant/manifest.yaml": sampleManifest("acme"),
        "tenant/toolspec.yaml": sampleToolspec("acme")
          .replace("schemaVersion: 1", "schemaVersion: 2")
          .replace("tools:", "variables: { team: {}, version: { default: v1 } }\ntools:")
          .replace("path: /owners/", "path: /{version}/teams/{team}/owners/"),
        "toolcrib.yaml": `toolspecs:
- { path: tenant, id: a, variables: { team: ".." }, ${credentials} }
- { path: tenant, id: b, variables: { team: "a\\nb", version: "%2e%2e" }, ${credentials} }
- { path: tenant, id: c, variables: { team: a/b, version: v2 }, ${credentials} }
- { path: tenant, id: d, ${credentials} }
`,
      },
    ],
    [
      "files with errors of their own",
      {
        "bad/manifest.yaml": sampleManifest("bad").replace("tier: sealed", "tier: open"),
        "bad/toolspec.yaml": sampleToolspec("bad").replace("method: POST", "method: PUSH"),
        "toolcrib.yaml": `toolspecs:\n- { path: bad, ${credentials} }\nserve: { mode: fast }\n`,
      },
    ],
    [
      "files that do not fit one another",
      {
        "bad/manifest.yaml": sampleManifest("bad")
          .replace("api.bad.example, ", "")
          .replace('"*.bad.example"', "api.example.com"),
        "bad/toolspec.yaml": sampleToolspec("good"),
        "toolcrib.yaml": `toolspecs:\n- { path: bad, ${credentials} }\n`,
      },
    ],
    [
      "ids that only the manifests contain",
      {
        "a/manifest.yaml": sampleManifest("acme"),
        "a/toolspec.yaml": sampleToolspec("acme"),
        "b/manifest.yaml": sampleManifest("saved"),
        "b/toolspec.yaml": sampleToolspec("saved"),
        "toolcrib.yaml": `tool_servers:\n- { id: beta, transport: { kind: stdio, command: x } }\ntoolspecs:\n- { name: acme, ${credentials} }\n- { path: a, ${credentials} }\n- { path: b, ${credentials} }\n- { name: beta, ${credentials} }\n`,
      },
    ],
    [
      "files of certificates that are none",
      {
        "empty.pem": "",
        "bad.pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "toolcrib.yaml": "egress: { ca_files: [none.pem, empty.pem, ./bad.pem] }\n",
      },
    ],
  ];
  const blocks: string[] = [];
  for (const [title, files] of cases) {
    const { report } = await load({ ...inCatalog(sampleCatalog("acme", "beta")), ...files });
    blocks.push(`# ${title}\n\n${report}\n`);
  }
  checkGolden(join(import.meta.dirname, "golden/toolspec-files.txt"), blocks.join("\n"));
});

/** A certificate that some authority made for itself. */
async function certificate(): Promise<string> {
  const { rootCertificates } = await import("node:tls");
  return rootCertificates[0] ?? assert.fail();
}
