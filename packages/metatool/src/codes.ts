/** A name cannot be a saved tool's: its characters, its length, or what a file system makes of it. */
export const metatoolNameInvalid = "METATOOL_NAME_INVALID";
/** A name cannot be told from that of a tool that is already saved. */
export const metatoolNameTaken = "METATOOL_NAME_TAKEN";
/** A name belongs to a tool that is not a saved one. */
export const metatoolNameReserved = "METATOOL_NAME_RESERVED";
/** A field of a saved tool is missing or of the wrong type. */
export const metatoolFieldInvalid = "METATOOL_FIELD_INVALID";
/** A field of a saved tool is longer than its limit. */
export const metatoolFieldTooLarge = "METATOOL_FIELD_TOO_LARGE";
/** There are as many saved tools as there may be. */
export const metatoolTooManyTools = "METATOOL_TOO_MANY_TOOLS";
/** A saved tool is not what it was when its caller last saw it. */
export const metatoolChangedMeanwhile = "METATOOL_CHANGED_MEANWHILE";
/** A file that is no usable saved tool has the name that a tool would be saved under; it is left alone. */
export const metatoolFileInTheWay = "METATOOL_FILE_IN_THE_WAY";
/** The file of a saved tool is not JSON in UTF-8. */
export const metatoolFileSyntax = "METATOOL_FILE_SYNTAX";
/** The file of a saved tool is of another version of the format. */
export const metatoolFileVersion = "METATOOL_FILE_VERSION";
/** The file of a saved tool is named unlike the tool in it. */
export const metatoolFileName = "METATOOL_FILE_NAME";
/** The file of a saved tool is longer than its limit. */
export const metatoolFileTooLarge = "METATOOL_FILE_TOO_LARGE";
/** The file of a saved tool cannot be read: no permission, not a file, or a link that leads elsewhere. */
export const metatoolFileUnreadable = "METATOOL_FILE_UNREADABLE";
/** The execution counters beside the saved tools cannot be read; those in the files of the tools count. */
export const metatoolCountersDamaged = "METATOOL_COUNTERS_DAMAGED";
/** The directory of saved tools cannot be created or read. */
export const metatoolDirectoryUnusable = "METATOOL_DIRECTORY_UNUSABLE";
/** A change could not be written; what was there before still is. */
export const metatoolUnwritable = "METATOOL_UNWRITABLE";
/** A change was made, but the disk did not confirm that it would survive a power failure. */
export const metatoolNotDurable = "METATOOL_NOT_DURABLE";
/** Another process has kept the directory of saved tools locked for too long. */
export const metatoolDirectoryBusy = "METATOOL_DIRECTORY_BUSY";
/** The saved tools were used after they were closed. */
export const metatoolClosed = "METATOOL_CLOSED";
/** No saved tool has this name. */
export const metatoolNotFound = "METATOOL_NOT_FOUND";
/** The input schema of a saved tool cannot be used. */
export const metatoolSchemaInvalid = "METATOOL_SCHEMA_INVALID";

/** A composite calls a tool that there is not, or that its author may not call. */
export const metatoolToolUnknown = "METATOOL_TOOL_UNKNOWN";
/** A composite calls a tool with something other than one dict or arguments by name. */
export const metatoolArgumentForm = "METATOOL_ARGUMENT_FORM";
/** A composite calls a tool with an argument that its input schema does not have. */
export const metatoolArgumentUnknown = "METATOOL_ARGUMENT_UNKNOWN";
/** A composite calls a tool without an argument that its input schema requires. */
export const metatoolArgumentMissing = "METATOOL_ARGUMENT_MISSING";
/** A composite calls a tool with an argument of a type or value that its input schema does not allow. */
export const metatoolArgumentType = "METATOOL_ARGUMENT_TYPE";
/** A composite defines a name that hides a namespace of tools or what every composite has. */
export const metatoolNameHidden = "METATOOL_NAME_HIDDEN";
/** A composite reads a parameter that its input schema does not have, or that may be absent. */
export const metatoolParameterUnknown = "METATOOL_PARAMETER_UNKNOWN";
/** A saved tool calls itself, directly or through other saved tools. */
export const metatoolRecursive = "METATOOL_RECURSIVE";
/** A composite that is answered from a recording makes a call that is not on it. */
export const metatoolReplyMissing = "METATOOL_REPLY_MISSING";
/** A test case of a saved tool is not one: a member is missing, unknown, of the wrong type or too large. */
export const metatoolTestInvalid = "METATOOL_TEST_INVALID";
/** A run is too large to be kept as a test case. */
export const metatoolTestTooLarge = "METATOOL_TEST_TOO_LARGE";
/** A run cannot be kept as a test case, because it would not come to the same again. */
export const metatoolTestNotRepeatable = "METATOOL_TEST_NOT_REPEATABLE";
/** A folder cannot be imported as a saved tool: a file or a member of it is missing, wrong or not allowed. */
export const metatoolPackageInvalid = "METATOOL_PACKAGE_INVALID";
/** A folder for an export exists already and is not empty. */
export const metatoolPackageExists = "METATOOL_PACKAGE_EXISTS";
/** The folder of an export or import cannot be read or written. */
export const metatoolPackageUnusable = "METATOOL_PACKAGE_UNUSABLE";
