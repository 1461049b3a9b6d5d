import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Diagnostic, formatDiagnostics, positionAt } from "@toolcrib/diagnostics";
import { parseHostDenylist } from "@toolcrib/hosts";
import { checkGolden } from "@toolcrib/testing";
import { type CatalogFile, lintCatalog } from "@toolcrib/toolspec";
import { type BadFile, badManifests, badManifests2, badToolspecs, badToolspecs2 } from "./bad-files.ts";
import { change, manifest, toolspec } from "./samples.ts";

const paths = { m: "manifests/demo/0.1.0.yaml", t: "toolspecs/demo/0.1.0.yaml" };
const denylist = parseHostDenylist("webhook.site\nmetadata.google.internal\n");
const options: Parameters<typeof lintCatalog>[1] = { subject: "toolspecs", denylist };

function lint(files: readonly CatalogFile[]): readonly Diagnostic[] {
  return lintCatalog(files, options).diagnostics;
}

/** Formats a finding, such as `t 8:13 TOOLSPEC_METHOD_INVALID`. */
function shortForm({ source, span, code, severity }: Diagnostic): string {
  const file = source?.name === paths.m ? "m" : source?.name === paths.t ? "t" : source?.name;
  const place = source === undefined || span === undefined ? undefined : positionAt(source.text, span.start);
  const where = place === undefined ? "-" : `${place.lineNumber}:${place.columnNumber}`;
  return `${file} ${where} ${severity === "warning" ? "warning " : ""}${code}`;
}

function checkRows(
  what: string,
  rows: readonly BadFile[],
  filesOf: (change: (text: string) => string) => readonly CatalogFile[],
): void {
  const reports: string[] = [];
  for (const [title, from, to, expected] of rows) {
    const files = filesOf((text) => (from === undefined ? to : change(text, from, to)));
    const found = lint(files);
    reports.push(`# ${title}\n\n${formatDiagnostics(found).replace(/^(?=#)/gm, "\\")}\n`);
    test(`${what}: ${title}`, () => assert.deepEqual(found.map(shortForm), expected));
  }
  test(`${what}: the reports equal the golden file`, () => {
    checkGolden(join(import.meta.dirname, "golden", `${what.replaceAll(" ", "-")}.txt`), reports.join("\n"));
    assert.equal(new Set(rows.map(([title]) => title)).size, rows.length, "titles are unique");
  });
}

checkRows("toolspec", badToolspecs, (edit) => [
  { path: paths.m, text: manifest },
  { path: paths.t, text: edit(toolspec) },
]);
checkRows("toolspec of version 2", badToolspecs2, (edit) => [
  { path: paths.m, text: manifest },
  { path: paths.t, text: edit(change(toolspec, "schemaVersion: 1", "schemaVersion: 2")) },
]);
checkRows("manifest", badManifests, (edit) => [
  { path: paths.m, text: edit(manifest) },
  { path: paths.t, text: toolspec },
]);
checkRows("manifest of version 2", badManifests2, (edit) => [
  { path: paths.m, text: edit(change(manifest, "schemaVersion: 1", "schemaVersion: 2")) },
  { path: paths.t, text: toolspec },
]);

test("every code of lint has a row", () => {
  const page = readFileSync(join(import.meta.dirname, "../src/codes.ts"), "utf8");
  const codes = [...page.matchAll(/= "([A-Z_0-9]+)";/g)].map(([, code = ""]) => code);
  const ofCalls = codes.slice(codes.indexOf("TOOLSPEC_ARGUMENT_INVALID"));
  const text =
    readFileSync(join(import.meta.dirname, "bad-files.ts"), "utf8") +
    readFileSync(import.meta.filename, "utf8");
  assert.deepEqual(
    codes.filter((code) => !ofCalls.includes(code) && !new RegExp(`${code}["\`]`).test(text)),
    [],
  );
});

