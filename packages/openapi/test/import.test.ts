import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { type ImportOptions, importOpenapi, listOpenapi } from "@toolcrib/openapi";
import { checkGolden } from "@toolcrib/testing";
import { api, document, importText, lintOf, written } from "./check-import.ts";

const golden = (name: string) => join(import.meta.dirname, "golden", name);

for (const name of ["library.yaml", "tiny.json"]) {
  test(`importOpenapi() converts ${name} to its golden file, and lint has no findings about it`, async () => {
    const report = await importOpenapi(document(name));
    checkGolden(golden(name.replace(/\.\w+$/, ".txt")), written(report));
    assert.deepEqual(lintOf(report), []);
  });
}

/** Checks which tools the operations of the library produce. */
function checkChoice(
  title: string,
  options: ImportOptions,
  tools: readonly string[],
  codes: readonly string[] = [],
) {
  test(`importOpenapi() imports ${title}`, async () => {
    const report = await importOpenapi(document("library.yaml"), options);
    assert.deepEqual(
      report.operations.flatMap(({ tool }) => tool ?? []),
      tools,
    );
    const errors = report.diagnostics.filter(
      ({ severity, code }) => severity === "error" || code === "OPENAPI_OPERATION_LIMIT",
    );
    assert.deepEqual(
      errors.map(({ code }) => code),
      codes,
    );
  });
}

checkChoice("an operation by its id", { operations: ["listBooks"] }, ["list_books"]);
checkChoice("an operation by its method and path", { operations: ["put /blob"] }, ["put_blob"]);
checkChoice("a deprecated operation that is named", { operations: ["oldOne"] }, ["old_one"]);
checkChoice("operations by tag, in any letter case", { tags: ["People"] }, ["list_people", "add_person"]);
checkChoice("operations by path", { paths: ["/books/**"] }, [
  "put_books_by_book_id_pages_by_number_by_format",
  "delete_page",
]);
checkChoice("operations by path within a segment", { paths: ["/b*"] }, [
  "list_books",
  "create_book",
  "put_blob",
]);
checkChoice("operations by method and tag", { methods: ["get"], tags: ["books"] }, ["list_books"]);
checkChoice("named and selected operations", { operations: ["putBlob"], tags: ["people"] }, [
  "put_blob",
  "list_people",
  "add_person",
]);
checkChoice(
  "at most the maximum, with a finding",
  { toolsMaxCount: 2 },
  ["list_books", "create_book"],
  ["OPENAPI_OPERATION_LIMIT"],
);
checkChoice(
  "nothing if an operation does not exist",
  { operations: ["listBook"] },
  [],
  ["OPENAPI_OPERATION_MISSING"],
);
checkChoice("nothing if a tag does not exist", { tags: ["magazines"] }, [], ["OPENAPI_OPERATION_MISSING"]);
checkChoice("nothing if no request can be sent", { operations: ["doIt"] }, [], ["OPENAPI_OPERATION_MISSING"]);
checkChoice("nothing if the name is invalid", { name: "No Name" }, [], ["OPENAPI_NAME_MISSING"]);
checkChoice("nothing if the base URL is invalid", { baseUrl: "http://x" }, [], ["OPENAPI_SERVER_UNFIT"]);

test("importOpenapi() uses the given name, version and base URL", async () => {
  const { value } = await importOpenapi(document("tiny.json"), {
    name: "other",
    version: "3.2.1",
    baseUrl: "https://proxy.example/tiny/",
  });
  assert.equal(value?.toolspec.baseUrl, "https://proxy.example");
  assert.equal(value?.toolspec.tools[0]?.path, "/tiny/things/{id}");
  assert.deepEqual([value?.manifest.name, value?.manifest.version], ["other", "3.2.1"]);
  assert.deepEqual(value?.manifest.entitlements?.egress, ["proxy.example"]);
});

