/** An OpenAPI document is longer or deeper than can be read. */
export const openapiTooLarge = "OPENAPI_TOO_LARGE";
/** An OpenAPI document is neither readable YAML nor readable JSON. */
export const openapiSyntax = "OPENAPI_SYNTAX";
/** A document says no version of OpenAPI that can be imported: 3.0 and 3.1 can. */
export const openapiVersion = "OPENAPI_VERSION";
/** No name for the manifest was given, and the title of the document makes none. */
export const openapiNameMissing = "OPENAPI_NAME_MISSING";
/** An operation that was asked for is not in the document, or none is left to import. */
export const openapiOperationMissing = "OPENAPI_OPERATION_MISSING";
/** More operations are chosen than one toolspec takes; the rest is left out. */
export const openapiOperationLimit = "OPENAPI_OPERATION_LIMIT";
/** An operation is deprecated, was not asked for by its id, and is left out. */
export const openapiOperationDeprecated = "OPENAPI_OPERATION_DEPRECATED";
/** An operation cannot be called through a toolspec and is left out. */
export const openapiOperationUnfit = "OPENAPI_OPERATION_UNFIT";
/** No server of the document makes a base URL. */
export const openapiServerUnfit = "OPENAPI_SERVER_UNFIT";
/** A server is used in another way than the document writes it. */
export const openapiServerChanged = "OPENAPI_SERVER_CHANGED";
/** A parameter cannot be sent and is left out of its tool. */
export const openapiParameterUnfit = "OPENAPI_PARAMETER_UNFIT";
/** A parameter can be sent in part, or under another name only. */
export const openapiParameterChanged = "OPENAPI_PARAMETER_CHANGED";
/** A request body cannot be sent, or in part only. */
export const openapiBodyUnfit = "OPENAPI_BODY_UNFIT";
/** A value may be of several types, and the tool takes one of them. */
export const openapiTypeNarrowed = "OPENAPI_TYPE_NARROWED";
/** A `$ref` leads nowhere, in a circle, or to a document that cannot be read. */
export const openapiReference = "OPENAPI_REFERENCE";
/** A security scheme cannot be expressed as a credential, or is not the one that was taken. */
export const openapiCredentialUnfit = "OPENAPI_CREDENTIAL_UNFIT";
/** The document declares no credential; an API that needs one must be told of by hand. */
export const openapiCredentialMissing = "OPENAPI_CREDENTIAL_MISSING";
