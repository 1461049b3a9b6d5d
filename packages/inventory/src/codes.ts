/** Codes of this package's errors and findings, each with its meaning. */
export const inventoryCodes = {
  TOOL_NAME_COLLISION: "A tool's name is too similar to that of a tool declared before it.",
  TOOL_DEFINITION_INVALID:
    "The definition of a tool, resource, template or prompt breaks the protocol, so it is not listed.",
} as const;

/** A key of `inventoryCodes`. */
export type InventoryCode = keyof typeof inventoryCodes;