test("valid files have no findings", () => {
  assert.deepEqual(
    lint([
      { path: paths.m, text: manifest },
      { path: paths.t, text: toolspec },
    ]),
    [],
  );
});

function checkCatalog(
  title: string,
  files: { readonly [path: string]: string },
  expected: readonly string[],
): void {
  test(`lintCatalog(): ${title}`, () => {
    const found = lint(Object.entries(files).map(([path, text]) => ({ path, text })));
    assert.deepEqual(found.map(shortForm), expected);
  });
}

const beside = "manifests/demo/0.1.0.toolspec.yaml";
const entrusted = change(
  change(manifest, "tier: sealed", "tier: entrusted"),
  '      header: Authorization\n      format: "Bearer {token}"',
  "      env: KEY",
);
const auth = 'auth: {header: X-Key, format: "{token}"}\ntools:';
const withAuth = change(toolspec, "tools:", auth);
const json = JSON.stringify({
  schemaVersion: 1,
  name: "demo",
  version: "0.1.0",
  baseUrl: "https://api.example.com",
  tools: [{ name: "get_item", description: "x", method: "GET", path: "/" }],
});

checkCatalog("a toolspec next to its manifest", { [paths.m]: manifest, [beside]: toolspec }, []);
checkCatalog("below other folders", { [`a/b/${paths.m}`]: manifest, [`a/b/${paths.t}`]: toolspec }, []);
checkCatalog("JSON", { [paths.m]: manifest, "toolspecs/demo/0.1.0.json": json }, []);
checkCatalog("a manifest as .yml", { "manifests/demo/0.1.0.yml": manifest, [paths.t]: toolspec }, []);
checkCatalog(
  "folders with other names",
  { "x/demo/0.1.0.yaml": manifest, "y/demo/0.1.0.yaml": toolspec },
  [],
);
checkCatalog(
  "other files are ignored",
  { "README.md": "[", ".github/ci.yml": "a: [", [paths.m]: change(manifest, "  builder: toolpack\n", "") },
  [],
);
for (const [host, expected] of [
  ["{tenant}-eu.example.com", []],
  ["eu-{tenant}.example.com", []],
  ["{tenant}.eu.example.com", ["t 4:10 TOOLSPEC_HOST_NOT_ALLOWED"]],
  ["{tenant}-eu.example.net", ["t 4:10 TOOLSPEC_HOST_NOT_ALLOWED"]],
] as const) {
  checkCatalog(
    `a wildcard over ${host}`,
    {
      [paths.m]: change(manifest, "api.example.com", '"*.example.com"'),
      [paths.t]: change(
        change(toolspec, "schemaVersion: 1", "schemaVersion: 2"),
        "baseUrl: https://api.example.com",
        `baseUrl: https://${host}\nvariables: {tenant: {}}`,
      ),
    },
    expected,
  );
}
checkCatalog("no manifest", { [paths.t]: toolspec }, ["t 2:7 TOOLSPEC_MANIFEST_MISSING"]);
checkCatalog("no toolspec", { [paths.m]: manifest }, ["m 11:12 MANIFEST_TOOLSPEC_MISSING"]);
checkCatalog(
  "the toolspec of another version",
  { [paths.m]: manifest, "toolspecs/demo/0.2.0.yaml": change(toolspec, "0.1.0", "0.2.0") },
  ["m 11:12 MANIFEST_TOOLSPEC_MISSING", "toolspecs/demo/0.2.0.yaml 2:7 TOOLSPEC_MANIFEST_MISSING"],
);
checkCatalog("both layouts at once", { [paths.m]: manifest, [paths.t]: toolspec, [beside]: toolspec }, [
  `${beside} 2:7 TOOLSPEC_FILE_DUPLICATE`,
]);
checkCatalog(
  "two manifests of one name and version",
  {
    [paths.m]: manifest,
    "manifests/demo/0.1.0.json": "",
    "manifests/other/0.1.0.yaml": manifest,
    [paths.t]: toolspec,
  },
  [
    "manifests/demo/0.1.0.json 1:1 MANIFEST_SYNTAX",
    "manifests/other/0.1.0.yaml 2:7 MANIFEST_FILE_MISPLACED",
    "manifests/other/0.1.0.yaml 2:7 MANIFEST_FILE_DUPLICATE",
    "manifests/other/0.1.0.yaml 11:12 MANIFEST_TOOLSPEC_MISSING",
  ],
);
checkCatalog(
  "paths that do not match the name and version",
  { "manifests/demo/0.2.0.yaml": manifest, "toolspecs/demo/0.2.0.yaml": toolspec },
  [
    "manifests/demo/0.2.0.yaml 3:10 MANIFEST_FILE_MISPLACED",
    "toolspecs/demo/0.2.0.yaml 3:10 TOOLSPEC_FILE_MISPLACED",
  ],
);
checkCatalog(
  "JSON with errors",
  {
    [paths.m]: manifest,
    "toolspecs/demo/0.1.0.json": `${json.slice(0, -1)},}`,
    "manifests/b/0.1.0.json": '{"name": "b" "version": "1"}',
    "manifests/c/0.1.0.json": '{"name": "c", "name": "d"}',
    "manifests/d/0.1.0.json": '{"name": "a\nb"}',
    "manifests/e/0.1.0.json": '{"name": nil}',
    "manifests/f/0.1.0.json": "{} {}",
    "manifests/g/0.1.0.json": `${"[".repeat(70)}${"]".repeat(70)}`,
    "manifests/h/0.1.0.json": "{name: 1}",
  },
  [
    "manifests/b/0.1.0.json 1:14 MANIFEST_SYNTAX",
    "manifests/c/0.1.0.json 1:15 MANIFEST_DUPLICATE_KEY",
    ...["schemaVersion", "version", "source", "image", "tier"].map(
      () => "manifests/c/0.1.0.json 1:2 MANIFEST_FIELD_REQUIRED",
    ),
    "manifests/d/0.1.0.json 1:10 MANIFEST_SYNTAX",
    "manifests/e/0.1.0.json 1:10 MANIFEST_SYNTAX",
    "manifests/f/0.1.0.json 1:4 MANIFEST_SYNTAX",
    "manifests/g/0.1.0.json 1:65 MANIFEST_TOO_COMPLEX",
    "manifests/h/0.1.0.json 1:2 MANIFEST_SYNTAX",
    `toolspecs/demo/0.1.0.json 1:${json.length + 1} TOOLSPEC_SYNTAX`,
  ],
);
checkCatalog("the entrusted tier with auth", { [paths.m]: entrusted, [paths.t]: withAuth }, []);
checkCatalog(
  "a manifest of version 2 with a query parameter",
  {
    [paths.m]: change(
      change(manifest, "schemaVersion: 1", "schemaVersion: 2"),
      '      header: Authorization\n      format: "Bearer {token}"',
      "      query: key",
    ),
    [paths.t]: toolspec,
  },
  [],
);
checkCatalog("the entrusted tier without auth", { [paths.m]: entrusted, [paths.t]: toolspec }, [
  "t 4:1 TOOLSPEC_AUTH_REQUIRED",
]);
checkCatalog(
  "the entrusted tier without credentials",
  { [paths.m]: entrusted.replace(/credentials:[\s\S]*?(?=tools:)/, ""), [paths.t]: toolspec },
  [],
);
checkCatalog(
  "auth without a credential",
  { [paths.m]: entrusted.replace(/credentials:[\s\S]*?(?=tools:)/, ""), [paths.t]: withAuth },
  ["t 5:1 warning TOOLSPEC_AUTH_UNUSED"],
);
checkCatalog(
  "a header parameter that is the header of auth",
  { [paths.m]: entrusted, [paths.t]: change(withAuth, "name: limit, in: query", "name: x-key, in: header") },
  ["t 13:16 TOOLSPEC_HEADER_COLLIDES"],
);
checkCatalog(
  "the entrusted tier with header and format",
  {
    [paths.m]: change(
      entrusted,
      "      env: KEY",
      '      env: KEY\n      header: X\n      format: "{token}"',
    ),
    [paths.t]: withAuth,
  },
  ["m 22:7 MANIFEST_INJECT_ENTRUSTED", "m 23:7 MANIFEST_INJECT_ENTRUSTED"],
);
checkCatalog(
  "an environment variable without a valid name",
  { [paths.m]: change(entrusted, "env: KEY", "env: my-key"), [paths.t]: withAuth },
  ["m 21:12 MANIFEST_INJECT_ENV"],
);
checkCatalog(
  "all findings of all files",
  {
    [paths.m]: change(change(manifest, "sealed", "seald"), "api.example.com", "api.example.com:1"),
    [paths.t]: change(change(toolspec, "GET", "GTE"), "{name: limit,", "{"),
  },
  [
    "m 12:7 MANIFEST_TIER_INVALID",
    "m 15:7 MANIFEST_EGRESS_INVALID",
    "t 8:13 TOOLSPEC_METHOD_INVALID",
    "t 12:11 TOOLSPEC_FIELD_REQUIRED",
  ],
);

