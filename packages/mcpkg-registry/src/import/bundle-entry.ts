/**
 * Turns a bundle into an entry of `tool_servers`: a stdio server in the folder of its files, unverified
 * and contained, with references in place of sensitive settings. What an entry cannot express is a
 * finding. Pure: nothing is written and nothing is started.
 */

import { resolve } from "node:path";
import { toDiagnostic } from "@toolcrib/document";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { BundleManifest } from "./bundle-shape.ts";
import {
  type GivenValues,
  type ImportedInput,
  type InputValue,
  InputValues,
  toConfigValue,
} from "./input-values.ts";
import type { OpenedBundle } from "./open-bundle.ts";
import type { ImportedServer } from "./read-server-json.ts";

/** Where a bundle is installed. */
export interface BundlePlace {
  /** Id of the entry. */
  readonly id: string;
  /** Absolute folder of its files. */
  readonly folder: string;
  /** Name of the platform as Node has it. */
  readonly platform: string;
  readonly userDirectory: string;
  /** Folder that relative paths of the user begin in. */
  readonly directory: string;
}

type Setting = NonNullable<BundleManifest["user_config"]>[string];

/** Turns a bundle into an entry. */
export function toBundleEntry(bundle: OpenedBundle, place: BundlePlace, given: GivenValues): ImportedServer {
  const inputs = new InputValues(given, place.id);
  const writer = new BundleWriter(bundle, place, inputs);
  const entry = writer.write();
  inputs.reportUnused();
  const source = { name: "manifest.json", text: "" };
  const diagnostics = inputs.problems.map((problem) => toDiagnostic(problem, source));
  const hasFailed = diagnostics.some(({ severity }) => severity === "error");
  return { entry: hasFailed ? undefined : entry, secrets: inputs.secrets, diagnostics };
}

/** Returns the name of the folder of a bundle: of its name, its version and its digest. */
export function bundleFolderName({ manifest, sha256 }: OpenedBundle): string {
  const slug = (text: string) =>
    text
      .replace(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[.-]+|[.-]+$/g, "")
      .slice(0, 60);
  return [slug(manifest.name), slug(manifest.version), sha256.slice(0, 16)]
    .filter((one) => one !== "")
    .join("-");
}

class BundleWriter {
  readonly #bundle: OpenedBundle;
  readonly #place: BundlePlace;
  readonly #inputs: InputValues;
  readonly #settings: { readonly [name: string]: Setting };
  readonly #resolved = new Map<string, readonly InputValue[]>();
  readonly #constants: ReadonlyMap<string, string>;

