/** A toolspec is longer than 1 MiB. */
export const toolspecFileTooLarge = "TOOLSPEC_FILE_TOO_LARGE";
/** A toolspec is neither readable YAML nor readable JSON. */
export const toolspecSyntax = "TOOLSPEC_SYNTAX";
/** A toolspec nests too deep, or its aliases expand to too many values. */
export const toolspecTooComplex = "TOOLSPEC_TOO_COMPLEX";
/** A field is given twice in one map of a toolspec. */
export const toolspecDuplicateKey = "TOOLSPEC_DUPLICATE_KEY";
/** A field that toolspecs do not have. */
export const toolspecUnknownField = "TOOLSPEC_UNKNOWN_FIELD";
/** A field that a toolspec must have is not there. */
export const toolspecFieldRequired = "TOOLSPEC_FIELD_REQUIRED";
/** A value of a toolspec has the wrong type. */
export const toolspecWrongType = "TOOLSPEC_WRONG_TYPE";
/** A value of a toolspec is outside what its field allows. */
export const toolspecValueInvalid = "TOOLSPEC_VALUE_INVALID";
/** A text without quotes means something else to YAML 1.1 readers of a toolspec. */
export const toolspecBareWord = "TOOLSPEC_BARE_WORD";

/** The schemaVersion of a toolspec is none that this version reads. */
export const toolspecSchemaVersion = "TOOLSPEC_SCHEMA_VERSION";
/** A field of schemaVersion 2 stands in a toolspec of schemaVersion 1. */
export const toolspecNeedsVersion2 = "TOOLSPEC_NEEDS_VERSION_2";
/** The name of a toolspec is not lower-case letters, digits and inner hyphens. */
export const toolspecNameInvalid = "TOOLSPEC_NAME_INVALID";
/** The version of a toolspec is not MAJOR.MINOR.PATCH. */
export const toolspecVersionInvalid = "TOOLSPEC_VERSION_INVALID";
/** A base URL is not https:// and a host and nothing else. */
export const toolspecBaseUrlInvalid = "TOOLSPEC_BASE_URL_INVALID";
/** The format of auth has no place for the token. */
export const toolspecAuthFormat = "TOOLSPEC_AUTH_FORMAT";
/** The header of auth is none that can carry a credential. */
export const toolspecAuthHeader = "TOOLSPEC_AUTH_HEADER";
/** A toolspec has no tools. */
export const toolspecToolsEmpty = "TOOLSPEC_TOOLS_EMPTY";
/** Two tools of a toolspec have the same name. */
export const toolspecToolDuplicate = "TOOLSPEC_TOOL_DUPLICATE";
/** The name of a tool holds what no name can hold, or is too long. */
export const toolspecToolNameInvalid = "TOOLSPEC_TOOL_NAME_INVALID";
/** The name of a tool has characters that MCP clients may refuse. */
export const toolspecToolNameUnfit = "TOOLSPEC_TOOL_NAME_UNFIT";
/** The method of a tool is not GET, POST, PUT, PATCH or DELETE. */
export const toolspecMethodInvalid = "TOOLSPEC_METHOD_INVALID";
/** A path is not absolute, or holds what a path cannot hold. */
export const toolspecPathInvalid = "TOOLSPEC_PATH_INVALID";
/** The body encoding of a tool is unknown. */
export const toolspecEncodingInvalid = "TOOLSPEC_ENCODING_INVALID";
/** Two parameters of a tool have the same name. */
export const toolspecParamDuplicate = "TOOLSPEC_PARAM_DUPLICATE";
/** A parameter is sent to none of path, query, body and header. */
export const toolspecParamInInvalid = "TOOLSPEC_PARAM_IN_INVALID";
/** The type of a parameter is unknown. */
export const toolspecParamTypeInvalid = "TOOLSPEC_PARAM_TYPE_INVALID";
/** A path parameter is not required. */
export const toolspecPathParamOptional = "TOOLSPEC_PATH_PARAM_OPTIONAL";
/** A placeholder of a path has no parameter with in: path. */
export const toolspecPathParamMissing = "TOOLSPEC_PATH_PARAM_MISSING";
/** A path parameter has no placeholder in the path. */
export const toolspecPathParamUnused = "TOOLSPEC_PATH_PARAM_UNUSED";
/** A body parameter belongs to a method that has no body. */
export const toolspecBodyNotAllowed = "TOOLSPEC_BODY_NOT_ALLOWED";
/** The name of a header parameter is no header name. */
export const toolspecHeaderInvalid = "TOOLSPEC_HEADER_INVALID";
/** A header parameter is one that only the client itself may set. */
export const toolspecHeaderForbidden = "TOOLSPEC_HEADER_FORBIDDEN";
/** Two header parameters differ in case only. */
export const toolspecHeaderDuplicate = "TOOLSPEC_HEADER_DUPLICATE";
/** A header parameter is the header of the credential. */
export const toolspecHeaderCollides = "TOOLSPEC_HEADER_COLLIDES";

