/**
 * The canary services: one for each way in which a request carries a credential. Each
 * has its own hosts and secrets, a manifest, a toolspec, and a configuration entry.
 */

import { join } from "node:path";
import type { JsonObject } from "@toolcrib/json";
import { type RecordedRequest, writeFiles } from "@toolcrib/testing";

/** A credential of a service. */
export interface CanaryCredential {
  readonly id: string;
  /** Name of its secret in the store. */
  readonly secretName: string;
  /** The initial value of the secret. */
  readonly value: string;
  /** The fields of the credential in the manifest, in YAML flow style. */
  readonly manifest: string;
  /** The part of `value` that must not leak. */
  readonly canary: string;
  /** Returns `request` without this credential, or `undefined` if it does not carry `value`. */
  take(request: PlainRequest, value: string): PlainRequest | undefined;
}

/** The parts of a request that may contain a secret. */
export interface PlainRequest {
  readonly target: string;
  readonly headers: RecordedRequest["headers"];
}

/** A service whose tools an entry of `toolspecs` offers. */
export interface CanaryService {
  /** The id of the entry. */
  readonly id: string;
  readonly host: string;
  /** The base URL. @default derived from the host */
  readonly baseUrl?: string;
  /** Other hosts that receive its credentials. */
  readonly otherHosts?: readonly string[];
  readonly egress: readonly string[];
  readonly tier: "sealed" | "entrusted";
  readonly credentials: readonly CanaryCredential[];
  /** Further fields of the entry. */
  readonly entry?: JsonObject;
  /** The field `auth` of the toolspec. */
  readonly auth?: string;
}

const awkward = `+/&"=%\\<'~ `;

function inHeader(name: string, frame: (value: string) => string): CanaryCredential["take"] {
  return ({ target, headers }, value) => {
    const rest = headers.filter((field) => field[0].toLowerCase() !== name.toLowerCase());
    const [found, ...more] = headers.filter((field) => field[0].toLowerCase() === name.toLowerCase());
    return more.length === 0 && found?.[1] === frame(value) ? { target, headers: rest } : undefined;
  };
}

function inQuery(name: string): CanaryCredential["take"] {
  return ({ target, headers }, value) => {
    const url = new URL(target, "https://x.example");
    if (url.searchParams.getAll(name).join("\n") !== value) return undefined;
    url.searchParams.delete(name);
    return { target: `${url.pathname}${url.search}`, headers };
  };
}

function inPath(prefix: string): CanaryCredential["take"] {
  return ({ target, headers }, value) => {
    const [, first = "", ...rest] = target.split("/");
    return decodeURIComponent(first) === `${prefix}${value}`
      ? { target: `/${rest.join("/")}`, headers }
      : undefined;
  };
}

function credential(
  id: string,
  service: string,
  value: string,
  manifest: string,
  take: CanaryCredential["take"],
): CanaryCredential {
  const canary = manifest.includes("type: basic") ? value.slice(value.indexOf(":") + 1) : value;
  return { id, secretName: `${service}-${id}`, value, canary, manifest, take };
}

function service(
  id: string,
  credentials: readonly CanaryCredential[],
  more: Partial<CanaryService> = {},
): CanaryService {
  const host = `api.${id}.example`;
  return { id, host, egress: [host], tier: "sealed", credentials, ...more };
}

/** Every service that responds. */
export const services: readonly CanaryService[] = [
  service(
    "bearer",
    [
      credential(
        "token",
        "bearer",
        `Kp7xVq2mTn9L4sWd${awkward}Rb8fJh3ZcYt6Gv5Xu`,
        'type: oauth2, vendor: acme, inject: {header: Authorization, format: "Bearer {token}"}',
        inHeader("authorization", (value) => `Bearer ${value}`),
      ),
    ],
    {
      otherHosts: ["files.bearer.example"],
      egress: ["api.bearer.example", "*.bearer.example"],
    },
  ),
  service("twin", [
    credential(
      "app",
      "twin",
      "live_9fQzR4tLw7NbXc2VhYk8",
      'type: api_key, inject: {header: X-App-Key, format: "{token}"}',
      inHeader("x-app-key", (value) => value),
    ),
    credential(
      "user",
      "twin",
      "aZ3+kQ9/vT5mWp1XrB7yLc4=+dNf8/Hs2==",
      'type: api_key, inject: {header: X-User-Key, format: "key={token};v=1"}',
      inHeader("x-user-key", (value) => `key=${value};v=1`),
    ),
  ]),
  service("query", [
    credential(
      "key",
      "query",
      `Hm4wZs8QyPd2LkTj${awkward}6CvNb1RgXf9EaUo3`,
      "type: api_key, inject: {query: api_key}",
      inQuery("api_key"),
    ),
  ]),
  service("path", [
    credential(
      "bot",
      "path",
      "7318204956:AAHq5Vz-TbX_8sKdWm3LyRcPf1NjGe",
      "type: api_key, inject: {pathPrefix: '/bot{token}'}",
      inPath("bot"),
    ),
  ]),
  service("login", [
    credential(
      "login",
      "login",
      `ada:Ws6cGt1KzVx0MqYb${awkward}4PnDj7HrLf2SvBu5`,
      'type: basic, inject: {header: Authorization, format: "Basic {token}"}',
      inHeader("authorization", (value) => `Basic ${Buffer.from(value).toString("base64")}`),
    ),
  ]),
  service(
    "trusted",
    [
      credential(
        "token",
        "trusted",
        "3F9aB7d2-E5c8-41F6-9a0b-7c4De18F2b65",
        "type: custom_env, inject: {env: TRUSTED_TOKEN}",
        inHeader("x-trusted", (value) => `Token ${value}`),
      ),
    ],
    { tier: "entrusted", auth: '{header: X-Trusted, format: "Token {token}"}' },
  ),
  service("digits", [
    credential(
      "pin",
      "digits",
      "948271650382915",
      'type: api_key, inject: {header: X-Pin, format: "{token}"}',
      inHeader("x-pin", (value) => value),
    ),
  ]),
  ...["north", "south"].map((tenant) =>
    service(
      tenant,
      [
        credential(
          "key",
          tenant,
          `${tenant}-Jv5TxQe8${tenant === "north" ? "LmZp3KdRw6" : "YcBn9FsGh1"}Uo`,
          'type: api_key, inject: {header: X-Tenant-Key, format: "{token}"}',
          inHeader("x-tenant-key", (value) => value),
        ),
      ],
      {
        host: `${tenant}.tenants.example`,
        baseUrl: "https://{tenant}.tenants.example",
        egress: ["*.tenants.example"],
        entry: { variables: { tenant } },
      },
    ),
  ),
];

