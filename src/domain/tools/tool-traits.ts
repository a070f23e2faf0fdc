/** What a tool does, in the words that rules speak of it. */
export interface ToolTraits {
  readonly kind: ToolKind;
  readonly sideEffect: SideEffect;
  /** Names of the arguments that are paths, or lists of paths. */
  readonly paths?: readonly string[];
  /** Such as `workspace.write_text`. */
  readonly capabilities?: readonly string[];
  /** Who runs it; absent while that is not known. */
  readonly executor?: Executor;
  /** Whether programs that it starts are kept in a sandbox; absent for a tool that starts none, or where nobody said. */
  readonly confined?: boolean;
}

/** `other` counts as writing. */
export const TOOL_KINDS = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "other",
] as const;

export type ToolKind = (typeof TOOL_KINDS)[number];

/** From the least dangerous to the most. */
export const SIDE_EFFECTS = [
  "none",
  "read_only",
  "workspace_write",
  "process_exec",
  "network",
] as const;

export type SideEffect = (typeof SIDE_EFFECTS)[number];

/** A tool of ours, one that a client's machine runs, one of an MCP server, or one that ran where the agent does. */
export type Executor =
  | { readonly type: "builtin" }
  /** `server`: the MCP server that the client's machine has it from, and `tool`, its name there. */
  | { readonly type: "host"; readonly server?: string; readonly tool?: string }
  /** `tool`: its name there, where the model knows it by another. */
  | { readonly type: "mcp"; readonly server: string; readonly tool?: string }
  | { readonly type: "provider" };
