import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  adoptedSource,
  annotationsOf,
  type CatalogFile,
  inputSchemaOf,
  lintCatalog,
  parseManifest,
  type Toolspec,
  type ToolspecTool,
} from "@toolcrib/toolspec";

const folder = join(import.meta.dirname, "../../../catalog");

/** Returns every file below `kind`, as the input of `lintCatalog`. */
function filesOf(kind: "manifests" | "toolspecs"): readonly CatalogFile[] {
  return readdirSync(join(folder, kind)).flatMap((name) =>
    readdirSync(join(folder, kind, name)).map((file) => ({
      path: `catalog/${kind}/${name}/${file}`,
      text: readFileSync(join(folder, kind, name, file)),
    })),
  );
}

const files = [...filesOf("manifests"), ...filesOf("toolspecs")];
const report = lintCatalog(files, { subject: "toolspecs" });
const specs = report.pairs.map(({ toolspec }) => toolspec);

/** The servers that manifests without a toolspec adopt. */
const adopted = files.flatMap((file) => {
  const { value } = parseManifest({ name: file.path, text: String(file.text) });
  const source = value === undefined ? undefined : adoptedSource(value);
  return value !== undefined && source !== undefined && "kind" in source ? [{ manifest: value, source }] : [];
});

/** Returns the problems of each tool, as `service.tool: problem`. */
function faultsOf(find: (tool: ToolspecTool, spec: Toolspec) => readonly string[]): readonly string[] {
  return specs.flatMap((spec) =>
    spec.tools.flatMap((tool) => find(tool, spec).map((fault) => `${spec.name}.${tool.name}: ${fault}`)),
  );
}

test("lint has no findings in the catalog, not even warnings", () => {
  const findings = report.diagnostics.map(({ code, message }) => `${code} ${message}`);
  assert.deepEqual(findings, []);
  assert.equal(report.manifestCount, filesOf("manifests").length);
  assert.equal(report.toolspecCount, filesOf("toolspecs").length);
  const servers = adopted.length;
  assert.equal(
    report.pairs.length + servers,
    report.manifestCount,
    "each manifest has a toolspec or a server",
  );
});

test("the catalog has the most requested services", () => {
  const names = new Set(specs.map(({ name }) => name));
  const wanted =
    "airtable asana bitbucket clickup confluence discord github gitlab hubspot jira linear notion pagerduty sentry shopify slack stripe telegram todoist trello";
  assert.deepEqual(
    wanted.split(" ").filter((name) => !names.has(name)),
    [],
  );
});

test("every service has at least five tools, of which some are enabled by default", () => {
  const faults = report.pairs.flatMap(({ manifest, toolspec }) => [
    ...(toolspec.tools.length < 5 ? [`${toolspec.name} has ${toolspec.tools.length} tools`] : []),
    ...(manifest.tools?.some((tool) => tool.default === true) === true
      ? []
      : [`${toolspec.name} has no tool that is on by default`]),
  ]);
  assert.deepEqual(faults, []);
});

/** Services that offer only reading by default, and why. */
const readOnlyServices: { readonly [service: string]: string } = {
  algolia: "a search API: an application writes the records, and a saved record replaces a live one",
  cloudflare: "every write changes live traffic or stored production data, or costs money",
  digitalocean: "every write costs money, or changes running machines, deployments or DNS",
  netlify: "every write changes what a site serves: builds, deployments, DNS or its settings",
  perplexity: "a search API: its only tool that writes starts a research, which costs money",
  sendgrid: "emails go to any address, and contacts change thousands at once",
  twilio: "every message, call and verification costs money and reaches any phone",
  vercel: "every write changes what a project serves: deployments, domains, DNS or its settings",
};

/** The tools of each service that are enabled by default. */
const enabledTools = report.pairs.map(({ manifest, toolspec }) => {
  const on = new Set(manifest.tools?.filter((tool) => tool.default === true).map(({ name }) => name));
  return { service: toolspec.name, tools: toolspec.tools.filter(({ name }) => on.has(name)) };
});

test("everyday writing is enabled by default in every service, except for those with a reason", () => {
  const withoutWriting = enabledTools
    .filter(({ tools }) => tools.every((tool) => annotationsOf(tool).readOnlyHint === true))
    .map(({ service }) => service);
  assert.deepEqual(withoutWriting.toSorted(), Object.keys(readOnlyServices).toSorted());
});

