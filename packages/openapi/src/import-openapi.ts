/**
 * Imports an OpenAPI document as a manifest and a toolspec of schemaVersion 2.
 * Everything that a toolspec can express is imported; everything else is reported
 * with its place. The result has no lint findings: an operation that would have
 * one is left out and reported. No I/O except through the reader of other
 * documents that the caller provides; no document makes it throw.
 */

import { type Diagnostic, hasErrors, type Source } from "@toolcrib/diagnostics";
import { quote } from "@toolcrib/document";
import { lintCatalog, type Manifest, type Toolspec, type ToolspecTool } from "@toolcrib/toolspec";
import { Findings } from "./document/findings.ts";
import { fieldOf, isMap, textOf } from "./document/node.ts";
import { openDocument } from "./document/open-document.ts";
import { Documents, type ReadReference } from "./document/references.ts";
import { chooseOperations, listOperations, type Operation, type OperationFilter } from "./operations.ts";
import { schemasOfImportMaxCount } from "./schema/read-schema.ts";
import { CredentialArguments, type HiddenArgument } from "./service/credential-arguments.ts";
import { readCredentials, reportNoCredential } from "./service/read-credentials.ts";
import { readServer, type Server, serverOf } from "./service/read-server.ts";
import { convertOperation } from "./tool/convert-operation.ts";
import { UnfitOperation } from "./tool/draft-param.ts";
import { createToolNames, toEntryName } from "./write/names.ts";
import { toPlainLine } from "./write/plain-text.ts";
import { writeManifest, writeTool, writeToolspecHead } from "./write/write-files.ts";

/** Options of an import. */
export interface ImportOptions extends OperationFilter {
  /** Name of the manifest. @default derived from the title of the document */
  readonly name?: string;
  /** Version of the manifest. @default "0.1.0" */
  readonly version?: string;
  /** `https://HOST/PATH` that replaces the servers of the document. */
  readonly baseUrl?: string;
  /** Maximum number of tools. @default 200, at most 1000 */
  readonly toolsMaxCount?: number;
  /** Names of parameters and body members that stay arguments although they look like credentials. @default none */
  readonly keepArguments?: readonly string[];
  /** Names of further parameters and body members that are credentials. @default none */
  readonly hideArguments?: readonly string[];
  /** Reads documents that a `$ref` names. @default no other document is read */
  readonly readReference?: ReadReference;
}

/** One operation and the result of importing it. */
export interface ImportedOperation {
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly operationId: string | undefined;
  /** Name of its tool; `undefined` when it was left out. */
  readonly tool: string | undefined;
}

/** A manifest and a toolspec, and the text of their files. */
export interface ImportedApi {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
  readonly manifestText: string;
  readonly toolspecText: string;
}