test("lintCatalog() of manifests alone ignores toolspecs", () => {
  const files = [
    { path: paths.m, text: manifest },
    { path: beside, text: "[" },
    { path: paths.t, text: "[" },
  ];
  const report = lintCatalog(files, { subject: "manifests" });
  assert.deepEqual(report, { diagnostics: [], manifestCount: 1, toolspecCount: 0, pairs: [] });
});

test("lintCatalog() reports JSONPaths that the given parser rejects", () => {
  const lines =
    "    response: {select: $.a, fields: {x: $.a, y: $.b, z: {select: $.a, fields: {w: $.b.d}}}}\n    pagination: {kind: offset, param: limit, next: $.b, total: $.b.c}\n    params:";
  const second = change(toolspec, "schemaVersion: 1", "schemaVersion: 2");
  const files = [
    { path: paths.m, text: manifest },
    { path: paths.t, text: change(second, "    params:", lines) },
  ];
  assert.deepEqual(lint(files), []);
  const jsonPathFault = (path: string) => (path.startsWith("$.b") ? "it is odd" : undefined);
  const { diagnostics, pairs } = lintCatalog(files, { ...options, jsonPathFault });
  assert.deepEqual(diagnostics.map(shortForm), [
    "t 10:49 TOOLSPEC_JSON_PATH_INVALID",
    "t 10:83 TOOLSPEC_JSON_PATH_INVALID",
    "t 11:52 TOOLSPEC_JSON_PATH_INVALID",
    "t 11:64 TOOLSPEC_JSON_PATH_INVALID",
  ]);
  assert.equal(diagnostics[0]?.message, 'Cannot use "$.b" as JSONPath: it is odd');
  assert.deepEqual(pairs, []);
});

