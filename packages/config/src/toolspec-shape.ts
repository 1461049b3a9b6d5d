/**
 * The shape of an entry of `toolspecs`: a reference to a manifest and toolspec,
 * an id, secrets, variables and tools. `load-toolspecs.ts` reads the files, lints
 * them and checks the entry against them.
 */

import {
  type DocumentNode,
  dictionary,
  entryOf,
  list,
  type Place,
  record,
  reportAt,
  reportAtMap,
  type Shape,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { looksLikeCredential } from "@toolcrib/redaction";
import { quote } from "./display-source.ts";
import { chosenToolsShape, identityCredentialsShape } from "./manifest-entry-shape.ts";
import { reportInline } from "./text-shape.ts";
import { dataLabelsShape, enabledFlag, idShape, labelsShape } from "./tool-server-shape.ts";

/** Maximum number of entries of `toolspecs`. @limit operator */
export const maxToolspecs = 1000;

const entryRecord = record({
  name: "Toolspec",
  description: "A REST API as tools: a manifest and its toolspec, from the catalog or from files.",
  fields: {
    name: text({
      description: "A name in the catalog (toolcrib catalog list).",
      pattern: {
        source: "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?",
        meaning: "a name of the catalog: lower-case letters, digits and -",
      },
      maxLength: 128,
      examples: ["github"],
    }),
    version: text({
      description: "A version in the catalog. Default: the newest.",
      pattern: { source: "[0-9]+\\.[0-9]+\\.[0-9]+", meaning: "a version such as 0.1.0" },
      maxLength: 64,
      otherTypeHint: (node) => (node.kind === "scalar" ? 'write it in quotes, such as "0.1.0"' : undefined),
    }),
    path: text({
      description:
        "Instead of name: a manifest, a toolspec, or a folder with one pair of them; relative to the folder of this file.",
      maxLength: 4096,
      examples: ["./specs/acme"],
    }),
    id: idShape,
    enabled: enabledFlag,
    credentials: identityCredentialsShape,
    variables: dictionary(
      text({
        description: "The value of the variable.",
        maxLength: 253,
        inspect(value, node, place) {
          if (!looksLikeCredential(value)) return;
          const what = `variable ${quote(place.key)} contains a possible secret`;
          reportInline(node, place, what, "a variable is a part of a host name or path, never a secret");
        },
      }),
      {
        description: "Variables in the toolspec's base URLs and paths, such as the name of a tenant.",
        maxEntries: 32,
        key: { source: "[A-Za-z_][A-Za-z0-9_]{0,63}", meaning: "letters, digits and _" },
      },
    ),
    reserved: list(
      text({
        description: "A parameter, as TOOL.PARAMETER.",
        pattern: {
          source: "[A-Za-z0-9_-]{1,128}\\.[^\\s]{1,128}",
          meaning: "a tool and its parameter, such as get_report.property",
        },
        maxLength: 260,
      }),
      { description: "Path parameters whose slashes are not encoded.", maxItems: 1000 },
    ),
    tools: chosenToolsShape,
    labels: labelsShape,
    data_labels: dataLabelsShape,
  },
  hints: {
    toolspec: "did you mean name?",
    disabled: "write enabled: false",
    manifest: "write path: with the manifest or the toolspec",
    file: "did you mean path?",
    folder: "did you mean path?",
    secrets: "did you mean credentials?",
    auth: "write credentials: { ID: { secret_key_ref: NAME } }",
    token: "write credentials: { token: { secret_key_ref: NAME } }",
    secret_key_ref:
      "write it in credentials, under the id of the credential: credentials: { ID: { secret_key_ref: NAME } }",
    hosts: "the egress list of the manifest defines the hosts",
    namespace: "did you mean id?",
    vars: "did you mean variables?",
    egress: "write egress: at the top level, next to toolspecs:",
  },
  inspect: (_value, node, place) => inspectReference(node, place),
});

/** An entry of `toolspecs`. */
export const toolspecShape: Shape<ValueOf<typeof entryRecord>> = {
  check: entryRecord.check,
  toJsonSchema(definitions) {
    const schema = entryRecord.toJsonSchema(definitions);
    const full = definitions?.get("Toolspec");
    const oneOf = [{ required: ["name"] }, { required: ["path"], not: { required: ["version"] } }];
    if (full !== undefined) definitions?.set("Toolspec", { ...full, oneOf });
    return schema;
  },
};

/** Requires either `name` or `path`, and no version with a path. */
function inspectReference(node: DocumentNode, place: Place): void {
  const [name, path, version] = ["name", "path", "version"].map((key) => entryOf(node, key));
  if (name === undefined && path === undefined) {
    reportAtMap(node, place, {
      code: "CONFIG_FIELD_REQUIRED",
      message: `Field "name" is required in ${quote(place.path)}`,
      hint: "add name: with a name of the catalog (toolcrib catalog list), or path: with a file or folder",
    });
  } else if (name !== undefined && path !== undefined) {
    reportAt(path.value, place, {
      code: "CONFIG_INVALID_VALUE",
      message: `${quote(place.path)} has both name and path`,
      hint: "write name for a toolspec of the catalog, path for one from files",
      span: path.keySpan,
    });
  } else if (path !== undefined && version !== undefined) {
    reportAt(version.value, place, {
      code: "CONFIG_INVALID_VALUE",
      message: `${quote(place.path)} has both path and version`,
      hint: "remove version: the files contain it",
      span: version.keySpan,
    });
  }
}

/** An entry of `toolspecs` as written. */
export type ToolspecDocument = ValueOf<typeof toolspecShape>;
