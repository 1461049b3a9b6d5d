/** A toolspec as data, in both schema versions. */

import type { JsonObject, JsonValue } from "@toolcrib/json";

/** HTTP method of a tool. */
export type ToolspecMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** Part of the request that carries a parameter. */
export type ParamPlace = "path" | "query" | "body" | "header";
/** JSON type of a parameter. */
export type ParamType = "string" | "integer" | "number" | "boolean" | "object" | "array";
/** Encoding of a body; `multipart` and `raw` require schemaVersion 2. */
export type BodyEncoding = "json" | "form" | "multipart" | "raw";
/** Encoding of arrays and objects in a query or form (schemaVersion 2). */
export type ParamStyle = "repeat" | "comma" | "brackets" | "json";

/** A toolspec: REST calls as tools. */
export interface Toolspec {
  readonly schemaVersion: number;
  readonly name: string;
  readonly version: string;
  /** `https://` and a host; in schemaVersion 2 it can contain variables. */
  readonly baseUrl: string;
  /** Place of the credential, in the entrusted tier only. */
  readonly auth?: ToolspecAuth;
  /** Variables of base URLs and paths by name (schemaVersion 2). */
  readonly variables?: { readonly [name: string]: ToolspecVariable };
  readonly tools: readonly ToolspecTool[];
}

/** The header of the credential. */
export interface ToolspecAuth {
  readonly header: string;
  /** Contains `{token}`. */
  readonly format: string;
}

/** A variable of base URLs and paths. */
export interface ToolspecVariable {
  readonly description?: string;
  readonly default?: string;
}

/** One tool: a templated HTTP request. */
export interface ToolspecTool {
  readonly name: string;
  readonly description: string;
  readonly method: ToolspecMethod;
  readonly path: string;
  readonly baseUrl?: string;
  /** @default "json" */
  readonly encoding?: BodyEncoding;
  readonly params?: readonly ToolspecParam[];
  readonly response?: ToolspecResponse;
  readonly pagination?: ToolspecPagination;
  readonly annotations?: ToolspecAnnotations;
  readonly examples?: readonly ToolspecExample[];
}

/** One parameter of a tool. */
export interface ToolspecParam {
  readonly name: string;
  readonly in: ParamPlace;
  readonly type: ParamType;
  readonly required?: boolean;
  readonly description?: string;
  /** Constant value that is always sent; the parameter is not in the input schema (schemaVersion 2). */
  readonly value?: JsonValue;
  /** Allowed values (schemaVersion 2). */
  readonly enum?: readonly JsonValue[];
  readonly style?: ParamStyle;
  /** `base64`: the string is binary content in base64 (schemaVersion 2, multipart and raw). */
  readonly contentEncoding?: "base64";
  /** Media type of the part or raw body (schemaVersion 2). */
  readonly contentType?: string;
  /** File name of the part (schemaVersion 2, multipart). */
  readonly filename?: string;
}

/** A selected part of a JSON value, and the fields that it keeps (schemaVersion 2). */
export interface ToolspecSelection {
  /** JSONPath (RFC 9535) of the part. @default the whole value */
  readonly select?: string;
  /** Fields that each object of the part keeps. */
  readonly fields?: ToolspecFields;
}

/** Fields by name: a JSONPath relative to the object, or a nested selection. */
export interface ToolspecFields {
  readonly [name: string]: string | ToolspecSelection;
}

/** The returned part of a response (schemaVersion 2). */
export interface ToolspecResponse extends ToolspecSelection {
  /** Maximum number of bytes of returned text. */
  readonly maxBytes?: number;
}

/** Pagination of a list (schemaVersion 2). */
export interface ToolspecPagination {
  readonly kind: "cursor" | "page" | "offset" | "link";
  /** The query or body parameter that selects a page, or `parameter.field` of an object; not with `link`. */
  readonly param?: string;
  /**
   * JSONPath of the next cursor; with `page` and `offset`, of the items of a page;
   * with `link`, of the URL of the next page, instead of the `Link` header.
   */
  readonly next?: string;
  /** Value of `param` for the first page. @default 1 with `page`, 0 with `offset` */
  readonly first?: number;
  /** JSONPath of the total that `param` counts: pages with `page`, items with `offset`. */
  readonly total?: string;
}

/** Annotations by the author, which override those derived from the method (schemaVersion 2). */
export interface ToolspecAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** Arguments and the request that they produce (schemaVersion 2). */
export interface ToolspecExample {
  readonly description?: string;
  readonly args: JsonObject;
  readonly request: {
    readonly method?: string;
    /** The whole URL. */
    readonly url: string;
    /** Headers that must be present; the request can have others. */
    readonly headers?: { readonly [name: string]: string };
    /** A text that must match byte for byte, or a JSON value. */
    readonly body?: JsonValue;
  };
}
