/** Every update of the bridge protocol beside ACP's own, sorted, and those of live sessions. */
export const BRIDGE_UPDATES = [
  "artifact",
  // ACP defines it by now, and it is sent as ACP defines it; older hosts look for it here.
  "available_commands_update",
  "fs_watch",
  "handoff",
  "hitl_request",
  "hitl_resolved",
  "live_session_client",
  "live_session_permission_route",
  "log",
  "progress",
  "reminder_emitted",
  "skill_activated",
  "skill_deactivated",
  "skill_narrow",
  "skill_scope_tools",
  "tool_search_query",
  "tool_search_result",
  "transcript_compacted",
  "transcript_projected",
  "worker_update",
] as const;

/** The updates that this version emits, sorted. `initialize` advertises these, and no other is sent. */
export const SESSION_UPDATE_EXTENSIONS = [
  "available_commands_update",
  "hitl_request",
  "hitl_resolved",
  "live_session_client",
  "live_session_permission_route",
  "log",
  "progress",
] as const satisfies readonly (typeof BRIDGE_UPDATES)[number][];

/** What stands under `_meta.harn` of `tool_call` and `tool_call_update`, and nowhere else. */
export const TOOL_LIFECYCLE_FIELDS = [
  "audit",
  "durationMs",
  "error",
  "errorCategory",
  "executionDurationMs",
  "executor",
  "parsing",
  "rawInputPartial",
] as const;

/** What stands under `content._meta.harn` of `agent_message_chunk`. */
const CONTENT_FIELDS = ["visible_delta", "visible_text"] as const;

/** The block of `initialize` by which a host knows what it can expect, and by which contract. */
export function encodeHarnCapabilities(): { readonly harn: object } {
  return {
    harn: {
      schemaCompatibility: "agentclientprotocol/agent-client-protocol schema v0.12.2",
      extensionContract: "Harn ACP/MCP extensions v1",
      sessionUpdateExtensions: SESSION_UPDATE_EXTENSIONS,
      toolLifecycleExtensionFields: TOOL_LIFECYCLE_FIELDS,
      contentExtensionFields: CONTENT_FIELDS,
      repeatablePrompts: true,
    },
  };
}
