import type { TextRule } from "./constraints.ts";

/** Names and ids of tools and calls. */
export const TOOL_NAME: TextRule = { least: 1, most: 64, pattern: "[a-zA-Z0-9_-]+" };

/** An entry of `allowedTools`: a tool, a server's tool, or all of them. */
export const ALLOWED_TOOL: TextRule = {
  least: 1,
  most: 64,
  pattern: "(\\*|@?[^/]+(/[^/]+)?)",
};