/** A query parameter is that of the credential. */
export const toolspecQueryCollides = "TOOLSPEC_QUERY_COLLIDES";

/** A variable of a base URL is not declared, a declared one is not used, or its default cannot stand where it is used. */
export const toolspecVariableInvalid = "TOOLSPEC_VARIABLE_INVALID";
/** A style does not fit the parameter that has it. */
export const toolspecStyleInvalid = "TOOLSPEC_STYLE_INVALID";
/** The parameters of a body do not fit its encoding. */
export const toolspecBodyInvalid = "TOOLSPEC_BODY_INVALID";
/** The pagination of a tool names a parameter that cannot page. */
export const toolspecPaginationInvalid = "TOOLSPEC_PAGINATION_INVALID";
/** A JSONPath cannot be read, or uses what has no bounds. */
export const toolspecJsonPathInvalid = "TOOLSPEC_JSON_PATH_INVALID";
/** The arguments of an example do not make the request that it expects. */
export const toolspecExampleFails = "TOOLSPEC_EXAMPLE_FAILS";

/** A toolspec has no manifest. */
export const toolspecManifestMissing = "TOOLSPEC_MANIFEST_MISSING";
/** The name of a toolspec is not that of its manifest. */
export const toolspecNameMismatch = "TOOLSPEC_NAME_MISMATCH";
/** The version of a toolspec is not that of its manifest. */
export const toolspecVersionMismatch = "TOOLSPEC_VERSION_MISMATCH";
/** A tool of the manifest is not in the toolspec. */
export const toolspecToolMissing = "TOOLSPEC_TOOL_MISSING";
/** A tool of the toolspec is not in the manifest. */
export const toolspecToolUndeclared = "TOOLSPEC_TOOL_UNDECLARED";
/** The host of a base URL is not in the egress list of the manifest. */
export const toolspecHostNotAllowed = "TOOLSPEC_HOST_NOT_ALLOWED";
/** A manifest of the entrusted tier has credentials, and the toolspec has no auth. */
export const toolspecAuthRequired = "TOOLSPEC_AUTH_REQUIRED";
/** A manifest is of the sealed tier, and the toolspec has auth. */
export const toolspecAuthForbidden = "TOOLSPEC_AUTH_FORBIDDEN";
/** A toolspec has auth, and its manifest no credential. */
export const toolspecAuthUnused = "TOOLSPEC_AUTH_UNUSED";
/** A toolspec says another name or version than its path. */
export const toolspecFileMisplaced = "TOOLSPEC_FILE_MISPLACED";
/** Two files are the toolspec of the same name and version. */
export const toolspecFileDuplicate = "TOOLSPEC_FILE_DUPLICATE";

/** A manifest is longer than 1 MiB. */
export const manifestFileTooLarge = "MANIFEST_FILE_TOO_LARGE";
/** A manifest is neither readable YAML nor readable JSON. */
export const manifestSyntax = "MANIFEST_SYNTAX";
/** A manifest nests too deep, or its aliases expand to too many values. */
export const manifestTooComplex = "MANIFEST_TOO_COMPLEX";
/** A field is given twice in one map of a manifest. */
export const manifestDuplicateKey = "MANIFEST_DUPLICATE_KEY";
/** A field that manifests do not have. */
export const manifestUnknownField = "MANIFEST_UNKNOWN_FIELD";
/** A field that a manifest must have is not there. */
export const manifestFieldRequired = "MANIFEST_FIELD_REQUIRED";
/** A value of a manifest has the wrong type. */
export const manifestWrongType = "MANIFEST_WRONG_TYPE";
/** A value of a manifest is outside what its field allows. */
export const manifestValueInvalid = "MANIFEST_VALUE_INVALID";
/** A text without quotes means something else to YAML 1.1 readers of a manifest. */
export const manifestBareWord = "MANIFEST_BARE_WORD";

