/** Codes of this package's errors and findings, each with its meaning. */
export const metatoolCodes = {
  METATOOL_NAME_INVALID:
    "A name cannot be a saved tool's: its characters, its length, or what a file system makes of it.",
  METATOOL_NAME_TAKEN: "A name cannot be told from that of a tool that is already saved.",
  METATOOL_NAME_RESERVED: "A name belongs to a tool that is not a saved one.",
  METATOOL_FIELD_INVALID: "A field of a saved tool is missing or of the wrong type.",
  METATOOL_FIELD_TOO_LARGE: "A field of a saved tool is longer than its limit.",
  METATOOL_TOO_MANY_TOOLS: "There are as many saved tools as there may be.",
  METATOOL_CHANGED_MEANWHILE: "A saved tool is not what it was when its caller last saw it.",
  METATOOL_FILE_IN_THE_WAY:
    "A file that is no usable saved tool has the name that a tool would be saved under; it is left alone.",
  METATOOL_FILE_SYNTAX: "The file of a saved tool is not JSON in UTF-8.",
  METATOOL_FILE_VERSION: "The file of a saved tool is of another version of the format.",
  METATOOL_FILE_NAME: "The file of a saved tool is named unlike the tool in it.",
  METATOOL_FILE_TOO_LARGE: "The file of a saved tool is longer than its limit.",
  METATOOL_FILE_UNREADABLE:
    "The file of a saved tool cannot be read: no permission, not a file, or a link that leads elsewhere.",
  METATOOL_COUNTERS_DAMAGED:
    "The execution counters beside the saved tools cannot be read; those in the files of the tools count.",
  METATOOL_DIRECTORY_UNUSABLE: "The directory of saved tools cannot be created or read.",
  METATOOL_UNWRITABLE: "A change could not be written; what was there before still is.",
  METATOOL_NOT_DURABLE:
    "A change was made, but the disk did not confirm that it would survive a power failure.",
  METATOOL_DIRECTORY_BUSY: "Another process has kept the directory of saved tools locked for too long.",
  METATOOL_CLOSED: "The saved tools were used after they were closed.",
  METATOOL_NOT_FOUND: "No saved tool has this name.",
  METATOOL_SCHEMA_INVALID: "The input schema of a saved tool cannot be used.",
  METATOOL_TOOL_UNKNOWN: "A composite calls a tool that there is not, or that its author may not call.",
  METATOOL_ARGUMENT_FORM: "A composite calls a tool with something other than one dict or arguments by name.",
  METATOOL_ARGUMENT_UNKNOWN: "A composite calls a tool with an argument that its input schema does not have.",
  METATOOL_ARGUMENT_MISSING: "A composite calls a tool without an argument that its input schema requires.",
  METATOOL_ARGUMENT_TYPE:
    "A composite calls a tool with an argument of a type or value that its input schema does not allow.",
  METATOOL_NAME_HIDDEN:
    "A composite defines a name that hides a namespace of tools or what every composite has.",
  METATOOL_PARAMETER_UNKNOWN:
    "A composite reads a parameter that its input schema does not have, or that may be absent.",
  METATOOL_RECURSIVE: "A saved tool calls itself, directly or through other saved tools.",
  METATOOL_REPLY_MISSING: "A composite that is answered from a recording makes a call that is not on it.",
  METATOOL_TEST_INVALID:
    "A test case of a saved tool is not one: a member is missing, unknown, of the wrong type or too large.",
  METATOOL_TEST_TOO_LARGE: "A run is too large to be kept as a test case.",
  METATOOL_TEST_NOT_REPEATABLE:
    "A run cannot be kept as a test case, because it would not come to the same again.",
  METATOOL_PACKAGE_INVALID:
    "A folder cannot be imported as a saved tool: a file or a member of it is missing, wrong or not allowed.",
  METATOOL_PACKAGE_EXISTS: "A folder for an export exists already and is not empty.",
  METATOOL_PACKAGE_UNUSABLE: "The folder of an export or import cannot be read or written.",
} as const;

/** A key of `metatoolCodes`. */
export type MetatoolCode = keyof typeof metatoolCodes;
