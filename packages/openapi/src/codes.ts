/** Codes of this package's errors and findings, each with its meaning. */
export const openapiCodes = {
  OPENAPI_TOO_LARGE: "An OpenAPI document is longer or deeper than can be read.",
  OPENAPI_SYNTAX: "An OpenAPI document is neither readable YAML nor readable JSON.",
  OPENAPI_VERSION: "The OpenAPI version of a document is not supported; 3.0 and 3.1 are.",
  OPENAPI_NAME_MISSING: "No name for the manifest was given, and the title of the document makes none.",
  OPENAPI_OPERATION_MISSING:
    "An operation that was asked for is not in the document, or none is left to import.",
  OPENAPI_OPERATION_LIMIT: "More operations are chosen than one toolspec takes; the rest is left out.",
  OPENAPI_OPERATION_DEPRECATED: "An operation is deprecated, was not asked for by its id, and is left out.",
  OPENAPI_OPERATION_UNFIT: "An operation cannot be called through a toolspec and is left out.",
  OPENAPI_SERVER_UNFIT: "No server of the document makes a base URL.",
  OPENAPI_SERVER_CHANGED: "A server is used in another way than the document writes it.",
  OPENAPI_PARAMETER_UNFIT: "A parameter cannot be sent and is left out of its tool.",
  OPENAPI_PARAMETER_CHANGED: "A parameter can be sent in part, or under another name only.",
  OPENAPI_BODY_UNFIT: "A request body cannot be sent, or in part only.",
  OPENAPI_TYPE_NARROWED: "A value may be of several types, and the tool takes one of them.",
  OPENAPI_REFERENCE: "A `$ref` leads nowhere, in a circle, or to a document that cannot be read.",
  OPENAPI_CREDENTIAL_UNFIT:
    "A security scheme cannot be expressed as a credential, or is not the one that was taken.",
  OPENAPI_CREDENTIAL_MISSING: "The document declares no credential; add one by hand when the API needs it.",
} as const;

/** A key of `openapiCodes`. */
export type OpenapiCode = keyof typeof openapiCodes;
