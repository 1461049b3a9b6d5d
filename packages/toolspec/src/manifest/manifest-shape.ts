/**
 * The shape of a manifest file and its rules across fields. Version 1 follows
 * the document; version 2 adds two places for credentials.
 */

import {
  choice,
  type DocumentKind,
  flag,
  list,
  literalNumber,
  type MapEntry,
  quote,
  record,
  reportAt,
  reportRepeated,
  type Shape,
  text,
} from "@toolcrib/document";
import { parseHostPattern } from "@toolcrib/hosts";
import { entryName, entryVersion, toEntryName } from "../spec/entry-name.ts";
import { versionedShape } from "../spec/versioned-shape.ts";
import { lintCredentials } from "./lint-credentials.ts";
import { lintRequirement, lintRequirements } from "./lint-requirements.ts";
import type { Manifest } from "./manifest.ts";

/** Manifests as a kind of file. */
export const manifestKind: DocumentKind = {
  noun: "manifest",
  codes: {
    fileTooLarge: "MANIFEST_FILE_TOO_LARGE",
    syntax: "MANIFEST_SYNTAX",
    tooComplex: "MANIFEST_TOO_COMPLEX",
    duplicateKey: "MANIFEST_DUPLICATE_KEY",
    unknownField: "MANIFEST_UNKNOWN_FIELD",
    fieldRequired: "MANIFEST_FIELD_REQUIRED",
    wrongType: "MANIFEST_WRONG_TYPE",
    valueInvalid: "MANIFEST_VALUE_INVALID",
    bareWord: "MANIFEST_BARE_WORD",
  },
};

const anyText = (description: string, maxLength = 2048) => text({ description, maxLength });

const egressEntry = text({
  description: "A host, or *. and a suffix of at least two labels; the wildcard matches one label.",
  maxLength: 300,
  examples: ["api.example.com", "*.example.com"],
  inspect(value, node, place) {
    const verdict = parseHostPattern(value);
    if (verdict.kind === "valid") return;
    const message = `Cannot allow ${quote(value)}: ${verdict.reason}`;
    const hint = verdict.instead === undefined ? undefined : `write ${verdict.instead}`;
    reportAt(node, place, { code: "MANIFEST_EGRESS_INVALID", message, hint });
  },
});

const sourceShape = record({
  description: "Location of the source.",
  fields: {
    repo: {
      required: anyText(
        "Repository. For builder: node, npm: and the name of the package; for builder: python, pypi: and the name of the project.",
      ),
    },
    tag: { required: anyText("Tag, or the exact version of the package.") },
    package: text({
      description: "Folder of the main package within the repository.",
      maxLength: 1024,
      code: "MANIFEST_PACKAGE_INVALID",
      pattern: {
        source: "[A-Za-z0-9._-][A-Za-z0-9._/-]*",
        meaning: "a folder within the repository, in letters, digits and . _ / -",
      },
      inspect(value, node, place) {
        if (!value.includes("..")) return;
        const message = `"source.package" must be a folder within the repository, without .., but is ${quote(value)}`;
        reportAt(node, place, { code: "MANIFEST_PACKAGE_INVALID", message });
      },
    }),
  },
});

const imageShape = record({
  description: "Image of the server.",
  fields: {
    ref: { required: anyText("Reference.") },
    digest: {
      required: text({
        description: "Approved digest.",
        maxLength: 300,
        code: "MANIFEST_DIGEST_INVALID",
        pattern: {
          source: "sha256:[0-9a-f]{64}",
          meaning: "sha256: and 64 hexadecimal digits in lower case",
        },
        instead: (value) => value.toLowerCase(),
      }),
    },
    entrypoint: {
      required: text({
        description:
          "Absolute path of the program within the image. Its last part names the program of an adopted server; words after it are arguments.",
        maxLength: 4096,
        code: "MANIFEST_ENTRYPOINT_INVALID",
        pattern: { source: "/.*", meaning: "an absolute path" },
      }),
    },
    builder: choice({
      description: "How the image is built. Default: go-static.",
      values: ["go-static", "node", "python", "toolpack"],
      code: "MANIFEST_BUILDER_INVALID",
      aliases: { go: "go-static", nodejs: "node", javascript: "node" },
    }),
  },
});

const environmentName = {
  source: "[A-Za-z_][A-Za-z0-9_]*",
  meaning: "the name of an environment variable",
};