test("examples yield the variables of base URLs and paths", () => {
  const rows: readonly (readonly [path: string, url: string])[] = [
    ["/{v}/items/{id}", "https://api.example.com/2/items/a"],
    ["/items/{id}/of-{v}.json", "https://api.example.com/items/a/of-a%2Fb%20c.json"],
    ["/{v}/{v}/{id}", "https://api.example.com/x/x/a"],
    ["/items/{+id}/in/{v}/last", "https://api.example.com/items/a/in/x/last"],
    ["/{v}/{+id}/{w}", "https://api.example.com/1/a/2"],
  ];
  for (const [path, url] of rows) {
    const second = change(toolspec, "schemaVersion: 1", "schemaVersion: 2");
    const names = ["v", "w"].filter((name) => path.includes(`{${name}}`));
    const variables = `variables: {${names.map((name) => `${name}: {}`).join(", ")}}\ntools:`;
    const example = `    examples: [{args: {id: a}, request: {url: "${url}"}}]\n    params:`;
    const text = change(change(second, "tools:", variables), "    params:", example);
    const files = [
      { path: paths.m, text: manifest },
      { path: paths.t, text: change(text, "path: /items/{id}", `path: ${path}`) },
    ];
    assert.deepEqual(
      lint(files).map(({ message }) => message),
      [],
      path,
    );
  }
});

