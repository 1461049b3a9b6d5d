/**
 * The shape of a toolspec file. Version 1 follows the document exactly; version 2
 * adds to it. The shape of a tool is in tool-shape.ts.
 */

import {
  type DocumentKind,
  type DocumentNode,
  dictionary,
  fieldOf,
  type Inspect,
  itemsOf,
  list,
  literalNumber,
  type Place,
  quote,
  record,
  reportAt,
  reportRepeated,
  type Shape,
  stringOf,
  text,
} from "@toolcrib/document";

import { formatFault, formatHint } from "./credential-format.ts";
import { entryName, entryVersion, toEntryName } from "./entry-name.ts";
import { isClientHeader, isHeaderName } from "./header-name.ts";
import { lintCollisions } from "./lint-collisions.ts";

import { lintTool, type ToolLint } from "./lint-tool.ts";
import { lintVariables } from "./lint-variables.ts";
import { anyText, baseUrlShape, misplaced, toolShape } from "./tool-shape.ts";
import type { Toolspec } from "./toolspec.ts";
import { versionedShape } from "./versioned-shape.ts";

/** Toolspecs as a kind of file. */
export const toolspecKind: DocumentKind = {
  noun: "toolspec",
  codes: {
    fileTooLarge: "TOOLSPEC_FILE_TOO_LARGE",
    syntax: "TOOLSPEC_SYNTAX",
    tooComplex: "TOOLSPEC_TOO_COMPLEX",
    duplicateKey: "TOOLSPEC_DUPLICATE_KEY",
    unknownField: "TOOLSPEC_UNKNOWN_FIELD",
    fieldRequired: "TOOLSPEC_FIELD_REQUIRED",
    wrongType: "TOOLSPEC_WRONG_TYPE",
    valueInvalid: "TOOLSPEC_VALUE_INVALID",
    bareWord: "TOOLSPEC_BARE_WORD",
  },
};

const toolsMaxCount = 1000;

const authShape = record({
  description: "Where the credential goes. Only for manifests of the entrusted tier.",
  fields: {
    header: {
      required: text({
        description: "The header that carries the credential.",
        maxLength: 128,
        examples: ["Authorization"],
        inspect(value, node, place) {
          if (isHeaderName(value) && !isClientHeader(value)) return;
          const state = isHeaderName(value) ? "is set by the client itself" : "is not a header name";
          const message = `Cannot send the credential in the header ${quote(value)}: it ${state}`;
          reportAt(node, place, { code: "TOOLSPEC_AUTH_HEADER", message });
        },
      }),
    },
    format: {
      required: text({
        description: "The value of the header, with {token} in the place of the credential.",
        maxLength: 1024,
        examples: ["Bearer {token}"],
        inspect(value, node, place) {
          const fault = formatFault(value);
          if (fault === undefined) return;
          reportAt(node, place, {
            code: "TOOLSPEC_AUTH_FORMAT",
            message: `"auth.format" ${fault}`,
            hint: formatHint,
          });
        },
      }),
    },
  },
});

const inspectTools: Inspect<unknown> = (_values, node, place) =>
  reportRepeated(node, place, "name", (name, lineNumber) => ({
    code: "TOOLSPEC_TOOL_DUPLICATE",
    message: `Duplicate tool ${quote(name)}: the tool in line ${lineNumber} has the name too`,
    hint: "give each tool a name of its own, here and in the manifest",
  }));

const toolsOptions = {
  description: "The tools; the same ones that the manifest lists.",
  maxItems: toolsMaxCount,
  emptyCode: "TOOLSPEC_TOOLS_EMPTY",
  inspect: inspectTools,
};
function toolspecFields(version: 1 | 2) {
  return {
    schemaVersion: {
      required: literalNumber({
        description: "The version of this format.",
        values: [version],
        code: "TOOLSPEC_SCHEMA_VERSION",
      }),
    },
    name: {
      required: text({
        description: "The name of the manifest.",
        maxLength: 64,
        pattern: entryName,
        code: "TOOLSPEC_NAME_INVALID",
        instead: toEntryName,
      }),
    },
    version: {
      required: text({
        description: "The version of the manifest.",
        maxLength: 64,
        pattern: entryVersion,
        code: "TOOLSPEC_VERSION_INVALID",
        instead: (value) => value.replace(/^v/, ""),
      }),
    },
    baseUrl: { required: baseUrlShape(version) },
    auth: authShape,
  };
}

const shape1 = record({
  description: "A toolspec of schemaVersion 1.",
  fields: {
    ...toolspecFields(1),
    tools: {
      required: list(toolShape(1), toolsOptions),
    },
  },
  misplaced: misplaced("toolspec"),
  inspect(_value, node, place) {
    lintTools(node, place, { version: 1, variables: new Set() });
    lintAuthHeader(node, place);
  },
});

const shape2 = record({
  description: "A toolspec of schemaVersion 2.",
  fields: {
    ...toolspecFields(2),
    variables: dictionary(
      record({
        description: "A variable of base URLs and paths.",
        fields: {
          description: anyText("What it is and where to find it."),
          default: anyText("Used where the configuration gives no value.", 253),
        },
      }),
      {
        description:
          "Variables of base URLs and paths, bound from the configuration. In a path each is one segment, or a part of one.",
        maxEntries: 20,
        key: { source: "[A-Za-z_][A-Za-z0-9_]*", meaning: "letters, digits and _" },
      },
    ),
    tools: {
      required: list(toolShape(2), toolsOptions),
    },
  },
  inspect(_value, node, place) {
    const declared = fieldOf(node, "variables");
    const names = declared?.kind === "map" ? declared.entries.map(({ key }) => key) : [];
    lintTools(node, place, { version: 2, variables: new Set(names) });
    lintVariables(node, place);
    lintAuthHeader(node, place);
  },
});

/** Tools beyond the limit are not checked: one finding about a runaway list is enough. */
function lintTools(node: DocumentNode, place: Place, lint: ToolLint): void {
  for (const [index, tool] of itemsOf(node, "tools").slice(0, toolsMaxCount).entries()) {
    if (tool.kind !== "map") continue;
    const at = { ...place, path: `tools[${index}]`, key: String(index), keySpan: tool.span };
    lintTool(tool, at, lint);
  }
}

function lintAuthHeader(node: DocumentNode, place: Place): void {
  const header = stringOf(fieldOf(fieldOf(node, "auth"), "header"));
  if (header === undefined) return;
  lintCollisions(node, { headers: [header] }, (problem) => place.reporter.report(problem));
}

/** A toolspec of either version; its `schemaVersion` selects the version. */
export const toolspecShape: Shape<Toolspec> = versionedShape(
  {
    code: "TOOLSPEC_SCHEMA_VERSION",
    description: "A toolspec: a REST API as tools.",
  },
  shape1,
  shape2,
);
