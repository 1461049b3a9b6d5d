/**
 * Turns a server of a client into an entry of `tool_servers`. A secret becomes a reference, and its value goes into
 * the store; a variable of the client becomes a reference, or the value that it has now. Pure: environment and folders
 * are given.
 */

import type { ClientServer, ImportOAuth, ImportPart, ImportText } from "@toolcrib/clients";
import { isOwnHeader, judgeArguments } from "@toolcrib/config";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { isCredentialVariable } from "@toolcrib/redaction";
import type { FoundSecret } from "./import-types.ts";
import { unpinnedPart } from "./pinned-version.ts";
import { doubtfulArguments, isPlaceholder, isSecretValue, type TextRole } from "./secret-values.ts";

/** Where a server comes from and goes to. */
export interface ResolveContext {
  readonly env: { readonly [name: string]: string | undefined };
  readonly userDirectory: string;
  /** The folder of the file of the configuration. */
  readonly folder: string;
}

/** An entry without its id, and its parts. */
export interface ResolvedServer {
  readonly transport: JsonObject;
  readonly secrets: readonly FoundSecret[];
  readonly shown: string;
  readonly unpinned: string | undefined;
  readonly notes: readonly string[];
  /** Variables of the environment that it needs, and that are not set here. */
  readonly unset: readonly string[];
}

/** Returns the entry of a server, or the reason why it cannot have one. @param id the first part of the names of its secrets */
export function resolveServer(
  server: ClientServer,
  id: string,
  context: ResolveContext,
): ResolvedServer | { readonly reason: string } {
  return new ServerResolver(server, id, context).resolve();
}

/** A value of an entry: a literal, or a reference to a secret. */
type Value = string | JsonObject;

/** Words before a secret in a header. */
const scheme = /^(?:Bearer|Basic|Token|ApiKey)\s+(?=\S)/i;

class ServerResolver {
  readonly #server: ClientServer;
  readonly #id: string;
  readonly #context: ResolveContext;
  readonly #secrets: FoundSecret[] = [];
  readonly #notes: string[] = [];
  readonly #unset: string[] = [];
  #reason: string | undefined;

  constructor(server: ClientServer, id: string, context: ResolveContext) {
    this.#server = server;
    this.#id = id;
    this.#context = context;
  }

