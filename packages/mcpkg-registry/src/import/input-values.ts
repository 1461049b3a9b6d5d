/**
 * The values of an imported server: fixed ones, those that the user gives, and defaults. A secret never
 * becomes a value: it becomes a reference. What has no value is a finding that says how to give one.
 */

import type { Problem } from "@toolcrib/document";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { secretVerdict } from "@toolcrib/redaction";
import { loaderVariable } from "@toolcrib/toolspec";

/** The values that the user gives for an import. */
export interface GivenValues {
  /** Values by name; several for an argument that is repeated. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Names of stored secrets, by the names of the inputs. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** A secret that must be stored. */
export interface WantedServerSecret {
  /** Name for `secret_key_ref`. */
  readonly name: string;
  /** Such as `variable API_KEY`. */
  readonly purpose: string;
}

/** An input of any of the formats that are imported. */
export interface ImportedInput {
  readonly description?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly isSecret?: boolean | undefined;
  readonly format?: string | undefined;
  readonly value?: string | undefined;
  readonly default?: JsonValue | undefined;
  /** Several defaults, in place of `default`. */
  readonly defaults?: readonly string[] | undefined;
  readonly placeholder?: string | undefined;
  readonly choices?: readonly JsonValue[] | undefined;
  readonly variables?: { readonly [name: string]: ImportedInput } | undefined;
}

/** A text, or a secret with the text before it. */
export type InputValue =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "secret"; readonly prefix: string; readonly name: string };

/** Resolves the inputs of one server, and collects what is needed and what is left out. */
export class InputValues {
  readonly problems: Problem[] = [];
  readonly secrets: WantedServerSecret[] = [];
  readonly #given: GivenValues;
  readonly #id: string;
  readonly #used = new Set<string>();

  /** @param id id of the server, for the names of its secrets */
  constructor(given: GivenValues, id: string) {
    this.#given = given;
    this.#id = id;
  }

  /** Reports names that were given and that the server does not have. */
  reportUnused(): void {
    for (const name of [...this.#given.values.keys(), ...this.#given.secrets.keys()]) {
      if (this.#used.has(name)) continue;
      this.report(
        "SERVER_IMPORT_VALUE_INVALID",
        `The server has no input "${name}"`,
        "the findings and --list name its inputs",
      );
    }
  }

  /** Adds a finding. */
  report(code: string, message: string, hint?: string, severity: "error" | "warning" = "error"): void {
    // A value that is used twice has one finding.
    if (this.problems.some((one) => one.code === code && one.message === message)) return;
    this.problems.push({ severity, code, message, hint });
  }

  /**
   * Returns the values of an input: none where it has none, several where it is repeated.
   *
   * @param name its name for `--set` and `--secret`
   * @param what what it is, for messages, such as `variable API_KEY`
   */
  all(input: ImportedInput, name: string, what: string): readonly InputValue[] {
    if (input.value !== undefined) return this.#fixed(input, input.value, name, what);
    const given = this.#givenFor(name);
    const secretName = this.#secretFor(name);
    // A file does not have to call a secret one.
    const verdicts = (given ?? []).map((text) => secretVerdict("variable", name, text));
    if (input.isSecret === true || secretName !== undefined || verdicts.includes("certain"))
      return this.#secret(input, name, what, secretName, given);
    if (given !== undefined) {
      if (verdicts.includes("likely")) this.#warnOfGuess(name, what);
      for (const text of given) this.#checkGiven(input, text, name);
      return given.map((text) => ({ kind: "text", text }));
    }
    if (input.defaults !== undefined && input.defaults.length > 0) {
      return input.defaults.map((text) => ({ kind: "text", text }));
    }
    const fallback = textOf(input.default);
    if (fallback !== undefined) return [{ kind: "text", text: fallback }];
    this.#reportMissing(input, name, what);
    return [];
  }

  /** Whether the user gave a value for the input `name`, so that it is not a default of the publisher. */
  isGiven(name: string): boolean {
    return this.#givenFor(name) !== undefined;
  }

  /**
   * Whether the variable `name` may be imported from a file: not where it chooses the code that a program loads, which
   * is a finding. The user sets such a variable by name, and its value is then the one that was given.
   *
   * @param isOwn whether a list of folders leads only to files of the server itself
   */
  variable(
    name: string,
    value: InputValue | undefined,
    isOwn: (text: string) => boolean,
  ): InputValue | undefined {
    const kind = loaderVariable(name);
    if (kind === undefined || value === undefined) return value;
    const [given] = this.#givenFor(name) ?? [];
    if (given !== undefined) return { kind: "text", text: given };
    if (kind === "path" && value.kind === "text" && isOwn(value.text)) return value;
    this.report(
      "SERVER_IMPORT_LOADER_VARIABLE",
      `The file sets the variable ${name}, which chooses the code that programs load when they start: it is not imported`,
      `leave it out by using another version of the server, or set it deliberately: --set ${name}=VALUE`,
    );
    return undefined;
  }

  /** As `all`, for an input that has one value. */
  one(input: ImportedInput, name: string, what: string): InputValue | undefined {
    const [first, ...others] = this.all(input, name, what);
    if (others.length > 0)
      this.report("SERVER_IMPORT_VALUE_INVALID", `${what} has several values, and takes one`);
    return first;
  }

  #fixed(input: ImportedInput, template: string, name: string, what: string): readonly InputValue[] {
    if (input.isSecret === true && !/\{[^{}]+\}/.test(template)) {
      this.report(
        "SERVER_IMPORT_SECRET_EXPOSED",
        `The file contains the value of ${what}, which it calls a secret: it is not copied`,
        `store it, and name it: --secret ${name}=NAME`,
        "warning",
      );
      return this.#secret(
        { ...input, value: undefined, isRequired: true },
        name,
        what,
        this.#secretFor(name),
        undefined,
      );
    }
    const filled = this.fill(template, input.variables ?? {}, what);
    return filled === undefined ? [] : [filled];
  }