test("base URLs and paths of many variables are compared in bounded time", () => {
  const names = Array.from({ length: 20 }, (_, index) => `v${index}`);
  const all = names.map((name) => `{${name}}`).join("");
  const text = `schemaVersion: 2
name: demo
version: 0.1.0
baseUrl: https://${all}.example.net
variables: {${names.map((name) => `${name}: {}`).join(", ")}}
tools:
  - name: get_item
    description: Get an item
    method: GET
    path: /${all}/x
    examples: [{args: {}, request: {url: "https://${"abc.".repeat(50)}example.com/${"a".repeat(5000)}/y"}}]
`;
  const wide = change(manifest, "api.example.com", `"*.${"abc.".repeat(50)}example.com"`);
  const found = lint([
    { path: paths.m, text: wide },
    { path: paths.t, text },
  ]);
  assert.deepEqual(found.map(shortForm), [
    "t 11:42 TOOLSPEC_EXAMPLE_FAILS",
    "t 4:10 TOOLSPEC_HOST_NOT_ALLOWED",
  ]);
});

test("lintCatalog() returns the valid pairs", () => {
  const files = [
    { path: paths.m, text: manifest, name: "shown.yaml" },
    { path: paths.t, text: toolspec },
    { path: "manifests/bad/0.1.0.yaml", text: change(manifest, "demo", "bad") },
    { path: "toolspecs/bad/0.1.0.yaml", text: change(change(toolspec, "demo", "bad"), "GET", "X") },
  ];
  const { pairs, toolspecCount } = lintCatalog(files, options);
  assert.equal(toolspecCount, 2);
  assert.deepEqual(
    pairs.map(({ manifestName, toolspecName, toolspec: { name } }) => [manifestName, toolspecName, name]),
    [["shown.yaml", paths.t, "demo"]],
  );
});

test("a file of more than 1 MiB and one with a billion aliases are refused without being read", () => {
  const long = `${toolspec}# ${"x".repeat(1024 * 1024)}\n`;
  const laughs = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
  for (const [index, letter] of [..."bcdefghij"].entries()) {
    const before = "abcdefghij"[index];
    laughs.push(`${letter}: &${letter} [${Array(10).fill(`*${before}`).join(", ")}]`);
  }
  const codes = (text: string) =>
    lintCatalog([{ path: paths.t, text }], options).diagnostics.map(({ code }) => code);
  assert.deepEqual(codes(long), ["TOOLSPEC_FILE_TOO_LARGE", "TOOLSPEC_MANIFEST_MISSING"]);
  assert.deepEqual(codes(laughs.join("\n")), ["TOOLSPEC_TOO_COMPLEX", "TOOLSPEC_MANIFEST_MISSING"]);
  const manifestCodes = lintCatalog([{ path: paths.m, text: long }], options).diagnostics.map(
    ({ code }) => code,
  );
  assert.deepEqual(manifestCodes, ["MANIFEST_FILE_TOO_LARGE"]);
});

test("no report shows a secret that replaced its format", () => {
  const files = [
    { path: paths.m, text: change(manifest, "Bearer {token}", "Bearer hunter2hunter2") },
    { path: paths.t, text: change(toolspec, "Get an item", "AKIAABCDEFGHIJKLMNOP [") },
  ];
  const text = formatDiagnostics(
    lint([...files, { path: "manifests/x/0.1.0.yaml", text: "ghp_aaaaaaaaaaaaaaaaaaaaa: {" }]),
  );
  assert.match(text, /MANIFEST_INJECT_FORMAT/);
  assert.doesNotMatch(text, /hunter2|AKIAABCD|ghp_aaaa/);
});