  resolve(): ResolvedServer | { readonly reason: string } {
    const { transport, notTaken } = this.#server;
    for (const { field, reason } of notTaken) this.#notes.push(`${field} is not taken over: ${reason}`);
    const resolved =
      transport.kind === "stdio" ? this.#stdio(transport) : this.#http(transport.kind, transport);
    if (this.#reason !== undefined) return { reason: this.#reason };
    return { ...resolved, secrets: this.#secrets, notes: this.#notes, unset: this.#unset };
  }

  #stdio(transport: Extract<ClientServer["transport"], { kind: "stdio" }>): Shape {
    const command = this.#plain(transport.command, "the command");
    const bridged = this.#bridged(command, transport);
    if (bridged !== undefined) return bridged;
    const env: { [name: string]: JsonValue } = {};
    for (const [name, text] of transport.env) {
      if (/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) env[name] = this.#value(text, "variable", name);
      else this.#notes.push(`the variable ${JSON.stringify(name)} is not taken over: no process can have it`);
    }
    const args = this.#arguments(command, transport.args, env);
    const cwd = this.#folder(transport.cwd);
    const texts = transport.args.map((text) =>
      text.map((part) => (typeof part === "string" ? part : "…")).join(""),
    );
    const doubtful = doubtfulArguments(command, texts);
    const plain = args.map((value, at) => (typeof value === "string" && !doubtful.has(at) ? value : "…"));
    return {
      transport: {
        kind: "stdio",
        command,
        ...(args.length === 0 ? {} : { args }),
        ...(cwd === undefined ? {} : { cwd }),
        ...(Object.keys(env).length === 0 ? {} : { env }),
      },
      shown: [command, ...plain].join(" "),
      unpinned: unpinnedPart(command, plain),
    };
  }

  #http(
    kind: "streamable_http" | "sse",
    { url, headers, oauth }: Omit<Extract<ClientServer["transport"], { url: ImportText }>, "kind">,
  ): Shape {
    const address = this.#value(url, "url", "url");
    const values: { [name: string]: JsonValue } = {};
    for (const [name, text] of headers) {
      if (/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(name) && !isOwnHeader(name))
        values[name] = this.#value(text, "header", name);
      else this.#notes.push(`the header ${JSON.stringify(name)} is not taken over: only Toolcrib sets it`);
    }
    if (oauth !== undefined && typeof address !== "string")
      this.#notes.push("the login of the client is not taken over: its URL is a secret");
    const isPlainHttp =
      typeof address === "string" &&
      /^http:\/\/(?!(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$))/i.test(address);
    if (isPlainHttp) this.#notes.push("the connection is not encrypted: allow_http");
    const hasAuthorization = Object.keys(values).some((name) => name.toLowerCase() === "authorization");
    return {
      transport: {
        kind,
        url: address,
        ...(Object.keys(values).length === 0 ? {} : { headers: values }),
        ...(isPlainHttp ? { allow_http: true } : {}),
        ...(oauth !== undefined && typeof address === "string" && !hasAuthorization && !isPlainHttp
          ? { auth: this.#login(oauth) }
          : {}),
      },
      shown: typeof address === "string" ? address : "(its URL is a secret)",
      unpinned: undefined,
    };
  }

  #login({ clientId, clientSecret, scopes, redirectPort }: ImportOAuth): JsonObject {
    return {
      type: "oauth",
      ...(clientId === undefined ? {} : { client_id: clientId }),
      ...(clientSecret === undefined
        ? {}
        : { client_secret: this.#value(clientSecret, "header", "client-secret", true) }),
      ...(scopes === undefined ? {} : { scopes }),
      ...(redirectPort === undefined ? {} : { redirect_port: redirectPort }),
    };
  }

  /** `npx mcp-remote URL --header …` connects a client without HTTP to a server that Toolcrib reaches by itself. */
  #bridged(
    command: string,
    { args, env }: Extract<ClientServer["transport"], { kind: "stdio" }>,
  ): Shape | undefined {
    const words = args.map((text) => text.map((part) => (typeof part === "string" ? part : "")).join(""));
    const at = words.findIndex((word) => /^mcp-remote(?:@[\w.-]+)?$/.test(word));
    const url = words[at + 1];
    if (
      !/(?:^|[\\/])(?:npx|bunx|cmd|pnpm|npm)(?:\.cmd|\.exe)?$/.test(command) ||
      at === -1 ||
      !/^https?:/.test(url ?? "")
    )
      return undefined;
    const headers = new Map<string, ImportText>();
    // mcp-remote tries HTTP first and then SSE; an entry has one transport, and a path of SSE ends in it.
    const path = /^[^?#]*/.exec(url ?? "")?.[0] ?? "";
    let kind: "streamable_http" | "sse" = /\/sse\/?$/.test(path) ? "sse" : "streamable_http";
    for (let index = at + 2; index < args.length; index += 2) {
      const value = args[index + 1] ?? [];
      if (words[index] === "--header") {
        const [, name, rest] =
          /^([^:\s]+):\s*([\s\S]*)$/.exec(typeof value[0] === "string" ? value[0] : "") ?? [];
        if (name === undefined) return undefined;
        headers.set(name, withVariables([...(rest === "" ? [] : [rest ?? ""]), ...value.slice(1)], env));
      } else if (words[index] === "--transport") kind = transportOf(words[index + 1] ?? "") ?? kind;
      else if (words[index] === "--allow-http") index -= 1;
      else return undefined;
    }
    if (headers.size === 0) return undefined;
    this.#notes.push("mcp-remote is not needed: Toolcrib connects to the URL itself");
    return this.#http(kind, { url: args[at + 1] ?? [], headers, oauth: undefined });
  }

  #arguments(command: string, args: readonly ImportText[], env: { [name: string]: JsonValue }): Value[] {
    const texts = args.map((text) => text.map((part) => (typeof part === "string" ? part : "…")).join(""));
    const { secrets: named, packageAt } = judgeArguments(command, texts);
    const values: Value[] = [];
    for (const [at, text] of args.entries()) {
      const [, name, literal] =
        /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(text.length === 1 ? (texts[at] ?? "") : "") ?? [];
      // `docker run -e NAME=VALUE` takes the value from the environment where it has none.
      const isPassed =
        /^(?:-e|--env)$/.test(texts[at - 1] ?? "") && name !== undefined && literal !== undefined;
      if (isPassed && isSecretValue("variable", name, literal)) {
        env[name] = this.#value([literal], "variable", name);
        values.push(name);
      } else if (at === packageAt && text.every((part) => typeof part === "string"))
        values.push(text.join(""));
      else values.push(this.#argument(text, texts, at, named.has(at)));
    }
    return values;
  }

  #argument(text: ImportText, texts: readonly string[], at: number, isNamed: boolean): Value {
    const [first = ""] = text;
    const option = /^(--?[A-Za-z][\w.-]*=)([\s\S]*)$/.exec(typeof first === "string" ? first : "");
    const before = texts[at - 1] ?? "";
    // Only an option gives its name: an argument can contain a value, which no name of a secret shows.
    const name = (
      option?.[1] ?? (/^--?[A-Za-z][A-Za-z0-9_.-]{0,40}$/.test(before) ? before : `argument-${at + 1}`)
    ).replace(/^-+|=$/g, "");
    const isWhole = option === null || (option[1]?.length ?? 0) > 60;
    const rest = isWhole ? text : [...(option[2] === "" ? [] : [option[2] ?? ""]), ...text.slice(1)];
    const value = this.#value(
      rest,
      "argument",
      name,
      isNamed || (!isWhole && isSecretValue("plain", "", texts[at] ?? "")),
    );
    if (typeof value === "string") return isWhole ? value : `${option[1]}${value}`;
    return isWhole
      ? value
      : {
          prefix: `${option[1]}${value["prefix"] ?? ""}`,
          secret_key_ref: value["secret_key_ref"] as JsonValue,
        };
  }

