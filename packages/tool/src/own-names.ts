/** Names that belong to Toolcrib itself: the namespaces of its own tools and of saved tools, and its meta-tools. */

/** The namespace of Toolcrib's own tools; their names on the wire have no prefix. */
export const ownNamespace = "toolcrib";

/** The namespace of saved tools; their names on the wire have no prefix either. */
export const savedNamespace = "saved";

/** Names of the meta-tools, as they are on the wire. */
export const metaToolNames = {
  search: "search_tools",
  describe: "describe_tool",
  call: "call_tool",
  waiting: "list_waiting_servers",
  readMore: "read_more",
} as const;
