/** The shape of `registries`: where packages of tools are searched and installed from. */

import { list, record, reportAtMap, reportRepeated, text, type ValueOf } from "@toolcrib/document";
import type { RegistryConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";
import { toCompletePath } from "./egress-shape.ts";

/** Maximum number of entries of `registries`. @limit operator */
const maxRegistries = 16;

const registryShape = record({
  name: "PackageRegistry",
  description: "A registry of tool packages: a folder with a signed index, on this machine or a web server.",
  fields: {
    name: {
      required: text({
        description: "Name for commands: --registry NAME.",
        maxLength: 40,
        pattern: { source: "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?", meaning: "lower-case letters, digits and -" },
        examples: ["acme"],
      }),
    },
    url: text({
      description: "URL of the folder: https, or http to this machine. No user, password or query.",
      maxLength: 2048,
      pattern: {
        source: "https?://[^\\s?#@]+",
        meaning: "an https URL without user, password, query and fragment",
      },
      examples: ["https://tools.example.com/registry/"],
    }),
    folder: text({
      description: "Path of the folder, relative to the folder of this file.",
      maxLength: 4096,
      pattern: { source: "[^\\x00-\\x1f]+", meaning: "a path" },
    }),
    key: text({
      description:
        "Id of the key that signs its index, as toolcrib registry list shows it. Without it, the key of the first index that is read counts from then on.",
      maxLength: 71,
      pattern: { source: "sha256:[0-9a-f]{64}", meaning: "sha256: and 64 hexadecimal digits" },
    }),
  },
  hints: {
    path: "did you mean folder?",
    address: "did you mean url?",
    id: "did you mean name?",
    key_id: "did you mean key?",
    public_key: "write the id of the key: key: sha256:…",
  },
  inspect({ url, folder }, node, place) {
    if ((url === undefined) !== (folder === undefined) || node.kind !== "map") return;
    const isWritten = node.entries.some(({ key }) => key === "url" || key === "folder");
    if (isWritten && url === undefined) return;
    reportAtMap(node, place, {
      code: "CONFIG_INVALID_VALUE",
      message: `${quote(place.path)} must have exactly one of url and folder, but has ${url === undefined ? "none" : "both"}`,
    });
  },
});

export const registriesShape = list(registryShape, {
  description:
    "Registries of tool packages, in the order in which they are asked: a package comes from the first one that has its toolId.",
  maxItems: maxRegistries,
  otherTypeHint: (node) => (node.kind === "map" ? "write each registry as an item: - name: NAME" : undefined),
  inspect: (_values, node, place) =>
    reportRepeated(node, place, "name", (name, lineNumber) => ({
      code: "CONFIG_INVALID_VALUE",
      message: `The registry in line ${lineNumber} has the same name ${quote(name)}`,
      hint: "give each registry a different name",
    })),
});

/** `registries` as written. */
export type RegistriesDocument = ValueOf<typeof registriesShape>;

/** Returns `document` with complete paths. @param fileName the file that contains it */
export function withCompleteFolders(
  document: RegistriesDocument | undefined,
  fileName: string,
): RegistriesDocument | undefined {
  return document?.map((one) =>
    one.folder === undefined ? one : { ...one, folder: toCompletePath(one.folder, fileName) },
  );
}

/** Translates `registries`. */
export function toRegistriesConfig(document: RegistriesDocument | undefined): readonly RegistryConfig[] {
  return (document ?? []).map(({ name, url, folder, key }) => ({ name, url, folder, keyId: key }));
}
