/** Codes of this package's errors, each with its meaning. */
export const toolpackImageCodes = {
  IMAGE_PART_INVALID: "A part of an image is not the one that was recorded, or its archive cannot be read.",
  IMAGE_PATH_CONFLICT: "Two files of an image, or a file and a folder, have the same path.",
  IMAGE_NAME_INVALID: "The reference of an image is not valid.",
  IMAGE_TOOL_NAME_INVALID: "A tool of several services in one image would have a name that is too long.",
  IMAGE_TOOL_NAME_TAKEN: "Two services or tools would have the same name in what is built.",
  IMAGE_SETTING_TAKEN:
    "Two credentials or variables of a bundle would be the same setting or environment variable.",
  IMAGE_VARIABLE_UNSET: "A variable of a URL has no value, or one that a command cannot contain.",
} as const;

/** A key of `toolpackImageCodes`. */
export type ToolpackImageCode = keyof typeof toolpackImageCodes;