/** The schemaVersion of a manifest is none that this version reads. */
export const manifestSchemaVersion = "MANIFEST_SCHEMA_VERSION";
/** A field of schemaVersion 2 stands in a manifest of schemaVersion 1. */
export const manifestNeedsVersion2 = "MANIFEST_NEEDS_VERSION_2";
/** The name of a manifest is not lower-case letters, digits and inner hyphens. */
export const manifestNameInvalid = "MANIFEST_NAME_INVALID";
/** The version of a manifest is not MAJOR.MINOR.PATCH. */
export const manifestVersionInvalid = "MANIFEST_VERSION_INVALID";
/** The source package of a manifest is not a folder within the repository. */
export const manifestPackageInvalid = "MANIFEST_PACKAGE_INVALID";
/** The digest of an image is not sha256: and 64 hexadecimal digits. */
export const manifestDigestInvalid = "MANIFEST_DIGEST_INVALID";
/** The entrypoint of an image is not an absolute path. */
export const manifestEntrypointInvalid = "MANIFEST_ENTRYPOINT_INVALID";
/** The builder of an image is unknown. */
export const manifestBuilderInvalid = "MANIFEST_BUILDER_INVALID";
/** The tier of a manifest is neither sealed nor entrusted. */
export const manifestTierInvalid = "MANIFEST_TIER_INVALID";
/** An entry of an egress list is no host pattern. */
export const manifestEgressInvalid = "MANIFEST_EGRESS_INVALID";
/** An entry of an egress list is on the denylist. */
export const manifestEgressDenied = "MANIFEST_EGRESS_DENIED";
/** Two credentials of a manifest have the same id. */
export const manifestCredentialDuplicate = "MANIFEST_CREDENTIAL_DUPLICATE";
/** The type of a credential is unknown. */
export const manifestCredentialTypeInvalid = "MANIFEST_CREDENTIAL_TYPE_INVALID";
/** A credential of the sealed tier needs a place (inject.header with inject.format, in schemaVersion 2 also inject.query or inject.pathPrefix), and no inject.env. */
export const manifestInjectSealed = "MANIFEST_INJECT_SEALED";
/** A credential of the entrusted tier needs inject.env and nothing else. */
export const manifestInjectEntrusted = "MANIFEST_INJECT_ENTRUSTED";
/** The format of a credential has no place for the token. */
export const manifestInjectFormat = "MANIFEST_INJECT_FORMAT";
/** The header of a credential is none that can carry one. */
export const manifestInjectHeader = "MANIFEST_INJECT_HEADER";
/** A credential has more than one place, or a format where its place has none. */
export const manifestInjectPlace = "MANIFEST_INJECT_PLACE";
/** The path prefix of a credential is not absolute, or is no path with one token. */
export const manifestInjectPathPrefix = "MANIFEST_INJECT_PATH_PREFIX";
/** The environment variable of a credential has no valid name. */
export const manifestInjectEnv = "MANIFEST_INJECT_ENV";
/** Two credentials of a manifest are sent in the same place. */
export const manifestInjectCollides = "MANIFEST_INJECT_COLLIDES";
/** A credential of type oauth2 has no vendor. */
export const manifestVendorRequired = "MANIFEST_VENDOR_REQUIRED";
/** The vendor of a credential is not lower-case letters, digits and inner hyphens. */
export const manifestVendorInvalid = "MANIFEST_VENDOR_INVALID";
/** Two tools of a manifest have the same name. */
export const manifestToolDuplicate = "MANIFEST_TOOL_DUPLICATE";
/** The category of a manifest is none of the list. */
export const manifestCategoryInvalid = "MANIFEST_CATEGORY_INVALID";
/** A manifest says another name or version than its path. */
export const manifestFileMisplaced = "MANIFEST_FILE_MISPLACED";
/** Two files are the manifest of the same name and version. */
export const manifestFileDuplicate = "MANIFEST_FILE_DUPLICATE";
/** A manifest with builder: toolpack has no toolspec. */
export const manifestToolspecMissing = "MANIFEST_TOOLSPEC_MISSING";

/** The arguments of a call do not fit the parameters of the tool. */
export const toolspecArgumentInvalid = "TOOLSPEC_ARGUMENT_INVALID";
/** A value would change the path, the origin or the headers of the request. */
export const toolspecValueHostile = "TOOLSPEC_VALUE_HOSTILE";
/** The request would be larger than allowed. */
export const toolspecRequestTooLarge = "TOOLSPEC_REQUEST_TOO_LARGE";
/** A variable of the base URL or path has no value, or one that makes no allowed host or cannot stand in a path. */
export const toolspecVariableUnset = "TOOLSPEC_VARIABLE_UNSET";
/** A credential has a value that its place in the request cannot carry. */
export const toolspecCredentialUnfit = "TOOLSPEC_CREDENTIAL_UNFIT";
/** The host of the request is not in the egress list. */
export const toolspecEgressDenied = "TOOLSPEC_EGRESS_DENIED";
