/** A toolspec as data: what the file says, in both schema versions. */

import type { JsonObject, JsonValue } from "@toolcrib/json";

/** HTTP method of a tool. */
export type ToolspecMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** Where a parameter is sent. */
export type ParamPlace = "path" | "query" | "body" | "header";
/** JSON type of a parameter. */
export type ParamType = "string" | "integer" | "number" | "boolean" | "object" | "array";
/** How a body is written; `multipart` and `raw` are of schemaVersion 2. */
export type BodyEncoding = "json" | "form" | "multipart" | "raw";
/** How arrays and objects are written in a query or form (schemaVersion 2). */
export type ParamStyle = "repeat" | "comma" | "brackets" | "json";

/** A toolspec: REST calls as tools. */
export interface Toolspec {
  readonly schemaVersion: number;
  readonly name: string;
  readonly version: string;
  /** `https://` and a host; in schemaVersion 2 with variables. */
  readonly baseUrl: string;
  /** Where the credential goes, for the entrusted tier only. */
  readonly auth?: ToolspecAuth;
  /** Variables of base URLs and paths by name (schemaVersion 2). */
  readonly variables?: { readonly [name: string]: ToolspecVariable };
  readonly tools: readonly ToolspecTool[];
}

/** The header of the credential. */
export interface ToolspecAuth {
  readonly header: string;
  /** Holds `{token}`. */
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
  /** `json` where it is absent. */
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
  /** What is always sent; such a parameter is not asked for (schemaVersion 2). */
  readonly value?: JsonValue;
  /** The values that it may have (schemaVersion 2). */
  readonly enum?: readonly JsonValue[];
  readonly style?: ParamStyle;
  /** `base64`: the string is binary content in base64 (schemaVersion 2, multipart and raw). */
  readonly contentEncoding?: "base64";
  /** Media type of the part or raw body (schemaVersion 2). */
  readonly contentType?: string;
  /** File name of the part (schemaVersion 2, multipart). */
  readonly filename?: string;
}

/** A part of a JSON value, and what is kept of it (schemaVersion 2). */
export interface ToolspecSelection {
  /** JSONPath (RFC 9535) of the part; the whole value where it is absent. */
  readonly select?: string;
  /** What is kept of each object of the part. */
  readonly fields?: ToolspecFields;
}

/** Fields by name: the JSONPath of each, from the object, or a selection of its own. */
export interface ToolspecFields {
  readonly [name: string]: string | ToolspecSelection;
}

/** What of a response is returned (schemaVersion 2). */
export interface ToolspecResponse extends ToolspecSelection {
  /** Most bytes of text returned. */
  readonly maxBytes?: number;
}

/** How a list goes on (schemaVersion 2). */
export interface ToolspecPagination {
  readonly kind: "cursor" | "page" | "offset" | "link";
  /** The query or body parameter that asks for a page, or `parameter.field` of an object; not with `link`. */
  readonly param?: string;
  /**
   * JSONPath of the next cursor; with `page` and `offset` of the items of a
   * page; with `link` of the address of the next page, in place of the `Link` header.
   */
  readonly next?: string;
  /** What `param` is for the first page, with `page` (else 1) and `offset` (else 0). */
  readonly first?: number;
  /** JSONPath of how many there are of what `param` counts: pages with `page`, items with `offset`. */
  readonly total?: string;
}

/** What the author says of the tool, in place of what the method says (schemaVersion 2). */
export interface ToolspecAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** Arguments and the request that they make (schemaVersion 2). */
export interface ToolspecExample {
  readonly description?: string;
  readonly args: JsonObject;
  readonly request: {
    readonly method?: string;
    /** The whole URL. */
    readonly url: string;
    /** Headers that must be there; there may be others. */
    readonly headers?: { readonly [name: string]: string };
    /** A text to the byte, or a JSON value. */
    readonly body?: JsonValue;
  };
}
