/** Forms with which the conformance servers ask the user. Data only. */

/** One text. */
export const responseForm = {
  type: "object",
  properties: { response: { type: "string", description: "The user's response" } },
  required: ["response"],
} as const;

/** A default for every primitive type (SEP-1034). */
export const defaultsForm = {
  type: "object",
  properties: {
    name: { type: "string", description: "User name", default: "John Doe" },
    age: { type: "integer", description: "User age", default: 30 },
    score: { type: "number", description: "User score", default: 95.5 },
    status: {
      type: "string",
      description: "User status",
      enum: ["active", "inactive", "pending"],
      default: "active",
    },
    verified: { type: "boolean", description: "Whether the user is verified", default: true },
  },
  required: [],
} as const;

const titledOptions = [
  { const: "value1", title: "First Option" },
  { const: "value2", title: "Second Option" },
  { const: "value3", title: "Third Option" },
] as const;

/** Every form of enumeration (SEP-1330). */
export const enumsForm = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", description: "One option", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", description: "One titled option", oneOf: titledOptions },
    legacyEnum: {
      type: "string",
      description: "One option with the older form of titles",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: {
      type: "array",
      description: "Some options",
      minItems: 1,
      maxItems: 3,
      items: { type: "string", enum: ["option1", "option2", "option3"] },
    },
    titledMulti: {
      type: "array",
      description: "Some titled options",
      minItems: 1,
      maxItems: 3,
      items: { anyOf: titledOptions },
    },
  },
  required: [],
} as const;