/** Two services that cannot be reached: one with an untrusted certificate, and one that does not listen. */
export const unreachable: readonly CanaryService[] = [
  ["mistrusted", "Xr2BvKq7NwTz5MdL9cFh"],
  ["gone", "Gq6YtWn3CkJx8RbVe1Sz"],
].map(([id = "", value = ""]) =>
  service(id, [
    credential(
      "token",
      id,
      value,
      'type: api_key, inject: {header: Authorization, format: "Bearer {token}"}',
      () => undefined,
    ),
  ]),
);

/** The canaries of all services, with their names. */
export const canaries: ReadonlyMap<string, string> = new Map(
  [...services, ...unreachable].flatMap(({ credentials }) =>
    credentials.map(({ canary, secretName }) => [canary, secretName] as const),
  ),
);

/** Writes the manifest and the toolspec of each service below `folder`. @returns the section `toolspecs` */
export function writeServices(folder: string): readonly JsonObject[] {
  return [...services, ...unreachable].map((one) => {
    writeFiles(join(folder, one.id), { "manifest.yaml": manifestOf(one), "toolspec.yaml": toolspecOf(one) });
    return {
      path: `./${one.id}`,
      id: one.id,
      tools: "all",
      credentials: Object.fromEntries(
        one.credentials.map(({ id, secretName }) => [id, { secret_key_ref: secretName }]),
      ),
      ...one.entry,
    };
  });
}

/** Returns the manifest of a service. */
export function manifestOf({ id, egress, tier, credentials }: CanaryService): string {
  return `schemaVersion: 2
name: ${id}
version: 0.1.0
displayName: Service ${id}
description: Repeats its input
category: dev-tools
source: {repo: github.com/acme/${id}, tag: v0.1.0}
image: {ref: registry.example/${id}, digest: "sha256:${"0".repeat(64)}", entrypoint: /app/server, builder: toolpack}
tier: ${tier}
entitlements: {egress: [${egress.map((one) => JSON.stringify(one)).join(", ")}]}
credentials:
${credentials.map((one) => `  - {id: ${one.id}, ${one.manifest}}\n`).join("")}tools:
${toolNames.map((name) => `  - {name: ${name}, default: true}\n`).join("")}`;
}

const toolNames = ["ask", "pick", "pages", "send", "post_form"] as const;

function toolspecOf({ id, host, baseUrl, auth }: CanaryService): string {
  const variables = baseUrl === undefined ? "" : 'variables:\n  tenant: {description: "The tenant"}\n';
  const mode = "{name: mode, in: path, type: string, required: true}";
  return `schemaVersion: 2
name: ${id}
version: 0.1.0
baseUrl: ${JSON.stringify(baseUrl ?? `https://${host}`)}
${variables}${auth === undefined ? "" : `auth: ${auth}\n`}tools:
  - name: ask
    description: Ask for something
    method: GET
    path: /ask/{mode}
    params: [${mode}, {name: q, in: query, type: string}]
  - name: pick
    description: Ask for a part of something
    method: GET
    path: /pick/{mode}
    params: [${mode}]
    response: {select: "$..value"}
  - name: pages
    description: Ask page by page
    method: GET
    path: /pages/{mode}
    params: [${mode}, {name: cursor, in: query, type: string}]
    pagination: {kind: cursor, param: cursor, next: $.next}
  - name: send
    description: Send something
    method: POST
    path: /send/{mode}
    params: [${mode}, {name: text, in: body, type: string}]
  - name: post_form
    description: Send a form
    method: POST
    path: /form/{mode}
    encoding: form
    params: [${mode}, {name: text, in: body, type: string}]
`;
}