test("listOpenapi() lists every operation, including those that cannot be imported", () => {
  const { operations } = listOpenapi(document("library.yaml"));
  assert.deepEqual(
    operations
      .filter(({ path }) => path === "/people")
      .map(({ method, operationId, tags }) => [method, operationId, tags]),
    [
      ["GET", "listPeople", ["people"]],
      ["POST", "addPerson", ["people"]],
      ["HEAD", "countPeople", []],
    ],
  );
});

/** Checks the base URL, variables and hosts of a `servers` list; `undefined` if it has no usable URL. */
function checkServer(servers: string, expected: unknown, name = "api.yaml") {
  test(`servers ${servers} of ${name} produce ${JSON.stringify(expected)}`, async () => {
    const text = api("/x: {get: {responses: {}}}").replace(/^servers:.*$/m, `servers: ${servers}`);
    const { value } = await importOpenapi({ name, text });
    const { baseUrl, variables, tools } = value?.toolspec ?? {};
    const hosts = value?.manifest.entitlements?.egress;
    const made =
      value === undefined
        ? undefined
        : [baseUrl, tools?.[0]?.path, hosts, ...(variables === undefined ? [] : [variables])];
    assert.deepEqual(made, expected);
  });
}

checkServer('[{url: "https://API.example.com/v1/"}]', [
  "https://api.example.com",
  "/v1/x",
  ["api.example.com"],
]);
checkServer('[{url: "http://api.example.com"}]', ["https://api.example.com", "/x", ["api.example.com"]]);
checkServer('[{url: "https://api.example.com:8443"}]', undefined);
checkServer('[{url: "https://api.example.com:8443"}, {url: "https://b.example.com"}]', [
  "https://b.example.com",
  "/x",
  ["b.example.com"],
]);
checkServer('[{url: "https://127.0.0.1"}]', undefined);
checkServer("[{url: /v3}]", undefined);
checkServer(
  "[{url: /v3}]",
  ["https://docs.example.com", "/v3/x", ["docs.example.com"]],
  "https://docs.example.com/a/openapi.json",
);
checkServer(
  "[{url: v3}]",
  ["https://docs.example.com", "/a/v3/x", ["docs.example.com"]],
  "https://docs.example.com/a/openapi.json",
);
checkServer(
  "[{url: ../b/./v3/}]",
  ["https://docs.example.com", "/b/v3/x", ["docs.example.com"]],
  "https://docs.example.com/a/openapi.json",
);
checkServer("[]", undefined);
checkServer('[{url: "https://{my-shop}.shops.example.com"}]', [
  "https://{my_shop}.shops.example.com",
  "/x",
  ["*.shops.example.com"],
  { my_shop: {} },
]);
checkServer('[{url: "https://{host}", variables: {host: {default: a.example.com}}}]', [
  "https://{host}",
  "/x",
  ["a.example.com"],
  { host: { default: "a.example.com" } },
]);
checkServer('[{url: "https://a.{zone}.example.com/{v}", variables: {zone: {default: x}, v: {default: 2}}}]', [
  "https://a.{zone}.example.com",
  "/{v}/x",
  ["a.x.example.com"],
  { v: { default: "2" }, zone: { default: "x" } },
]);
checkServer(
  '[{url: "https://a.example.com/{api-version}/{base}", variables: {api-version: {default: v1, enum: [v1, v2], description: Which}, base: {default: rest/all}}}]',
  [
    "https://a.example.com",
    "/{api_version}/rest/all/x",
    ["a.example.com"],
    { api_version: { description: "Which. One of v1, v2", default: "v1" } },
  ],
);
checkServer('[{url: "https://a.example.com/teams/{team}"}]', [
  "https://a.example.com",
  "/teams/{team}/x",
  ["a.example.com"],
  { team: {} },
]);
checkServer('[{url: "https://a.example.com/{}/{x"}]', undefined);
checkServer('[{url: "https://{a}.{b}.example.com", variables: {a: {default: x}, b: {default: y}}}]', [
  "https://x.y.example.com",
  "/x",
  ["x.y.example.com"],
]);
checkServer('[{url: "{scheme}://a.example.com", variables: {scheme: {default: https}}}]', [
  "https://a.example.com",
  "/x",
  ["a.example.com"],
]);

