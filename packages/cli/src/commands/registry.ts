/** `toolcrib registry`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { duration, wholeNumber } from "../option-values.ts";
import { readingOptions, registryOptions } from "../registry/registry-options.ts";

const manage = () => import("../registry/manage-registry.ts");
const show = () => import("../registry/show-registries.ts");

const folder = { help: "folder of the registry, or its name in the configuration" } as const;
const version = { help: "TOOLID@VERSION" } as const;
const key = {
  value: "file",
  help: "Ed25519 key in PEM that signs the index (default: the registry key of the home, which is created at its first use)",
} as const;
export const command: CliCommandGroup = {
  name: "registry",
  summary: "search registries of tool packages, and keep one: a folder with a signed index",
  commands: [
    defineCommand({
      name: "search",
      summary: "find packages by what they do, best match first; toolcrib search finds tools of the gateway",
      arguments: { words: { isVariadic: true, isOptional: true, help: "what the tool should do" } },
      options: {
        language: { value: "language", help: "with an implementation in this language, such as javascript" },
        platform: { value: "platform", help: "that runs on this platform, such as linux-x64" },
        capability: { value: "tag", isRepeatable: true, help: "with this capability; repeatable" },
        license: { value: "license", help: "under this license, such as MIT" },
        limit: {
          short: "n",
          value: "count",
          parse: wholeNumber(1, 1000),
          default: 10,
          help: "most results, 1 to 1000",
        },
        ...registryOptions,
      },
      examples: [
        "toolcrib registry search read PDFs locally --language javascript --platform linux-x64 --capability pdf",
      ],
      run: async (context, { words }, options) =>
        (await show()).searchRegistries(context, (words ?? []).join(" "), options),
    }),
    defineCommand({
      name: "list",
      summary: "list the registries of the configuration, or the packages of one",
      arguments: { registry: { isOptional: true, help: "a name of the configuration, a URL or a folder" } },
      options: readingOptions,
      run: async (context, args, options) => (await show()).listRegistries(context, args.registry, options),
    }),
    defineCommand({
      name: "verify",
      summary: "check the signature of an index and every archive that it names (exit code 1 for problems)",
      arguments: { registry: { help: "a name of the configuration, a URL or a folder" } },
      options: readingOptions,
      run: async (context, args, options) => (await show()).verifyRegistries(context, args.registry, options),
    }),
    defineCommand({
      name: "init",
      summary: "create a registry in a folder",
      arguments: { folder: { help: "folder of the registry, which may exist" } },
      options: {
        name: { value: "name", help: "name of the registry (default: that of the folder)" },
        expires: {
          value: "time",
          parse: duration,
          help: "time after which clients do not use an index that was not renewed, at most 366d (default: 90d)",
        },
        key,
      },
      examples: ["toolcrib registry init ./packages --name acme"],
      run: async (context, args, options) => (await manage()).createRegistry(context, args.folder, options),
    }),
    defineCommand({
      name: "add",
      summary: "add packages (.mcpkg) to a registry",
      arguments: { folder, files: { isVariadic: true, help: "archives of packages" } },
      options: {
        allowUnsigned: { help: "add packages that are not signed" },
        allowNewKey: { help: "add a version that is signed by another key than earlier versions" },
        key,
      },
      run: async (context, args, options) =>
        (await manage()).addToRegistry(context, args.folder, args.files, options),
    }),
    defineCommand({
      name: "remove",
      summary: "remove a version and its archive from a registry",
      arguments: { folder, version },
      options: { key },
      run: async (context, args, options) =>
        (await manage()).removeFromRegistry(context, args.folder, args.version, options),
    }),
    defineCommand({
      name: "yank",
      summary: "withdraw a version: ranges do not select it, and its exact version still does",
      arguments: { folder, version },
      options: {
        reason: { value: "text", help: "why, for those who use it" },
        undo: { help: "offer it again" },
        key,
      },
      run: async (context, args, options) =>
        (await manage()).yankFromRegistry(context, args.folder, args.version, options),
    }),
    defineCommand({
      name: "renew",
      summary: "sign the index again, with a new expiry date",
      arguments: { folder },
      options: { key },
      run: async (context, args, options) => (await manage()).renewRegistry(context, args.folder, options),
    }),
    defineCommand({
      name: "rotate",
      summary: "replace the key of a registry by one that the old key signs",
      arguments: { folder },
      options: {
        key: { ...key, help: "the key that signs the index now (default: the registry key of the home)" },
        newKey: { value: "file", help: "the new Ed25519 key in PEM" },
        accept: {
          value: "time",
          parse: duration,
          help: "time during which clients that know the old key accept the new one (default: 366d)",
        },
      },
      examples: ["toolcrib registry rotate ./packages --new-key new.pem"],
      run: async (context, args, options) => (await manage()).rotateRegistry(context, args.folder, options),
    }),
    defineCommand({
      name: "serve",
      summary: "serve the folder of a registry over plain HTTP, read only",
      arguments: { folder },
      options: {
        listen: {
          value: "address",
          default: "127.0.0.1:7421",
          help: "address and port; port 0 is any free one",
        },
      },
      run: async (context, args, options) =>
        (await import("../registry/serve-folder.ts")).serveFolder(context, args.folder, options),
    }),
  ],
};
