/** All vendor updates of the bridge protocol, sorted, including the updates of live sessions. */
export const BRIDGE_UPDATES = [
  "artifact",
  // ACP defines this update too, and Spanline sends it in ACP's format. Older hosts look for it in this list.
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

/**
 * The vendor updates that this version emits, sorted. `initialize` advertises exactly this list, and no other vendor
 * update is sent.
 */
export const SESSION_UPDATE_EXTENSIONS = [
  "artifact",
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
  "transcript_compacted",
  "transcript_projected",
  "worker_update",
] as const satisfies readonly (typeof BRIDGE_UPDATES)[number][];

/** The extension fields under `_meta.harn` of `tool_call` and `tool_call_update`. No other update has these fields. */
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

/** The extension fields under `content._meta.harn` of `agent_message_chunk`. */
const CONTENT_FIELDS = ["visible_delta", "visible_text"] as const;

/** Encodes the bridge capabilities for `initialize`: the contract version and the supported extensions. */
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