test("a server variable is replaced by its value if its name is in use", async () => {
  const paths = `/x: {get: {responses: {}}}
/{v}/y: {get: {parameters: [{name: v, in: path, required: true, schema: {type: string}, example: z}], responses: {}}}
/z:
  servers: [{url: "https://api.example.com/{v}", variables: {v: {default: "3"}}}]
  get: {responses: {}}`;
  const servers = 'servers: [{url: "https://api.example.com/{v}", variables: {v: {default: "2"}}}]';
  const report = await importText(api(paths).replace(/^servers:.*$/m, servers));
  const { tools, variables } = report.value?.toolspec ?? {};
  assert.deepEqual(variables, { v: { default: "2" } });
  assert.deepEqual(
    tools?.map(({ path, examples }) => [path, examples?.[0]?.request.url]),
    [
      ["/{v}/x", "https://api.example.com/2/x"],
      ["/2/{v}/y", "https://api.example.com/2/z/y"],
      ["/3/z", "https://api.example.com/3/z"],
    ],
  );
  assert.deepEqual(lintOf(report), []);
});

test("a server variable without a default is set by the configuration", async () => {
  const servers = 'servers: [{url: "https://api.example.com/teams/{team}"}]';
  const report = await importText(api("/x: {get: {responses: {}}}").replace(/^servers:.*$/m, servers));
  assert.deepEqual(report.value?.toolspec.variables, { team: {} });
  assert.equal(
    report.value?.toolspec.tools[0]?.examples?.[0]?.request.url,
    "https://api.example.com/teams/example/x",
  );
  assert.deepEqual(lintOf(report), []);
});

/** Checks the pagination of a list: the parameters of its operation, the properties of its response (none for an array), and the result. */
function checkPagination(params: string, properties: string | undefined, expected: object | undefined) {
  test(`a list with ${params} and ${properties ?? "an array"} has the pagination ${JSON.stringify(expected)}`, async () => {
    const parameters = params.split("; ").map((one) => {
      const [name, type = "", initial] = one.split(/[ ,]/);
      const rest = initial === undefined ? "" : `, ${initial.replace(":", ": ")}`;
      return `{name: ${name}, in: query, schema: {type: ${type}${rest}}}`;
    });
    const schema = properties === undefined ? "{type: array}" : `{type: object, properties: {${properties}}}`;
    const report = await importText(
      api(
        `/x: {get: {parameters: [${parameters.join(", ")}], responses: {"200": {description: ok, content: {application/json: {schema: ${schema}}}}}}}`,
      ),
    );
    assert.deepEqual(report.value?.toolspec.tools[0]?.pagination, expected);
    assert.deepEqual(lintOf(report), []);
  });
}

const items = "items: {type: array}";
const address = "{type: [string, 'null'], format: uri}";
checkPagination("page integer,default:1", items, { kind: "page", param: "page", next: "$.items" });
checkPagination("page integer,default:0", items, { kind: "page", param: "page", next: "$.items", first: 0 });
checkPagination("page integer", items, undefined);
checkPagination("page integer,default:5", items, undefined);
checkPagination("offset integer", items, { kind: "offset", param: "offset", next: "$.items" });
checkPagination("skip integer,default:0; limit integer", undefined, {
  kind: "offset",
  param: "skip",
  next: "$",
});
checkPagination("offset integer", `${items}, meta: {properties: {total: {type: integer}}}`, {
  kind: "offset",
  param: "offset",
  next: "$.items",
  total: "$.meta.total",
});
checkPagination("offset integer", `${items}, total: {type: string}`, {
  kind: "offset",
  param: "offset",
  next: "$.items",
});
checkPagination("offset string", items, undefined);
checkPagination("offset integer,default:1", items, undefined);
checkPagination("offset integer", "items: {type: array}, data: {type: array}", undefined);
checkPagination("page integer", `${items}, next: ${address}`, { kind: "link", next: "$.next" });
checkPagination("after string", `links: {properties: {next: ${address}}}`, {
  kind: "link",
  next: "$.links.next",
});
checkPagination("after string", `links: {properties: {next: {type: string}}}`, undefined);
checkPagination("name string", `${items}, next: ${address}`, undefined);
checkPagination("cursor string; page integer", `next_cursor: {type: string}, next: ${address}`, {
  kind: "cursor",
  param: "cursor",
  next: "$.next_cursor",
});