const placeInjectFields = {
  header: anyText("Header that carries the credential.", 128),
  format: anyText("Value of the header; {token} is replaced by the secret.", 1024),
  env: text({
    description: "Environment variable that contains the credential.",
    maxLength: 128,
    code: "MANIFEST_INJECT_ENV",
    pattern: environmentName,
  }),
};

const injectHints = { name: "did you mean header?", value: "did you mean format?" };

const injectShape1 = record({
  description: "How the credential enters requests. Sealed tier: header and format. Entrusted tier: env.",
  fields: placeInjectFields,
  hints: injectHints,
  misplaced: ({ key }: MapEntry) =>
    key === "query" || key === "pathPrefix"
      ? {
          code: "MANIFEST_NEEDS_VERSION_2",
          message: `Field ${quote(key)} belongs to schemaVersion 2, and this manifest is of schemaVersion 1`,
          hint: "write schemaVersion: 2, or send the credential in a header",
        }
      : undefined,
});

const injectShape2 = record({
  description:
    "How the credential enters requests. Sealed tier: header and format, query, or pathPrefix. Entrusted tier: env.",
  fields: {
    ...placeInjectFields,
    format: anyText(
      "Value of the header or query parameter; {token} is replaced by the secret. Default with query: {token}.",
      1024,
    ),
    query: text({
      description: "Query parameter that carries the credential.",
      maxLength: 128,
      pattern: { source: "[\\x21-\\x7e]+", meaning: "the name of a query parameter" },
      examples: ["key"],
    }),
    pathPrefix: text({
      description: "Prefix of every path; {token} is replaced by the secret.",
      maxLength: 1024,
      examples: ["/bot{token}"],
    }),
  },
  hints: injectHints,
});

function credentialShape(inject: typeof injectShape1 | typeof injectShape2) {
  return record({
    description: "A credential.",
    fields: {
      id: { required: anyText("Unique within the manifest.", 256) },
      type: {
        required: choice({
          description: "Kind of credential. basic: user:password, plain or in base64.",
          values: ["oauth2", "api_key", "basic", "custom_env"],
          code: "MANIFEST_CREDENTIAL_TYPE_INVALID",
          aliases: {
            oauth: "oauth2",
            "api-key": "api_key",
            apikey: "api_key",
            token: "api_key",
            bearer: "api_key",
            env: "custom_env",
          },
        }),
      },
      provider: anyText("Connector.", 256),
      scopes: list(anyText("A scope."), { description: "Scopes of oauth2.", maxItems: 1000 }),
      inject: { required: inject },
      vendor: text({
        description: "Group of accounts; required for oauth2.",
        maxLength: 64,
        code: "MANIFEST_VENDOR_INVALID",
        pattern: entryName,
        instead: toEntryName,
      }),
      placeholderEnv: text({
        description:
          "Sealed tier: the environment variable in which an adopted server finds the placeholder of the secret. Default: TOOLCRIB_PLACEHOLDER.",
        maxLength: 128,
        code: "MANIFEST_PLACEHOLDER_ENV",
        pattern: environmentName,
        examples: ["GITHUB_PERSONAL_ACCESS_TOKEN"],
      }),
    },
  });
}

const requirementShape = record({
  description: "A value that the server does not work without: either variable or argument.",
  fields: {
    variable: text({
      description: "The environment variable that has the value.",
      maxLength: 128,
      code: "MANIFEST_REQUIREMENT_INVALID",
      pattern: environmentName,
      examples: ["MEMORY_FILE_PATH"],
    }),
    argument: text({
      description: "The name of the value among the arguments, for people.",
      maxLength: 64,
      code: "MANIFEST_REQUIREMENT_INVALID",
      pattern: { source: "[A-Z][A-Z0-9_]*", meaning: "a name in capital letters" },
      examples: ["FOLDER"],
    }),
    option: text({
      description: "The option before the argument. Default: the argument stands alone.",
      maxLength: 128,
      code: "MANIFEST_REQUIREMENT_INVALID",
      pattern: { source: "--?[A-Za-z][A-Za-z0-9-]*", meaning: "an option" },
      examples: ["--repository"],
    }),
    value: choice({
      description:
        "What the value is: a text, a folder that the server reads, or a file that it writes. Default: text.",
      values: ["text", "read_folder", "written_file"],
      code: "MANIFEST_REQUIREMENT_INVALID",
    }),
    description: anyText("What it is for, in a few words.", 300),
  },
  hints: { env: "did you mean variable?", name: "write variable: NAME or argument: NAME" },
  inspect: (_value, node, place) => lintRequirement(node, place),
});