test("the README of the catalog names the services that offer only reading by default", () => {
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  const [, list = ""] = /offer only reading by default: (.+)\./.exec(readme) ?? [];
  const titles = report.pairs
    .filter(({ manifest }) => Object.hasOwn(readOnlyServices, manifest.name))
    .map(({ manifest }) => manifest.displayName);
  assert.deepEqual(list.split(/, | and /), titles.toSorted());
});

test("a tool that is enabled by default and only adds says that it destroys nothing", () => {
  const adds = /^(?:add|append|comment|copy|create|post|quick_add|reply|send)_(?!or_update_)/;
  const faults = enabledTools.flatMap(({ service, tools }) =>
    tools
      .filter((tool) => adds.test(tool.name) && annotationsOf(tool).readOnlyHint !== true)
      .filter((tool) => annotationsOf(tool).destructiveHint !== false)
      .map(({ name }) => `${service}.${name}`),
  );
  assert.deepEqual(faults, []);
});

test("no destructive tool is enabled by default", () => {
  const faults = enabledTools.flatMap(({ service, tools }) =>
    tools
      .filter((tool) => annotationsOf(tool).destructiveHint === true)
      .map(({ name }) => `${service}.${name}`),
  );
  assert.deepEqual(faults, []);
});

test("every tool has an example, and no two tools of a service have the same description", () => {
  const seen = new Map<string, string>();
  const faults = faultsOf(({ name, description, examples = [] }, spec) => {
    const key = `${spec.name}: ${description}`;
    const twin = seen.get(key);
    seen.set(key, name);
    return [
      ...(examples.length === 0 ? ["has no example"] : []),
      ...(twin === undefined ? [] : [`is described as ${twin} is`]),
      ...(description.length < 12 ? ["has a description that is too short"] : []),
    ];
  });
  assert.deepEqual(faults, []);
});

test("every parameter of the input schema has a description", () => {
  const faults = faultsOf((tool) => {
    const { properties } = inputSchemaOf(tool) as {
      readonly properties: { readonly [name: string]: { readonly description?: string } };
    };
    return Object.entries(properties).flatMap(([name, { description = "" }]) =>
      description === "" ? [`${name} has none`] : [],
    );
  });
  assert.deepEqual(faults, []);
});

test("every host is a full name, or one label below a domain of the service", () => {
  const faults = report.pairs.flatMap(({ manifest, toolspec }) =>
    (manifest.entitlements?.egress ?? [])
      .filter((entry) => entry.startsWith("*.") && !/\{[^{}]+\}/.test(hostsOf(toolspec)))
      .map((entry) => `${toolspec.name} may reach ${entry}, and no base URL has a variable`),
  );
  assert.deepEqual(faults, []);
});

function hostsOf({ baseUrl, tools }: Toolspec): string {
  return [baseUrl, ...tools.map((tool) => tool.baseUrl ?? "")].join(" ");
}

test("every adopted server has a recorded package, tools, and some that are enabled by default", () => {
  const faults = adopted.flatMap(({ manifest: { name, version, tools = [] }, source: { kind, digest } }) => {
    const lock = join(folder, "locks", name, `${version}.${kind === "npm" ? "json" : "txt"}`);
    const found = kind === "go" ? digest : createHash("sha256").update(readFileSync(lock)).digest("hex");
    return [
      ...(digest === undefined || found !== digest ? [`${name} does not record its package`] : []),
      ...(tools.some((tool) => tool.default === true) ? [] : [`${name} has no tool that is on by default`]),
    ];
  });
  assert.deepEqual(faults, []);
  assert.deepEqual(new Set(adopted.map(({ source: { kind } }) => kind)), new Set(["go", "npm", "python"]));
  assert.ok(adopted.length >= 8);
});

test("locks name no registry, and there is none without a manifest", () => {
  const faults = readdirSync(join(folder, "locks"), { recursive: true, encoding: "utf8" }).flatMap((path) => {
    const [, name = "", version = ""] = /^([^/]+)\/(\d+\.\d+\.\d+)\.(?:json|txt)$/.exec(path) ?? [];
    if (name === "") return path.includes("/") ? [`${path} is no lock`] : [];
    const text = readFileSync(join(folder, "locks", path), "utf8");
    const isUsed = adopted.some(({ manifest }) => manifest.name === name && manifest.version === version);
    return [
      ...(isUsed ? [] : [`${path} has no manifest`]),
      ...(/"resolved"|^--|^\s+--(?!hash=)/m.test(text) ? [`${path} names a registry`] : []),
    ];
  });
  assert.deepEqual(faults, []);
});
