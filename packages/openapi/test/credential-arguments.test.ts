import assert from "node:assert/strict";
import { test } from "node:test";
import type { ImportOptions } from "@toolcrib/openapi";
import { api, importText, lintOf } from "./check-import.ts";

/** Imports a document and returns its arguments, credentials, hidden arguments and codes as lines. */
async function linesOf(text: string, options: ImportOptions = {}): Promise<readonly string[]> {
  const report = await importText(text, options);
  const { value, hidden, diagnostics } = report;
  assert.deepEqual(lintOf(report), []);
  return [
    ...(value?.toolspec.tools ?? []).map(
      ({ name, params = [] }) => `${name}(${params.map((param) => param.name).join(" ")})`,
    ),
    ...(value?.manifest.credentials ?? []).map(
      ({ id, inject }) => `sends ${id} in ${inject.header ?? `?${inject.query}`}`,
    ),
    ...hidden.map(
      ({ name, in: where, tools, credential }) => `hides ${name} (${where}, ${tools}): ${credential ?? "-"}`,
    ),
    ...diagnostics.map(({ code }) => code),
  ];
}

const header = (key: string, name: string) => `${key}: {type: apiKey, in: header, name: ${name}}`;
const secured = (...schemes: readonly string[]) => {
  const all = schemes.map((scheme) => `${scheme.split(":")[0]}: []`).join(", ");
  return `security: [{${all}}]\ncomponents: {securitySchemes: {${schemes.join(", ")}}}`;
};
/** A POST whose JSON body has the members `properties`. */
const post = (name: string, properties: string, required = "") =>
  `/${name}: {post: {operationId: ${name}, responses: {}, requestBody: {content: {application/json: {schema: {type: object, required: [${required}], properties: {${properties}}}}}}}}`;
/** A GET with `parameters`. */
const get = (name: string, parameters: string) =>
  `/${name}: {get: {operationId: ${name}, responses: {}, parameters: [${parameters}]}}`;
const param = (where: string, name: string, more = "") =>
  `{in: ${where}, name: ${name}, schema: {type: string}${more}}`;
const text = "{type: string}";

function check(title: string, document: string, expected: readonly string[], options: ImportOptions = {}) {
  test(`credentials as arguments: ${title}`, async () => {
    assert.deepEqual(await linesOf(document, options), expected);
  });
}