  /** Replaces variables in braces. A secret is possible as the last part, once. */
  fill(
    template: string,
    variables: { readonly [name: string]: ImportedInput },
    what: string,
    pattern = /\{([^{}]+)\}/g,
  ): InputValue | undefined {
    let text = "";
    let at = 0;
    let secret: string | undefined;
    let isMissing = false;
    for (const match of template.matchAll(pattern)) {
      const [whole, name = ""] = match;
      if (!Object.hasOwn(variables, name)) continue;
      text += template.slice(at, match.index);
      at = match.index + whole.length;
      const value = this.one({ isRequired: true, ...variables[name] }, name, `{${name}} in ${what}`);
      if (value === undefined) isMissing = true;
      else if (value.kind === "text" && secret === undefined) text += value.text;
      else if (value.kind === "secret" && secret === undefined && at === template.length) {
        text += value.prefix;
        secret = value.name;
      } else {
        this.report(
          "SERVER_IMPORT_UNSUPPORTED",
          `${what} has a secret within a longer text, which a reference cannot express`,
        );
        isMissing = true;
      }
    }
    if (isMissing) return undefined;
    text += template.slice(at);
    return secret === undefined ? { kind: "text", text } : { kind: "secret", prefix: text, name: secret };
  }

  #secret(
    input: ImportedInput,
    name: string,
    what: string,
    wanted: string | undefined,
    given: readonly string[] | undefined,
  ): readonly InputValue[] {
    if (given !== undefined) {
      this.report(
        "SERVER_IMPORT_SECRET_EXPOSED",
        `${what} is a secret: it is not taken from the command line`,
        `store it with toolcrib secret set NAME, and write --secret ${name}=NAME`,
      );
      return [];
    }
    if (wanted === undefined && input.isRequired !== true) {
      this.report(
        "SERVER_IMPORT_LEFT_OUT",
        `${what} is left out: it is an optional secret${about(input)}`,
        `to use it: --secret ${name}=NAME`,
        "warning",
      );
      return [];
    }
    const secret = wanted ?? secretNameOf(this.#id, name);
    if (!this.secrets.some((one) => one.name === secret)) this.secrets.push({ name: secret, purpose: what });
    return [{ kind: "secret", prefix: "", name: secret }];
  }

  /** Warns of a given value that can be a secret, or an ordinary setting. */
  #warnOfGuess(name: string, what: string): void {
    this.report(
      "SERVER_IMPORT_SECRET_EXPOSED",
      `${what} looks like a secret: it is written as it is`,
      `if it is one: store it with toolcrib secret set NAME, and write --secret ${name}=NAME`,
      "warning",
    );
  }

  #reportMissing(input: ImportedInput, name: string, what: string): void {
    const choices = (input.choices ?? []).map(textOf).filter((one) => one !== undefined);
    const allowed = choices.length > 0 ? ` (${choices.join(", ")})` : "";
    if (input.isRequired === true) {
      this.report(
        "SERVER_IMPORT_VALUE_MISSING",
        `${what} needs a value${about(input)}`,
        `write --set ${name.replace(/^-+/, "")}=${input.placeholder ?? "VALUE"}${allowed}`,
      );
    } else {
      this.report(
        "SERVER_IMPORT_LEFT_OUT",
        `${what} is left out: it is optional, and has no default${about(input)}`,
        `to use it: --set ${name.replace(/^-+/, "")}=VALUE${allowed}`,
        "warning",
      );
    }
  }

  #checkGiven({ choices = [], format }: ImportedInput, text: string, name: string): void {
    const allowed = choices.map(textOf);
    const reason =
      allowed.length > 0 && !allowed.includes(text)
        ? `it must be one of ${allowed.join(", ")}`
        : format === "number" && (text.trim() === "" || !Number.isFinite(Number(text)))
          ? "it must be a number"
          : format === "boolean" && text !== "true" && text !== "false"
            ? "it must be true or false"
            : undefined;
    if (reason !== undefined)
      this.report("SERVER_IMPORT_VALUE_INVALID", `The value of "${name}" is not allowed: ${reason}`);
  }

  #givenFor(name: string): readonly string[] | undefined {
    return this.#lookUp(this.#given.values, name);
  }

  #secretFor(name: string): string | undefined {
    return this.#lookUp(this.#given.secrets, name);
  }

  /** A flag is found with and without its dashes. */
  #lookUp<T>(map: ReadonlyMap<string, T>, name: string): T | undefined {
    for (const one of [name, name.replace(/^-+/, "")]) {
      const value = map.get(one);
      if (value === undefined) continue;
      this.#used.add(one);
      return value;
    }
    return undefined;
  }
}

/** Returns a value for the configuration: a text, or a reference to a secret. */
export function toConfigValue(value: InputValue): JsonValue {
  if (value.kind === "text") return value.text;
  const reference: JsonObject = { secret_key_ref: value.name };
  return value.prefix === "" ? reference : { prefix: value.prefix, ...reference };
}

/** Returns the name of the secret for an input of a server. */
export function secretNameOf(id: string, name: string): string {
  const slug = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "");
  return `${slug(id)}-${slug(name)}`.slice(0, 128).replace(/-+$/, "");
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === "object") return undefined;
  return String(value);
}

function about({ description = "" }: ImportedInput): string {
  const line = description.replace(/\s+/g, " ").trim();
  return line === "" ? "" : ` (${line.length > 200 ? `${line.slice(0, 200)}…` : line})`;
}
