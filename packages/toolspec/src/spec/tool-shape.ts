/**
 * The shape of one tool of a toolspec in both schema versions: its fields, its
 * parameters, and the additions of version 2. lint-tool.ts checks rules across fields.
 */

import {
  anyJson,
  choice,
  dictionary,
  flag,
  integer,
  list,
  type MapEntry,
  quote,
  record,
  reportAt,
  type Shape,
  text,
} from "@toolcrib/document";
import { isJsonObject, type JsonObject } from "@toolcrib/json";

import { parseBaseUrl } from "./base-url.ts";

import { fieldsShape, jsonPath } from "./selection-shape.ts";
import type { ToolspecTool } from "./toolspec.ts";

const paramsMaxCount = 200;
/** Longest name of a tool; the gateway shortens names beyond the limit of clients. */
const toolNameMaxLength = 128;

/** A text without restrictions on its form. */
export const anyText = (description: string, maxLength = 10_000) => text({ description, maxLength });

const toolName = text({
  description: "Unique within the toolspec; the manifest lists the same tools.",
  maxLength: toolNameMaxLength,
  code: "TOOLSPEC_TOOL_NAME_INVALID",
  pattern: {
    source: "[^\\x00-\\x20\\x7f-\\xa0]+(?: [^\\x00-\\x20\\x7f-\\xa0]+)*",
    meaning: "a name of one line",
  },
  inspect(value, node, place) {
    if (/^[A-Za-z0-9_.-]+$/.test(value)) return;
    const hint = `write ${value.trim().replace(/[^A-Za-z0-9_.-]+/g, "_")}, here and in the manifest`;
    const message = `Tool name ${quote(value)} has characters that MCP clients may refuse: letters, digits, _ - and . are safe`;
    reportAt(node, place, { severity: "warning", code: "TOOLSPEC_TOOL_NAME_UNFIT", message, hint });
  },
});

/** A base URL. */
export function baseUrlShape(version: 1 | 2): Shape<string> {
  const isSecond = version === 2;
  return text({
    description: `https:// and a host, nothing else${isSecond ? "; {variables} are bound from the configuration" : ""}.`,
    maxLength: 300,
    examples: ["https://api.example.com"],
    inspect(value, node, place) {
      const read = parseBaseUrl(value, { hasVariables: isSecond });
      if ("host" in read) return;
      const needsSecond = !isSecond && "host" in parseBaseUrl(value, { hasVariables: true });
      const hint = needsSecond
        ? "schemaVersion: 2 allows variables in base URLs"
        : `write ${read.instead ?? "https://api.example.com"}`;
      const message = `Cannot use ${quote(value)} as base URL: ${read.reason}; https://<host> is allowed and nothing else`;
      reportAt(node, place, {
        code: needsSecond ? "TOOLSPEC_NEEDS_VERSION_2" : "TOOLSPEC_BASE_URL_INVALID",
        message,
        hint,
      });
    },
  });
}

const mediaType = {
  source: "[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(?:; ?[A-Za-z0-9_-]+=[A-Za-z0-9_.-]+)*",
  meaning: "a media type such as image/png",
};

const paramFields = {
  name: { required: anyText("Unique within the tool; a property of its input schema.", 256) },
  in: {
    required: choice({
      description: "Part of the request that carries the parameter.",
      values: ["path", "query", "body", "header"],
      code: "TOOLSPEC_PARAM_IN_INVALID",
      aliases: { formdata: "body", form: "body", json: "body", url: "path", headers: "header" },
      hints: { cookie: "cookies are not sent" },
    }),
  },
  type: {
    required: choice({
      description: "JSON type.",
      values: ["string", "integer", "number", "boolean", "object", "array"],
      code: "TOOLSPEC_PARAM_TYPE_INVALID",
      aliases: {
        str: "string",
        text: "string",
        int: "integer",
        long: "integer",
        float: "number",
        double: "number",
        bool: "boolean",
        map: "object",
        dict: "object",
        list: "array",
      },
    }),
  },
  required: flag("Whether the parameter is required; in: path parameters are."),
  description: anyText("Description in the input schema."),
};

const param1 = record({ description: "A parameter.", fields: paramFields, misplaced: misplaced("param") });
const param2 = record({
  description: "A parameter.",
  fields: {
    ...paramFields,
    value: anyJson("Constant value; the parameter is not in the input schema."),
    enum: list(anyJson("A value."), { description: "Allowed values.", maxItems: 500 }),
    style: choice({
      description:
        "How an array or object is written in a query or form: repeat (a=1&a=2), comma (a=1,2), brackets (a[]=1, a[key]=1), json.",
      values: ["repeat", "comma", "brackets", "json"],
      code: "TOOLSPEC_STYLE_INVALID",
      aliases: { form: "repeat", multi: "repeat", csv: "comma", deepobject: "brackets" },
    }),
    contentEncoding: choice({
      description: "base64: the string is binary content (multipart and raw bodies).",
      values: ["base64"],
      code: "TOOLSPEC_VALUE_INVALID",
    }),
    contentType: text({
      description: "Media type of the part or the raw body.",
      maxLength: 200,
      pattern: mediaType,
    }),
    filename: text({
      description: "File name of the part (multipart).",
      maxLength: 255,
      pattern: { source: '[^\\x00-\\x1f\\x7f"\\\\/]+', meaning: "a file name without slashes and quotes" },
    }),
  },
});

