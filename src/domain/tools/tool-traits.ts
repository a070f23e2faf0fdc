/** Properties of a tool which rules can match. */
export interface ToolTraits {
  readonly kind: ToolKind;
  readonly sideEffect: SideEffect;
  /** Names of arguments which are paths or lists of paths. */
  readonly paths?: readonly string[];
  /** Such as `workspace.write_text`. */
  readonly capabilities?: readonly string[];
  /** Absent while unknown. */
  readonly executor?: Executor;
  /** Whether started programs run in a sandbox. Absent if the tool starts none, or if unknown. */
  readonly confined?: boolean;
}

/** `other` is treated as writing. */
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

/** From the least to the most dangerous. */
export const SIDE_EFFECTS = [
  "none",
  "read_only",
  "workspace_write",
  "process_exec",
  "network",
] as const;

export type SideEffect = (typeof SIDE_EFFECTS)[number];

/** A built-in tool, a tool of a client's machine, a tool of an MCP server, or a tool which runs at the provider. */
export type Executor =
  | { readonly type: "builtin" }
  /** `server`: the MCP server from which the client's machine has the tool; `tool`: its name there. */
  | { readonly type: "host"; readonly server?: string; readonly tool?: string }
  /** `tool`: the name at the server. Absent if the model uses the same name. */
  | { readonly type: "mcp"; readonly server: string; readonly tool?: string }
  | { readonly type: "provider" };