/** Result of an import. */
export interface ImportReport {
  /** `undefined` when there is an error, or nothing to import. */
  readonly value: ImportedApi | undefined;
  /** The selected operations, in the order of the document. */
  readonly operations: readonly ImportedOperation[];
  /** Parameters and body members that are credentials, so the tools do not have them. */
  readonly hidden: readonly HiddenArgument[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Limits of the written toolspec, in bytes and in values; below the limits of its parser. */
const toolspecMaxBytes = 1_000_000;
const toolspecMaxValues = 90_000;
/** Maximum number of rounds of reading other documents, each of which can refer to more. */
const roundsMaxCount = 12;

/** Imports the OpenAPI 3.0 or 3.1 document `source`, YAML or JSON. */
export async function importOpenapi(source: Source, options: ImportOptions = {}): Promise<ImportReport> {
  const opened = openDocument(source);
  if (opened.kind === "unreadable")
    return { value: undefined, operations: [], hidden: [], diagnostics: [opened.finding] };
  const documents = new Documents(opened.file);
  const { readReference } = options;
  for (let round = 0; ; round += 1) {
    const report = convert(documents, options);
    if (readReference === undefined || round === roundsMaxCount) return report;
    if (!(await documents.load(readReference))) return report;
  }
}

function convert(documents: Documents, options: ImportOptions): ImportReport {
  const findings = new Findings();
  const none = (): ImportReport => ({
    value: undefined,
    operations: [],
    hidden: [],
    diagnostics: findings.diagnostics,
  });
  if (!checkVersion(documents, findings)) return none();
  const name = nameOf(documents, options, findings);
  const all = listOperations(documents, findings);
  const chosen = limit(chooseOperations(all, options, findings), options, findings);
  if (all.length === 0 || (chosen.length === 0 && !hasErrors(findings.diagnostics)))
    reportNothing(all.length > 0, findings);
  if (name === undefined || chosen.length === 0 || hasErrors(findings.diagnostics)) return none();
  const api = readApi(documents, chosen, { name, options, findings });
  if (api === undefined) return none();
  const { value, tools } = finish(api, findings);
  const imported = [...tools.keys()];
  const hidden = api.credentials.report(imported, findings);
  if (api.credentials.credentialsFor(imported).length === 0) reportNoCredential(documents, findings);
  return {
    value: hasErrors(findings.diagnostics) ? undefined : value,
    operations: chosen.map((one) => ({
      method: one.method,
      path: one.path,
      operationId: one.operationId,
      tool: tools.get(one)?.name,
    })),
    hidden,
    diagnostics: findings.diagnostics,
  };
}

/** Returns the operations of the document `source`, also when it has other errors. */
export function listOpenapi(source: Source): {
  readonly operations: readonly Operation[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const opened = openDocument(source);
  if (opened.kind === "unreadable") return { operations: [], diagnostics: [opened.finding] };
  const findings = new Findings();
  const documents = new Documents(opened.file);
  const operations = checkVersion(documents, findings) ? listOperations(documents, findings) : [];
  return { operations, diagnostics: findings.diagnostics };
}

function checkVersion({ root }: Documents, findings: Findings): boolean {
  const written = fieldOf(root.root, "openapi");
  // YAML parses 3.0 as the number 3.
  if (/^3\.[01](?:\.|$)|^3$/.test(String(written))) return true;
  const isSecond = fieldOf(root.root, "swagger") !== undefined;
  findings.report({
    severity: "error",
    code: "OPENAPI_VERSION",
    message: isSecond
      ? `Cannot import a document of Swagger ${quote(String(fieldOf(root.root, "swagger")))}: OpenAPI 3.0 and 3.1 are supported`
      : "Cannot import a document without openapi: 3.0.x or 3.1.x",
    hint: isSecond
      ? "convert it to OpenAPI 3 first, with a converter such as swagger2openapi"
      : "give an OpenAPI document",
    place: { file: root, owner: root.root, key: isSecond ? "swagger" : "openapi" },
  });
  return false;
}

function nameOf({ root }: Documents, options: ImportOptions, findings: Findings): string | undefined {
  const info = fieldOf(root.root, "info");
  const title = textOf(info, "title") ?? "";
  // "The Acme REST API - v2" becomes acme.
  const plain = toPlainLine(title, 80).replace(
    /\b(?:the|rest|http|web|public|open|api|apis|openapi|swagger|specification|spec|reference|documentation|v\d[\d.]*)\b/gi,
    " ",
  );
  const name = options.name ?? (toEntryName(plain) || toEntryName(title));
  if (/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name) && name.length <= 64) return name;
  findings.report({
    severity: "error",
    code: "OPENAPI_NAME_MISSING",
    message:
      options.name === undefined
        ? `The title ${quote(title)} cannot be converted to a name for the manifest`
        : `Cannot use ${quote(name)} as name: a name consists of lower-case letters, digits and inner hyphens`,
    hint: "give one with --name",
    ...(options.name === undefined && isMap(info)
      ? { place: { file: root, owner: info, key: "title" } }
      : {}),
  });
  return undefined;
}

function reportNothing(hasOperations: boolean, findings: Findings): void {
  findings.report({
    severity: "error",
    code: "OPENAPI_OPERATION_MISSING",
    message: hasOperations
      ? "No operation is selected, or no selected operation can be imported"
      : "The document has no operations",
    ...(hasOperations ? { hint: "use --list to show them" } : {}),
  });
}

function limit(
  chosen: readonly Operation[],
  options: ImportOptions,
  findings: Findings,
): readonly Operation[] {
  const most = Math.min(options.toolsMaxCount ?? 200, 1000);
  const first = chosen[most];
  if (first === undefined) return chosen;
  reportLimit(`${chosen.length} operations are chosen; the first ${most} are imported`, first, findings);
  return chosen.slice(0, most);
}

function reportLimit(message: string, first: Operation, findings: Findings): void {
  const hint = "select operations with --tag, --path or --operation; --list shows what there is";
  findings.report({ code: "OPENAPI_OPERATION_LIMIT", message, hint, place: first.place });
}

interface Api {
  readonly documents: Documents;
  readonly spec: Omit<Toolspec, "tools">;
  readonly credentials: CredentialArguments;
  readonly tools: Map<Operation, ToolspecTool>;
  readonly servers: ReadonlyMap<Operation, Server>;
}

function readApi(
  documents: Documents,
  operations: readonly Operation[],
  given: { readonly name: string; readonly options: ImportOptions; readonly findings: Findings },
): Api | undefined {
  const { name, options, findings } = given;
  const servers = readServers(documents, operations, options, findings);
  const [main] = servers.values();
  if (main === undefined) return undefined;
  const reachable = operations.filter((one) => servers.has(one));
  const declared = readCredentials(documents, reachable, { findings, vendor: name });
  const { keepArguments: keep = [], hideArguments: hide = [] } = options;
  const credentials = new CredentialArguments(declared, { keep, hide });
  const variables = Object.assign(
    {},
    ...[...servers.values()].map((server) => server.variables).reverse(),
  ) as Server["variables"];
  const spec = {
    schemaVersion: 2,
    name,
    version: options.version ?? "0.1.0",
    baseUrl: main.baseUrl,
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
  };
  const nameTool = createToolNames();
  const context = { documents, findings, left: { schemas: schemasOfImportMaxCount } };
  const tools = new Map<Operation, ToolspecTool>();
  for (const operation of reachable) {
    try {
      const tool = convertOperation(operation, {
        name: nameTool(operation.operationId, operation.method, operation.path),
        context,
        server: servers.get(operation) ?? main,
        spec,
        credentials,
      });
      tools.set(operation, tool);
    } catch (error) {
      if (!(error instanceof UnfitOperation)) throw error;
      reportUnfit(operation, error.message, findings, error);
    }
  }
  if (context.left.schemas < 0) {
    const count = schemasOfImportMaxCount.toLocaleString("en");
    findings.report({
      severity: "error",
      code: "OPENAPI_TOO_LARGE",
      message: `The schemas of the operations refer to one another more than ${count} times`,
      hint: "select operations with --tag, --path or --operation",
    });
  }
  return { documents, spec, credentials, tools, servers };
}

function reportUnfit(operation: Operation, reason: string, findings: Findings, at?: UnfitOperation): void {
  findings.report({
    code: "OPENAPI_OPERATION_UNFIT",
    message: `Operation ${quote(operation.label)} is left out: ${reason}`,
    hint: at?.hint,
    place: at?.place ?? operation.place,
  });
}

/** Returns the server of each operation: its own, the one of its path, or the one of the document. */
function readServers(
  { root }: Documents,
  operations: readonly Operation[],
  options: ImportOptions,
  findings: Findings,
): ReadonlyMap<Operation, Server> {
  const servers = new Map<Operation, Server>();
  if (options.baseUrl !== undefined) {
    const server = serverOf(options.baseUrl);
    for (const one of server === undefined ? [] : operations)
      if (server !== undefined) servers.set(one, server);
    if (server === undefined) {
      const message = `Cannot use ${quote(options.baseUrl)} as base URL`;
      findings.report({
        severity: "error",
        code: "OPENAPI_SERVER_UNFIT",
        message,
        hint: "write https://HOST or https://HOST/PATH",
      });
    }
    return servers;
  }
  const settings = { documentUrl: root.source.name, findings };
  const read = new Map<unknown, Server | undefined>();
  const serverAt = (owner: Parameters<typeof readServer>[0], file: Operation["file"]) => {
    if (!read.has(owner)) read.set(owner, readServer(owner, { file, owner, key: "servers" }, settings));
    return read.get(owner);
  };
  const left: Operation[] = [];
  for (const one of operations) {
    const server =
      serverAt(one.node, one.file) ?? serverAt(one.item.node, one.file) ?? serverAt(root.root, root);
    if (server === undefined) left.push(one);
    else servers.set(one, server);
  }
  const [first] = left;
  if (first !== undefined) {
    findings.report({
      severity: servers.size === 0 ? "error" : "warning",
      code: "OPENAPI_SERVER_UNFIT",
      message:
        servers.size === 0
          ? "The document has no server that can be converted to a base URL"
          : `${left.length} operations are left out: no server of theirs makes a base URL`,
      hint: "give the base URL with --base-url https://HOST/PATH",
      ...(servers.size === 0 ? {} : { place: first.place }),
    });
  }
  return servers;
}

/** Writes the files, and leaves out tools with lint findings. */
function finish(
  api: Api,
  findings: Findings,
): { readonly value: ImportedApi | undefined; readonly tools: ReadonlyMap<Operation, ToolspecTool> } {
  const tools = limitSize(api, findings);
  for (;;) {
    const list = [...tools];
    if (list.length === 0) {
      reportNothing(true, findings);
      return { value: undefined, tools };
    }
    const texts = write(api, list);
    const files = [
      { path: `manifests/${api.spec.name}/${api.spec.version}.yaml`, text: texts.manifestText },
      { path: `toolspecs/${api.spec.name}/${api.spec.version}.yaml`, text: texts.toolspecText },
    ];
    const { diagnostics, pairs } = lintCatalog(files, { subject: "toolspecs" });
    const [pair] = pairs;
    if (diagnostics.length === 0 && pair !== undefined)
      return { value: { manifest: pair.manifest, toolspec: pair.toolspec, ...texts }, tools };
    const faults = new Map(
      diagnostics.map((one) => [Number(/^tools\[(\d+)\]/.exec(one.path ?? "")?.[1] ?? -1), one.message]),
    );
    for (const [index, message] of faults) {
      const operation = list[index]?.[0];
      if (operation === undefined) {
        findings.report({
          severity: "error",
          code: "OPENAPI_OPERATION_UNFIT",
          message: `The import produces an invalid toolspec: ${message}`,
        });
        return { value: undefined, tools };
      }
      tools.delete(operation);
      reportUnfit(operation, message, findings);
    }
  }
}

/** Limits the tools to the number that a toolspec accepts. */
function limitSize(api: Api, findings: Findings): Map<Operation, ToolspecTool> {
  const kept = new Map<Operation, ToolspecTool>();
  const encoder = new TextEncoder();
  let bytes = 2000;
  let values = 100;
  for (const [operation, tool] of api.tools) {
    const text = writeTool(tool);
    bytes += encoder.encode(text).length;
    values += text.split(/: |, |\n/).length;
    if (bytes > toolspecMaxBytes || values > toolspecMaxValues) {
      const message = `The toolspec would be too long; the first ${kept.size} of ${api.tools.size} operations are imported`;
      reportLimit(message, operation, findings);
      break;
    }
    kept.set(operation, tool);
  }
  return kept;
}

function write(
  api: Api,
  list: readonly (readonly [Operation, ToolspecTool])[],
): Pick<ImportedApi, "manifestText" | "toolspecText"> {
  const { spec, credentials, documents, servers } = api;
  const used = list.flatMap(([operation]) => servers.get(operation) ?? []);
  const [first] = used;
  const isMain = used.some((server) => server.baseUrl === spec.baseUrl);
  const { variables: all = {}, ...head } = spec;
  const baseUrl = isMain || first === undefined ? spec.baseUrl : first.baseUrl;
  const variables = Object.fromEntries(
    Object.entries(all).filter(
      ([name]) => baseUrl.includes(`{${name}}`) || list.some(([, tool]) => hasVariable(tool, name)),
    ),
  );
  const shown: Omit<Toolspec, "tools"> = {
    ...head,
    baseUrl,
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
  };
  const info = fieldOf(documents.root.root, "info");
  const described = toPlainLine(textOf(info, "summary") ?? textOf(info, "description") ?? "", 300);
  const title = toPlainLine(textOf(info, "title") ?? "", 100);
  const tools = list.map(([, tool]) => tool);
  return {
    manifestText: writeManifest({
      name: spec.name,
      version: spec.version,
      displayName: title === "" ? undefined : title,
      description: described === "" ? undefined : described,
      egress: [...new Set(used.flatMap((server) => server.egress))],
      credentials: credentials.credentialsFor(list.map(([operation]) => operation)),
      tools,
    }),
    toolspecText: `${writeToolspecHead(shown)}${tools.map(writeTool).join("")}`,
  };
}

function hasVariable({ baseUrl = "", path, params = [] }: ToolspecTool, name: string): boolean {
  const isParam = params.some((param) => param.in === "path" && param.name === name);
  return baseUrl.includes(`{${name}}`) || (path.includes(`{${name}}`) && !isParam);
}