const secondFields = {
  response: record({
    description: "The returned part of the response.",
    fields: {
      select: jsonPath("JSONPath of the part that is returned."),
      fields: fieldsShape,
      maxBytes: integer({ description: "Most bytes of text returned.", minimum: 1, maximum: 10_485_760 }),
    },
  }),
  pagination: record({
    description: "Pagination of a list.",
    fields: {
      kind: {
        required: choice({
          description:
            "cursor: the response names the next page. page: pages are numbered. offset: items are skipped. link: the Link header, or next, contains the URL of the next page.",
          values: ["cursor", "page", "offset", "link"],
          code: "TOOLSPEC_VALUE_INVALID",
          aliases: { skip: "offset", start: "offset", token: "cursor", url: "link" },
        }),
      },
      param: anyText(
        "The query or body parameter that selects a page, or a field of an object parameter: variables.after.",
        256,
      ),
      next: jsonPath(
        "JSONPath of the next cursor; with page and offset, of the items of a page; with link, of the URL of the next page.",
      ),
      first: integer({
        description:
          "Value of param for the first page (page and offset). Default: 1 with page, 0 with offset.",
        minimum: 0,
        maximum: 1,
      }),
      total: jsonPath("JSONPath of the total number of pages (page) or items (offset)."),
    },
  }),
  annotations: record({
    description: "Annotations that override those derived from the method.",
    fields: {
      title: anyText("Title for people.", 256),
      readOnlyHint: flag("Changes nothing."),
      destructiveHint: flag("The tool can destroy data."),
      idempotentHint: flag("A repeated call has no further effect."),
      openWorldHint: flag("The tool acts on systems outside the control of its caller."),
    },
  }),
  examples: list(
    record({
      description: "Arguments and the request that they produce.",
      fields: {
        description: anyText("Purpose of the example."),
        args: { required: jsonObject("The arguments.") },
        request: {
          required: record({
            description: "The request, exact to the byte.",
            fields: {
              method: anyText("Its method.", 16),
              url: { required: anyText("Complete URL.", 16_384) },
              headers: dictionary(anyText("Its value.", 8192), {
                description: "Headers that must be present.",
                maxEntries: 100,
                key: { source: "[!#$%&'*+.^_`|~0-9A-Za-z-]+", meaning: "the name of a header" },
              }),
              body: anyJson("A text that must match byte for byte, or a JSON value."),
            },
          }),
        },
      },
    }),
    { description: "Examples, which are the tests of the tool.", maxItems: 100 },
  ),
};

function jsonObject(description: string): Shape<JsonObject> {
  const any = anyJson(description);
  return {
    check(node, place) {
      const value = any.check(node, place);
      if (isJsonObject(value)) return value;
      const message = `${quote(place.path)} must be a map of arguments`;
      return reportAt(node, place, { code: "TOOLSPEC_WRONG_TYPE", message });
    },
    toJsonSchema: () => ({ type: "object", description }),
  };
}

const fieldsOfSecond: { readonly [owner: string]: readonly string[] } = {
  toolspec: ["variables"],
  tool: Object.keys(secondFields),
  param: ["value", "enum", "style", "contentEncoding", "contentType", "filename"],
};

/** Reports a field of version 2 in a file of version 1. */
export function misplaced(owner: string) {
  return ({ key }: MapEntry) =>
    fieldsOfSecond[owner]?.includes(key) === true
      ? {
          code: "TOOLSPEC_NEEDS_VERSION_2",
          message: `Field ${quote(key)} belongs to schemaVersion 2, and this toolspec is of schemaVersion 1`,
          hint: "write schemaVersion: 2, or remove the field",
        }
      : undefined;
}

function toolFields(version: 1 | 2) {
  const encodings =
    version === 1 ? (["json", "form"] as const) : (["json", "form", "multipart", "raw"] as const);
  return {
    name: { required: toolName },
    description: { required: anyText("What the tool does, for models.") },
    method: {
      required: choice({
        description: "HTTP method.",
        values: ["GET", "POST", "PUT", "PATCH", "DELETE"],
        code: "TOOLSPEC_METHOD_INVALID",
        hints: { head: "use GET", options: "use GET" },
      }),
    },
    path: {
      required: text({
        description: `Begins with /; {placeholders} bind to in: path parameters${version === 1 ? "" : ", or else to variables"}.`,
        maxLength: 2048,
        examples: ["/channels/{id}"],
      }),
    },
    baseUrl: baseUrlShape(version),
    encoding: choice<"json" | "form" | "multipart" | "raw">({
      description: "Encoding of in: body parameters. Default: json.",
      values: encodings,
      code: "TOOLSPEC_ENCODING_INVALID",
      aliases: {
        "application/json": "json",
        "application/x-www-form-urlencoded": "form",
        urlencoded: "form",
        ...(version === 1 ? {} : { "multipart/form-data": "multipart", binary: "raw" }),
      },
      hints:
        version === 1 ? { multipart: "schemaVersion: 2 has multipart", raw: "schemaVersion: 2 has raw" } : {},
    }),
  };
}

const toolHints = {
  parameters: "did you mean params?",
  url: "did you mean path?",
  endpoint: "did you mean path?",
  body: "write the fields of the body as params with in: body",
  headers: "write headers as params with in: header",
  query: "write the query as params with in: query",
  title: "write annotations: { title: … } (schemaVersion 2)",
};

const paramsOptions = {
  description: "Parameters, in one flat namespace.",
  maxItems: paramsMaxCount,
};

const description = "A tool: a templated HTTP request.";

const toolShape1 = record({
  description,
  fields: { ...toolFields(1), params: list(param1, paramsOptions) },
  hints: toolHints,
  misplaced: misplaced("tool"),
});

const toolShape2 = record({
  description,
  fields: { ...toolFields(2), params: list(param2, paramsOptions), ...secondFields },
  hints: toolHints,
});

/** The shape of a tool in one schema version. */
export function toolShape(version: 1 | 2): Shape<ToolspecTool> {
  return version === 1 ? toolShape1 : toolShape2;
}
