#!/usr/bin/env node
// `mcp-metatool`, as MCP clients are told to start it: the command `metatool`.
// Plain JavaScript that any Node can read, as `toolcrib.js` is.

process.argv.splice(2, 0, "metatool");
await import("./toolcrib.js");