  constructor(bundle: OpenedBundle, place: BundlePlace, inputs: InputValues) {
    this.#bundle = bundle;
    this.#place = place;
    this.#inputs = inputs;
    this.#settings = bundle.manifest.user_config ?? {};
    const separator = place.platform === "win32" ? "\\" : "/";
    const inHome = (name: string) => `${place.userDirectory}${separator}${name}`;
    this.#constants = new Map([
      ["__dirname", place.folder],
      ["/", separator],
      ["pathSeparator", separator],
      ["HOME", place.userDirectory],
      ["DESKTOP", inHome("Desktop")],
      ["DOCUMENTS", inHome("Documents")],
      ["DOWNLOADS", inHome("Downloads")],
    ]);
  }

  write(): JsonObject {
    const { manifest } = this.#bundle;
    const { id, folder } = this.#place;
    this.#checkPlatform();
    this.#checkSignature();
    const { command, args = [], env = {} } = this.#config();
    const program = this.#program(command);
    const words = args.flatMap((one, index) => this.#argument(one, `argument ${index + 1}`));
    const variables = Object.fromEntries(
      Object.entries(env).flatMap(([name, text]) => {
        const [found, ...others] = this.#substitute(text, `variable ${name}`);
        const value = this.#inputs.variable(name, found, (paths) => this.#isOwn(paths));
        if (others.length > 0) {
          this.#inputs.report(
            "SERVER_IMPORT_UNSUPPORTED",
            `variable ${name} has several values, which a variable cannot have`,
          );
        }
        return value === undefined ? [] : [[name, toConfigValue(value)]];
      }),
    );
    const paths = this.#paths();
    const { display_name: title, name, version, description } = manifest;
    return {
      id,
      name: `${title ?? name} ${version}`.slice(0, 200),
      ...(description === undefined || description.trim() === ""
        ? {}
        : { description: description.slice(0, 4000) }),
      transport: {
        kind: "stdio",
        command: program,
        ...(words.length === 0 ? {} : { args: words }),
        ...(Object.keys(variables).length === 0 ? {} : { env: variables }),
        cwd: folder,
      },
      trust_state: "unverified",
      // Its author wrote the arguments: they show its server nothing.
      containment: { read_arguments: false, ...(paths.length === 0 ? {} : { read_paths: paths }) },
    };
  }

  /** Reports a signature that does not fit, and one whose certificate means nothing by itself. */
  #checkSignature(): void {
    const { signature } = this.#bundle;
    const hint = "compare the SHA-256 of the file with the one that its publisher states: --sha256";
    if (signature.kind === "invalid") {
      this.#inputs.report(
        "SERVER_IMPORT_SIGNATURE_INVALID",
        `The signature of the bundle is not valid: ${signature.reason}`,
        "get the bundle from its publisher again; do not use this one",
      );
    } else if (signature.kind === "not-checked") {
      this.#inputs.report(
        "SERVER_IMPORT_LEFT_OUT",
        `The signature of the bundle is not checked, because ${signature.reason}: it says nothing about who made the bundle`,
        hint,
        "warning",
      );
    } else if (signature.kind === "fits") {
      const [{ subject, issuer, sha256, isSelfSigned }] = signature.certificates;
      const by = isSelfSigned ? "which its holder made alone" : `which "${issuer}" is said to have issued`;
      this.#inputs.report(
        "SERVER_IMPORT_LEFT_OUT",
        `The bundle was signed with the certificate "${subject}" (SHA-256 ${sha256}), ${by}: nothing checks who that is`,
        `compare the fingerprint with the one that its publisher states, or ${hint}`,
        "warning",
      );
    }
  }

  /** Whether each path of a list lies in the folder of the bundle. */
  #isOwn(paths: string): boolean {
    const { folder, platform } = this.#place;
    return paths.split(platform === "win32" ? ";" : ":").every((path) => {
      const full = resolve(folder, path);
      return full === folder || full.startsWith(`${folder}/`);
    });
  }

  /** The command on this platform. */
  #config(): {
    readonly command?: string;
    readonly args?: readonly string[];
    readonly env?: { readonly [name: string]: string };
  } {
    const { type, entry_point: entryPoint = "", mcp_config: config } = this.#bundle.manifest.server;
    if (type === "uv") {
      this.#inputs.report(
        "SERVER_IMPORT_CONTAINMENT",
        "The server is run by uv, which downloads its libraries at the start: an unverified server has no network, and would fail",
        "allow the hosts deliberately: containment: { network_egress: scoped, egress_allow: [pypi.org, files.pythonhosted.org], state: true }",
        "warning",
      );
    }
    if (config === undefined) {
      if (type === "uv")
        return { command: "uv", args: ["run", "--directory", this.#place.folder, entryPoint] };
      this.#inputs.report(
        "SERVER_IMPORT_UNSUPPORTED",
        "The manifest has no server.mcp_config: it does not say how the server is started",
      );
      return {};
    }
    const overrides = config.platform_overrides ?? {};
    const own = Object.hasOwn(overrides, this.#place.platform) ? overrides[this.#place.platform] : undefined;
    return {
      command: own?.command ?? config.command ?? "",
      args: own?.args ?? config.args ?? [],
      env: { ...config.env, ...own?.env },
    };
  }

  #checkPlatform(): void {
    const { compatibility } = this.#bundle.manifest;
    if (!isJsonObject(compatibility)) return;
    const { platforms, runtimes, ...clients } = compatibility;
    const { platform } = this.#place;
    if (Array.isArray(platforms) && !(platforms as readonly JsonValue[]).includes(platform)) {
      this.#inputs.report(
        "SERVER_IMPORT_UNSUPPORTED",
        `The server runs on ${platforms.map(String).join(", ").slice(0, 200)}, and this machine is ${platform}`,
      );
    }
    const needs = [
      ...(isJsonObject(runtimes) ? Object.entries(runtimes) : []),
      ...Object.entries(clients),
    ].map(([name, range]) => `${name} ${String(range)}`.slice(0, 100));
    if (needs.length > 0) {
      this.#inputs.report(
        "SERVER_IMPORT_LEFT_OUT",
        `What the server needs is not checked: ${needs.slice(0, 20).join(", ")}`,
        undefined,
        "warning",
      );
    }
  }

  #program(command: string | undefined): string {
    if (command === undefined) return "";
    const [value] = this.#substitute(command, "the command");
    const text = value?.kind === "text" ? value.text.trim() : "";
    if (text === "") {
      this.#inputs.report("SERVER_IMPORT_UNSUPPORTED", "The command of the server is empty, or a secret");
      return "";
    }
    const { folder } = this.#place;
    const { files } = this.#bundle;
    // A path within the bundle must be a file of it; a name is found on PATH.
    const inside = text.startsWith(`${folder}/`) ? text.slice(folder.length + 1) : text.replace(/^\.\//, "");
    if (files.has(inside)) return `${folder}/${inside}`;
    if (/[\\/]/.test(text)) {
      this.#inputs.report(
        "SERVER_IMPORT_BUNDLE_INVALID",
        `The command "${text}" is not a file of the bundle`,
      );
    }
    return text;
  }

  #argument(template: string, what: string): readonly string[] {
    return this.#substitute(template, what).flatMap((value) => {
      if (value.kind === "text") return [value.text];
      this.#inputs.report(
        "SERVER_IMPORT_SECRET_EXPOSED",
        `${what} contains a secret, and other users of the machine can read arguments: it is not imported`,
        "use a variable of the environment if the server has one",
      );
      return [];
    });
  }

  /** Replaces the variables of a text. A text that is one setting with several values becomes several. */
  #substitute(template: string, what: string): readonly InputValue[] {
    const whole = /^\$\{user_config\.([^{}]+)\}$/.exec(template)?.[1];
    if (whole !== undefined && Object.hasOwn(this.#settings, whole)) return this.#resolve(whole);
    let text = "";
    let at = 0;
    for (const match of template.matchAll(/\$\{([^{}]+)\}/g)) {
      const [variable, name = ""] = match;
      text += template.slice(at, match.index);
      at = match.index + variable.length;
      const value = this.#variable(name, what);
      if (value === undefined) return [];
      if (value.kind === "text") text += value.text;
      else if (at === template.length) return [{ ...value, prefix: text + value.prefix }];
      else {
        this.#inputs.report(
          "SERVER_IMPORT_UNSUPPORTED",
          `${what} has a secret within a longer text, which a reference cannot express`,
        );
        return [];
      }
    }
    return [{ kind: "text", text: text + template.slice(at) }];
  }

  #variable(name: string, what: string): InputValue | undefined {
    const constant = this.#constants.get(name);
    if (constant !== undefined) return { kind: "text", text: constant };
    const setting = /^user_config\.(.+)$/.exec(name)?.[1];
    if (setting !== undefined && Object.hasOwn(this.#settings, setting)) {
      const values = this.#resolve(setting);
      if (values.length > 1) {
        this.#inputs.report(
          "SERVER_IMPORT_UNSUPPORTED",
          `${what} combines a setting of several values with other text`,
        );
      }
      return values[0];
    }
    this.#inputs.report(
      "SERVER_IMPORT_UNSUPPORTED",
      `${what} has the variable \${${name}}, which bundles do not have`,
    );
    return undefined;
  }

  #resolve(name: string): readonly InputValue[] {
    const known = this.#resolved.get(name);
    if (known !== undefined) return known;
    const setting = this.#settings[name] as Setting;
    const isPath = setting.type === "directory" || setting.type === "file";
    const values = this.#inputs
      .all(this.#toInput(setting), name, `setting ${name}`)
      .map((value) =>
        isPath && value.kind === "text"
          ? { ...value, text: resolve(this.#place.directory, value.text) }
          : value,
      );
    this.#resolved.set(name, values);
    return values;
  }

  #toInput({
    title,
    description,
    required,
    sensitive,
    type,
    multiple,
    default: fallback,
  }: Setting): ImportedInput {
    const fill = (text: string) =>
      text.replace(/\$\{([^{}]+)\}/g, (whole, name: string) => this.#constants.get(name) ?? whole);
    const defaults = Array.isArray(fallback)
      ? (fallback as readonly JsonValue[]).filter((one) => typeof one === "string").map(fill)
      : typeof fallback === "string"
        ? [fill(fallback)]
        : undefined;
    return {
      description: description ?? title,
      isRequired: required,
      isSecret: sensitive,
      format: type,
      default: defaults === undefined ? fallback : undefined,
      defaults: multiple === true ? defaults : defaults?.slice(0, 1),
    };
  }

  /** Folders and files that the user chose: the server is meant to read them. Defaults of the publisher are findings. */
  #paths(): readonly string[] {
    const unused = Object.keys(this.#settings).filter((name) => !this.#resolved.has(name));
    if (unused.length > 0) {
      this.#inputs.report(
        "SERVER_IMPORT_LEFT_OUT",
        `Settings that the command does not use are left out: ${unused.slice(0, 20).join(", ")}`,
        undefined,
        "warning",
      );
    }
    const pathsOf = (values: readonly InputValue[]) =>
      values.flatMap((value) => (value.kind === "text" ? [value.text] : []));
    const chosen = new Set<string>();
    const defaults = new Map<string, readonly string[]>();
    for (const [name, values] of this.#resolved) {
      if (!["directory", "file"].includes(this.#settings[name]?.type ?? "")) continue;
      if (this.#inputs.isGiven(name)) for (const path of pathsOf(values)) chosen.add(path);
      else defaults.set(name, pathsOf(values));
    }
    for (const [name, paths] of defaults) {
      const closed = paths.filter((path) => !chosen.has(path));
      if (closed.length > 0) this.#reportDefault(name, closed);
    }
    return [...chosen];
  }

  /** A publisher does not decide what its server reads. */
  #reportDefault(name: string, paths: readonly string[]): void {
    const shown = paths.slice(0, 20);
    this.#inputs.report(
      "SERVER_IMPORT_CONTAINMENT",
      `The server may not read ${shown.join(", ")}: that is the default of the setting ${name}, which you did not choose`,
      `to allow it, add to the containment of its entry: read_paths: ${JSON.stringify(shown)}; or import with --set ${name}=PATH`,
      "warning",
    );
  }
}