  /** Returns a text as a value of the configuration. @param isNamed whether its place says that it is a secret */
  #value(text: ImportText, role: TextRole, name: string, isNamed = false): Value {
    const purpose = role === "url" ? "the URL" : `${role} ${name}`;
    const variable = referenceOf(text);
    if (variable !== undefined) {
      const { prefix, part } = variable;
      if ("input" in part && part.fallback === undefined) return this.#wanted(name, purpose, prefix);
      if ("file" in part) {
        const path = part.file.replace(/^~(?=[\\/])/, this.#context.userDirectory);
        return reference({ file: path }, prefix);
      }
      if ("variable" in part && this.#mayRefer(part, role, name)) {
        if ((this.#context.env[part.variable] ?? "") === "") {
          this.#unset.push(part.variable);
          this.#notes.push(
            `${purpose} needs ${part.variable} in the environment of the gateway, which is not set here`,
          );
        }
        return reference({ env: part.variable }, prefix);
      }
    }
    const filled = text.map((part) => this.#fill(part)).map((part) => part);
    const missing = filled.find((part) => typeof part !== "string");
    if (missing !== undefined) {
      this.#notes.push(`${purpose} is composed of what only the client knows: store it as a whole`);
      return this.#wanted(name, purpose, "");
    }
    const value = filled.join("");
    const isSecret = isNamed || isSecretValue(role, name, value) || text.some(isCredentialPart);
    if (!isSecret || value === "") return value;
    const prefix = role === "header" ? (scheme.exec(value)?.[0] ?? "") : "";
    if (isPlaceholder(value)) return this.#wanted(name, purpose, prefix);
    const secret = this.#secretName(name);
    this.#secrets.push({ name: secret, purpose, value: value.slice(prefix.length) });
    return reference(secret, prefix);
  }

  /** Whether a variable stays one: it is a secret, or has no value now. */
  #mayRefer(
    part: { readonly variable: string; readonly fallback: string | undefined },
    role: TextRole,
    name: string,
  ): boolean {
    const value = this.#context.env[part.variable] ?? "";
    if (value === "") return part.fallback === undefined && part.variable !== "HOME";
    if (isCredentialVariable(part.variable)) return true;
    return role !== "plain" && isSecretValue(role, name, value);
  }

