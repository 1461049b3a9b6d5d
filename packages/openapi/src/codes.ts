/** Codes of this package's errors and findings, each with its meaning. */
export const openapiCodes = {
  OPENAPI_TOO_LARGE: "An OpenAPI document is longer or deeper than can be read.",
  OPENAPI_SYNTAX: "An OpenAPI document is neither readable YAML nor readable JSON.",
  OPENAPI_VERSION: "The OpenAPI version of a document is not supported; 3.0 and 3.1 are.",
  OPENAPI_NAME_MISSING:
    "No name for the manifest was given, and none can be derived from the title of the document.",
  OPENAPI_OPERATION_MISSING: "A requested operation is not in the document, or no operation can be imported.",
  OPENAPI_OPERATION_LIMIT: "More operations are selected than a toolspec may have; the others are left out.",
  OPENAPI_OPERATION_DEPRECATED: "An operation is deprecated, was not requested by its id, and is left out.",
  OPENAPI_OPERATION_UNFIT: "An operation cannot be called through a toolspec and is left out.",
  OPENAPI_SERVER_UNFIT: "No server of the document can be converted to a base URL.",
  OPENAPI_SERVER_CHANGED: "A server is used in another form than the document has.",
  OPENAPI_PARAMETER_UNFIT: "A parameter cannot be sent and is left out of its tool.",
  OPENAPI_PARAMETER_CHANGED: "A parameter can be sent only in part, or only under another name.",
  OPENAPI_BODY_UNFIT: "A request body cannot be sent, or only in part.",
  OPENAPI_TYPE_NARROWED: "A value may be of several types, and the tool takes one of them.",
  OPENAPI_REFERENCE: "A `$ref` has no target, refers to itself, or refers to a document that cannot be read.",
  OPENAPI_CREDENTIAL_UNFIT:
    "A security scheme cannot be expressed as a credential, or another one was selected.",
  OPENAPI_CREDENTIAL_HIDDEN:
    "A parameter or body member is a credential of the API, so the tools do not have it as an argument.",
  OPENAPI_CREDENTIAL_MISSING: "The document declares no credential; add one by hand when the API needs it.",
} as const;

/** A key of `openapiCodes`. */
export type OpenapiCode = keyof typeof openapiCodes;