const plaid = secured(header("clientId", "PLAID-CLIENT-ID"), header("secret", "PLAID-SECRET"));
const sent = ["sends client_id in PLAID-CLIENT-ID", "sends secret in PLAID-SECRET"];
const both = `client_id: ${text}, secret: ${text}`;
const hidden = "OPENAPI_CREDENTIAL_HIDDEN";
check(
  "client_id and secret of every body are those that are sent in headers",
  api(
    `${post("accounts_get", `${both}, access_token: ${text}`, "access_token, client_id, secret")}\n${post("categories_get", `${both}, count: {type: integer}`)}`,
    plaid,
  ),
  [
    "accounts_get(access_token)",
    "categories_get(count)",
    ...sent,
    "hides client_id (body, 2): client_id",
    "hides secret (body, 2): secret",
    hidden,
    hidden,
  ],
);
check(
  "a member whose description names the header is the credential",
  api(
    post("one", "secret: {type: string, description: 'Your secret, also in the `PLAID-SECRET` header.'}"),
    plaid,
  ),
  ["one()", ...sent, "hides secret (body, 1): secret", hidden],
);
check(
  "another name of a secret whose description names the header is the credential",
  api(
    post(
      "one",
      `${both}, client_secret: {type: string, description: As secret or in the PLAID-SECRET header.}, key_id: ${text}`,
    ),
    plaid,
  ),
  [
    "one(key_id)",
    ...sent,
    "hides client_id (body, 1): client_id",
    "hides secret (body, 1): secret",
    "hides client_secret (body, 1): secret",
    ...[hidden, hidden, hidden],
  ],
);
check(
  "a secret that nothing connects with the credential is an argument",
  api(post("create_webhook", `url: ${text}, secret: ${text}`), plaid),
  ["create_webhook(url secret)", ...sent],
);
check(
  "the version of an API in a header is no credential of a body",
  api(
    post("one", `${both}, version: ${text}`),
    secured(header("clientId", "X-Client-Id"), header("secret", "X-Secret"), header("v", "X-Version")),
  ),
  [
    "one(version)",
    ...["sends client_id in X-Client-Id", "sends secret in X-Secret", "sends v in X-Version"],
    "hides client_id (body, 1): client_id",
    "hides secret (body, 1): secret",
    ...[hidden, hidden],
  ],
);
check(
  "--keep-argument keeps a member",
  api(post("one", `${both}, x: ${text}`), plaid),
  ["one(client_id x)", ...sent, "hides secret (body, 1): secret", hidden],
  { keepArguments: ["Client-Id"] },
);
check(
  "--hide-argument hides a member and a required parameter",
  api(
    `${post("one", `${both}, pin: ${text}`)}\n${get("two", param("query", "tenant", ", required: true"))}`,
    plaid,
  ),
  [
    "one()",
    "two()",
    ...sent,
    "sends tenant in ?tenant",
    "hides client_id (body, 1): client_id",
    "hides secret (body, 1): secret",
    "hides pin (body, 1): -",
    "hides tenant (query, 1): tenant",
    ...[hidden, hidden, hidden, hidden],
  ],
  { hideArguments: ["pin", "tenant"] },
);
check(
  "a scheme in the query replaces its parameter, also in another tool",
  api(
    `${get("one", `${param("query", "key", ", required: true")}, ${param("query", "q")}`)}\n${get("two", param("query", "key"))}`,
    secured("k: {type: apiKey, in: query, name: key}"),
  ),
  ["one(q)", "two()", "sends k in ?key", "hides key (query, 2): k"],
);
check(
  "api_key in the query becomes a credential if there is no scheme",
  api(get("one", `${param("query", "api_key", ", required: true")}, ${param("query", "q")}`)),
  ["one(q)", "sends api_key in ?api_key", "hides api_key (query, 1): api_key", hidden],
);
check(
  "a header with the name of a credential becomes one if there is no scheme",
  api(get("one", `${param("header", "X-Api-Key")}, ${param("query", "key")}`)),
  ["one(key)", "sends x_api_key in X-Api-Key", "hides X-Api-Key (header, 1): x_api_key", hidden],
);
check(
  "an optional parameter is hidden if the API has another credential",
  api(get("one", param("query", "access_token")), secured("t: {type: http, scheme: bearer}")),
  ["one()", "sends t in Authorization", "hides access_token (query, 1): -", hidden],
);
check(
  "a scheme that is not selected is no argument",
  api(
    get("one", param("query", "key")),
    "security: [{t: []}, {k: []}]\ncomponents: {securitySchemes: {t: {type: http, scheme: bearer}, k: {type: apiKey, in: query, name: key}}}",
  ),
  ["one()", "sends t in Authorization", "hides key (query, 1): -", hidden],
);
check(
  "the key of another service is an argument if the API has a credential",
  api(post("connect", `service: ${text}, api_token: ${text}`), secured("t: {type: http, scheme: bearer}")),
  ["connect(service api_token)", "sends t in Authorization"],
);
check(
  "an optional member is hidden if the document declares no credential",
  api(post("one", `q: ${text}, api_key: ${text}`)),
  ["one(q)", "hides api_key (body, 1): -", hidden, "OPENAPI_CREDENTIAL_MISSING"],
);
check(
  "an operation whose body requires an undeclared credential is left out",
  api(`${post("one", `q: ${text}, api_key: ${text}`, "api_key")}\n${post("two", `q: ${text}`)}`),
  ["two(q)", "OPENAPI_OPERATION_UNFIT", "OPENAPI_CREDENTIAL_MISSING"],
);
check(
  "the hint of that finding imports it",
  api(post("one", `q: ${text}, api_key: ${text}`, "api_key")),
  ["one(api_key q)", "OPENAPI_CREDENTIAL_MISSING"],
  { keepArguments: ["api_key"] },
);
check(
  "an operation that is left out adds no credential",
  api(
    `${get("one", `${param("query", "api_key", ", required: true")}, ${param("cookie", "sid", ", required: true")}`)}\n${get("two", param("query", "q"))}`,
  ),
  ["two(q)", "OPENAPI_OPERATION_UNFIT", "OPENAPI_CREDENTIAL_MISSING"],
);

test("credentials as arguments: the message names the tools, the place and the option", async () => {
  const { diagnostics } = await importText(api(post("one", `${both}, x: ${text}`), plaid));
  assert.deepEqual(
    diagnostics.map(({ message, hint }) => `${message}\n${hint}`),
    [
      'Body member "client_id" of 1 tool is hidden: it is the credential "client_id", which is sent in the header PLAID-CLIENT-ID\nif it is an argument, import with --keep-argument client_id',
      'Body member "secret" of 1 tool is hidden: it is the credential "secret", which is sent in the header PLAID-SECRET\nif it is an argument, import with --keep-argument secret',
    ],
  );
});