  #fill(part: ImportPart): string | { readonly missing: string } {
    if (typeof part === "string") return part;
    if ("folder" in part) {
      if (part.folder === "home") return this.#context.userDirectory;
      const project = this.#server.project ?? this.#context.folder;
      if (this.#server.project === undefined) this.#noteFixedFolder(project);
      return part.folder === "project" ? project : (/[^\\/]+(?=[\\/]*$)/.exec(project)?.[0] ?? "");
    }
    if ("file" in part) return { missing: part.file };
    if ("unknown" in part) return { missing: part.unknown };
    if ("input" in part) return part.fallback ?? { missing: part.input };
    const value = this.#context.env[part.variable] ?? "";
    return (value === "" ? part.fallback : value) ?? { missing: part.variable };
  }

  /** The file of a user is for all folders, and an entry has one. */
  #noteFixedFolder(folder: string): void {
    const note = `the client fills in the folder that is open in it; here it is always ${folder}: change the entry if it must be another one`;
    if (!this.#notes.includes(note)) this.#notes.push(note);
  }

  /** Returns a text that cannot be a reference. */
  #plain(text: ImportText, what: string): string {
    const filled = text.map((part) => this.#fill(part));
    const missing = filled.find((part) => typeof part !== "string");
    if (missing !== undefined && typeof missing !== "string") {
      this.#reason ??= `${what} needs ${JSON.stringify(missing.missing)}, which is not set`;
      return "";
    }
    const value = filled.join("");
    if (isSecretValue("plain", "", value))
      this.#reason ??= `${what} contains a secret, which no reference can replace`;
    return value;
  }

  /** The working folder; a server of another project starts there. */
  #folder(cwd: ImportText | undefined): string | undefined {
    const { project } = this.#server;
    const { folder } = this.#context;
    const written = cwd === undefined ? undefined : this.#plain(cwd, "the working folder");
    if (written === undefined) return project === undefined || project === folder ? undefined : project;
    if (/^(?:[\\/]|[A-Za-z]:)/.test(written) || project === undefined || project === folder) return written;
    return `${project}/${written.replace(/^\.\//, "")}`;
  }

  #wanted(name: string, purpose: string, prefix: string): Value {
    const secret = this.#secretName(name);
    this.#secrets.push({ name: secret, purpose, value: undefined });
    return reference(secret, prefix);
  }

  #secretName(name: string): string {
    const base = `${this.#id}-${name}`
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 110);
    const isTaken = (one: string) => this.#secrets.some((secret) => secret.name === one);
    if (!isTaken(base)) return base;
    for (let count = 2; ; count += 1) if (!isTaken(`${base}-${count}`)) return `${base}-${count}`;
  }
}

type Shape = Pick<ResolvedServer, "transport" | "shown" | "unpinned">;

function isCredentialPart(part: ImportPart): boolean {
  return typeof part !== "string" && "variable" in part && isCredentialVariable(part.variable);
}

/** Returns the prefix and the variable of a text that has nothing else. */
function referenceOf(
  text: ImportText,
): { readonly prefix: string; readonly part: Exclude<ImportPart, string> } | undefined {
  const [first, second] = text.length === 2 ? text : ["", text[0]];
  const isReference =
    text.length <= 2 && typeof first === "string" && first.length <= 64 && typeof second === "object";
  return isReference ? { prefix: first, part: second } : undefined;
}

function reference(ref: JsonValue, prefix: string): JsonObject {
  return prefix === "" ? { secret_key_ref: ref } : { prefix, secret_key_ref: ref };
}

/** The transport that `--transport` of mcp-remote decides; undefined for `http-first`, its default, which tries both. */
function transportOf(word: string): "streamable_http" | "sse" | undefined {
  if (word === "sse-only" || word === "sse-first") return "sse";
  return word === "http-only" ? "streamable_http" : undefined;
}

/** mcp-remote replaces `${NAME}` in headers by variables of its own environment. */
function withVariables(text: ImportText, env: ReadonlyMap<string, ImportText>): ImportText {
  return text.flatMap((part): ImportText => {
    if (typeof part !== "string") {
      return "variable" in part ? (env.get(part.variable) ?? [part]) : [part];
    }
    const pieces = part.split(/\$\{([A-Za-z_]\w*)\}/);
    return pieces.flatMap((piece, at): ImportText => {
      if (at % 2 === 1) return env.get(piece) ?? [{ variable: piece, fallback: undefined }];
      return piece === "" ? [] : [piece];
    });
  });
}