const categories = [
  "ai",
  "analytics",
  "comms",
  "CRM",
  "data",
  "design",
  "dev-tools",
  "documents",
  "e-commerce",
  "finance",
  "HR/ATS",
  "marketing",
  "productivity",
  "search",
  "social",
  "storage",
  "support",
] as const;

function manifestShapeOf(version: 1 | 2): Shape<Manifest> {
  return record({
    description: `A manifest of schemaVersion ${version}: source, network access and credentials of a tool server.`,
    fields: {
      schemaVersion: {
        required: literalNumber({
          description: "The version of this format.",
          values: [version],
          code: "MANIFEST_SCHEMA_VERSION",
        }),
      },
      name: {
        required: text({
          description: "Unique; the namespace of its tools.",
          maxLength: 64,
          pattern: entryName,
          code: "MANIFEST_NAME_INVALID",
          instead: toEntryName,
        }),
      },
      version: {
        required: text({
          description: "MAJOR.MINOR.PATCH.",
          maxLength: 64,
          pattern: entryVersion,
          code: "MANIFEST_VERSION_INVALID",
          instead: (value) => value.replace(/^v/, ""),
        }),
      },
      source: { required: sourceShape },
      image: { required: imageShape },
      tier: {
        required: choice({
          description: "sealed: the egress proxy inserts the secret. entrusted: the engine does.",
          values: ["sealed", "entrusted"],
          code: "MANIFEST_TIER_INVALID",
        }),
      },
      entitlements: record({
        description: "Network access.",
        fields: { egress: list(egressEntry, { description: "Hosts that may be reached.", maxItems: 1000 }) },
        hints: { hosts: "did you mean egress?", network: "did you mean egress?" },
      }),
      credentials: list(credentialShape(version === 1 ? injectShape1 : injectShape2), {
        description: "Credentials.",
        maxItems: 100,
        inspect: (_values, node, place) =>
          reportRepeated(node, place, "id", (id, lineNumber) => ({
            code: "MANIFEST_CREDENTIAL_DUPLICATE",
            message: `Duplicate credential ${quote(id)}: line ${lineNumber} has the same id`,
            hint: "give each credential a unique id",
          })),
      }),
      requires: list(requirementShape, {
        description:
          "What an adopted server does not work without, besides its credentials, and only its operator knows.",
        maxItems: 100,
        inspect: (_values, node, place) =>
          reportRepeated(node, place, "variable", (variable, lineNumber) => ({
            code: "MANIFEST_REQUIREMENT_INVALID",
            message: `Duplicate variable ${quote(variable)}: line ${lineNumber} requires it, too`,
            hint: "remove one of the two",
          })),
      }),
      tools: list(
        record({
          description: "A tool.",
          fields: {
            name: { required: anyText("Unique within the manifest.", 128) },
            default: flag("Whether it is exposed by default."),
          },
          hints: {
            description: "descriptions belong in the toolspec",
            enabled: "did you mean default?",
          },
        }),
        {
          description: "The tools.",
          maxItems: 1000,
          inspect: (_values, node, place) =>
            reportRepeated(node, place, "name", (name, lineNumber) => ({
              code: "MANIFEST_TOOL_DUPLICATE",
              message: `Duplicate tool ${quote(name)}: line ${lineNumber} has the same name`,
              hint: "remove one of the two",
            })),
        },
      ),
      displayName: anyText("Name for people.", 256),
      description: anyText("Description of the service.", 10_000),
      category: choice({
        description: "What it is for.",
        values: categories,
        code: "MANIFEST_CATEGORY_INVALID",
      }),
      icon: anyText("Path of an icon in the repository."),
    },
    hints: {
      egress: "write it below entitlements: entitlements: { egress: […] }",
      auth: "auth belongs in the toolspec; a manifest has credentials",
      baseUrl: "baseUrl belongs in the toolspec",
      builder: "write it below image",
      credential: "did you mean credentials?",
    },
    inspect(_value, node, place) {
      lintCredentials(node, place, version);
      lintRequirements(node, place);
    },
  });
}

const shape1 = manifestShapeOf(1);
const shape2 = manifestShapeOf(2);

/** The shape of a manifest of either version; its `schemaVersion` selects the version. */
export const manifestShape: Shape<Manifest> = versionedShape(
  {
    code: "MANIFEST_SCHEMA_VERSION",
    description: "A manifest: source, network access and credentials of a tool server.",
  },
  shape1,
  shape2,
);