/** Checks the credentials of a document with these security lines. */
function checkCredentials(
  title: string,
  lines: string,
  expected: readonly unknown[],
  codes: readonly string[] = [],
) {
  test(`security: ${title}`, async () => {
    const paths =
      "/a: {get: {responses: {}}}\n/b: {get: {responses: {}}}\n/c: {get: {security: [{other: []}], responses: {}}}";
    const report = await importText(api(paths, lines));
    assert.deepEqual(
      report.value?.manifest.credentials?.map(({ id, type, inject }) => [
        id,
        type,
        ...Object.values(inject),
      ]) ?? [],
      expected,
    );
    assert.deepEqual(
      report.diagnostics.map(({ code }) => code),
      codes,
    );
    assert.deepEqual(lintOf(report), []);
  });
}

const schemes = (security: string, list: string) =>
  `security: ${security}\ncomponents:\n  securitySchemes:\n    ${list}\n    other: {type: apiKey, in: header, name: X-Other}`;
checkCredentials(
  "a bearer token and another header",
  schemes("[{t: []}]", "t: {type: http, scheme: Bearer}"),
  [
    ["t", "api_key", "Authorization", "Bearer {token}"],
    ["other", "api_key", "X-Other", "{token}"],
  ],
);
checkCredentials(
  "the same header twice is sent once",
  schemes("[{t: []}]", "t: {type: apiKey, in: header, name: x-other}"),
  [["t", "api_key", "x-other", "{token}"]],
  ["OPENAPI_CREDENTIAL_UNFIT"],
);
checkCredentials(
  "the simplest alternative is selected",
  schemes(
    "[{o: [a]}, {b: []}, {k: []}]",
    "o: {type: oauth2, flows: {}}\n    b: {type: http, scheme: basic}\n    k: {type: http, scheme: bearer}",
  ),
  [
    ["k", "api_key", "Authorization", "Bearer {token}"],
    ["other", "api_key", "X-Other", "{token}"],
  ],
);
checkCredentials(
  "schemes that are required together are sent together",
  schemes("[{b: [], q: []}]", "b: {type: http, scheme: basic}\n    q: {type: apiKey, in: query, name: key}"),
  [
    ["b", "basic", "Authorization", "Basic {token}"],
    ["q", "api_key", "key", "{token}"],
    ["other", "api_key", "X-Other", "{token}"],
  ],
);
checkCredentials(
  "a key whose description says that it is a bearer token",
  schemes(
    "[{t: []}]",
    "t: {type: apiKey, in: header, name: Authorization, description: 'Write `Bearer` and the token'}",
  ),
  [
    ["t", "api_key", "Authorization", "Bearer {token}"],
    ["other", "api_key", "X-Other", "{token}"],
  ],
);
checkCredentials(
  "a cookie cannot be sent",
  schemes("[{c: []}]", "c: {type: apiKey, in: cookie, name: sid}"),
  [["other", "api_key", "X-Other", "{token}"]],
  ["OPENAPI_CREDENTIAL_UNFIT", "OPENAPI_CREDENTIAL_UNFIT"],
);
checkCredentials(
  "a requirement that names no scheme",
  "",
  [],
  ["OPENAPI_CREDENTIAL_UNFIT", "OPENAPI_CREDENTIAL_MISSING"],
);
