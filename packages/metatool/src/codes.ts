/** Codes of this package's errors and findings, each with its meaning. */
export const metatoolCodes = {
  METATOOL_NAME_INVALID:
    "The name is not valid for a saved tool: its characters, its length, or its meaning to a file system.",
  METATOOL_NAME_TAKEN: "The name is confusable with that of an existing saved tool.",
  METATOOL_NOT_OWNER: "A client tried to replace or delete a saved tool of another owner.",
  METATOOL_NAME_RESERVED: "The name belongs to a tool that is not a saved tool.",
  METATOOL_FIELD_INVALID: "A field of a saved tool is missing or of the wrong type.",
  METATOOL_FIELD_TOO_LARGE: "A field of a saved tool exceeds its limit.",
  METATOOL_TOO_MANY_TOOLS: "The number of saved tools is at its maximum.",
  METATOOL_CHANGED_MEANWHILE: "A saved tool was changed after its caller read it.",
  METATOOL_FILE_IN_THE_WAY:
    "A file that is not a usable saved tool has the file name of the tool. It is left alone.",
  METATOOL_FILE_SYNTAX: "The file of a saved tool is not JSON in UTF-8.",
  METATOOL_FILE_VERSION: "The file of a saved tool has an unsupported format version.",
  METATOOL_FILE_NAME: "The name of the file differs from that of the saved tool in it.",
  METATOOL_FILE_TOO_LARGE: "The file of a saved tool exceeds its limit.",
  METATOOL_FILE_UNREADABLE:
    "The file of a saved tool cannot be read: no permission, not a file, or a link to a place outside the directory.",
  METATOOL_COUNTERS_DAMAGED:
    "The file of execution counters cannot be read. The counters in the files of the tools are used.",
  METATOOL_DIRECTORY_UNUSABLE: "The directory of saved tools cannot be created or read.",
  METATOOL_UNWRITABLE: "A change could not be written. The old state is in place.",
  METATOOL_NOT_DURABLE: "A change was made, but the disk did not confirm it. A power failure may undo it.",
  METATOOL_DIRECTORY_BUSY: "Another process has locked the directory of saved tools for too long.",
  METATOOL_CLOSED: "The saved tools were used after they were closed.",
  METATOOL_NOT_FOUND: "No saved tool has this name.",
  METATOOL_SCHEMA_INVALID: "The input schema of a saved tool cannot be used.",
  METATOOL_TOOL_UNKNOWN: "A composite calls a tool that does not exist, or that its author may not call.",
  METATOOL_TOOL_UNUSED: "A package declares a tool that its program does not name.",
  METATOOL_ARGUMENT_FORM: "A composite calls a tool with something other than one dict or arguments by name.",
  METATOOL_ARGUMENT_UNKNOWN: "A composite calls a tool with an argument that its input schema does not have.",
  METATOOL_ARGUMENT_MISSING: "A composite calls a tool without an argument that its input schema requires.",
  METATOOL_ARGUMENT_TYPE:
    "A composite calls a tool with an argument of a type or value that its input schema does not allow.",
  METATOOL_NAME_HIDDEN: "A composite defines a name that hides a namespace of tools or a predeclared name.",
  METATOOL_PARAMETER_UNKNOWN:
    "A composite reads a parameter that its input schema does not have, or that may be absent.",
  METATOOL_RECURSIVE: "A saved tool calls itself, directly or through other saved tools.",
  METATOOL_REPLY_MISSING:
    "A composite that runs against a recording makes an inner call that the recording does not have.",
  METATOOL_MEMORY_BUSY:
    "Running composites use all of their shared memory. A new composite waited for some, and was refused.",
  METATOOL_TEST_INVALID:
    "A test case of a saved tool is invalid: a member is missing, unknown, of the wrong type or too large.",
  METATOOL_TEST_TOO_LARGE: "A run is too large for a test case.",
  METATOOL_TEST_NOT_REPEATABLE:
    "A run cannot become a test case, because its replay has a different outcome.",
} as const;

/** A key of `metatoolCodes`. */
export type MetatoolCode = keyof typeof metatoolCodes;
