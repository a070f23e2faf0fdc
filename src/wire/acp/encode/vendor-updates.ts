import type { BRIDGE_UPDATES, SESSION_UPDATE_EXTENSIONS } from "./harn-extensions.ts";
import type { Reminder, VendorFields } from "./vendor-fields.ts";

/** The name of a vendor update. `available_commands_update` is excluded, because ACP defines it. */
export type VendorName = Exclude<(typeof BRIDGE_UPDATES)[number], "available_commands_update">;

/** A vendor update that `initialize` advertises. No other vendor update is sent. */
export type EmittedName = VendorName & (typeof SESSION_UPDATE_EXTENSIONS)[number];

/** An update outside ACP. Its root has only `sessionUpdate` and `_meta`. */
export interface VendorUpdate<Name extends VendorName = VendorName> {
  readonly sessionUpdate: Name;
  readonly _meta: { readonly harn: object };
}

// There is an encoder for each name. It writes exactly the listed fields and drops any others.
export const encodeArtifact = createVendorEncoder("artifact", [
  "artifactId",
  "kind",
  "title",
  "mimeType",
  "spec",
  "fallback",
  "sizeBytes",
  "provenance",
  "metadata",
]);
export const encodeProgress = createVendorEncoder("progress", [
  "phase",
  "message",
  "progress",
  "total",
  "data",
]);
export const encodeLog = createVendorEncoder("log", ["level", "message", "fields"]);
export const encodeFsWatch = createVendorEncoder("fs_watch", ["subscriptionId", "events"]);
export const encodeWorkerUpdate = createVendorEncoder("worker_update", [
  "workerId",
  "workerName",
  "workerTask",
  "workerMode",
  "event",
  "status",
  "terminal",
  "metadata",
  "audit",
]);
export const encodeTranscriptCompacted = createVendorEncoder("transcript_compacted", [
  "mode",
  "reason",
  "strategy",
  "archivedMessages",
  "estimatedTokensBefore",
  "estimatedTokensAfter",
  "snapshotAssetId",
  "instructionMode",
  "instructionSource",
  "compactionPolicy",
]);
export const encodeTranscriptProjected = createVendorEncoder("transcript_projected", [
  "policy",
  "reason",
  "prefixHash",
  "keptCount",
  "droppedCount",
  "providerSafetyBlocked",
  "redactedCount",
  "reclaimedTokens",
  "rootsConsulted",
  "redactionPointers",
]);
export const encodeHandoff = createVendorEncoder("handoff", ["handoffId", "artifactId", "handoff"]);
export const encodeSkillActivated = createVendorEncoder("skill_activated", [
  "skillName",
  "iteration",
  "reason",
]);
export const encodeSkillDeactivated = createVendorEncoder("skill_deactivated", [
  "skillName",
  "iteration",
]);
export const encodeSkillScopeTools = createVendorEncoder("skill_scope_tools", [
  "skillName",
  "allowedTools",
]);
export const encodeSkillNarrow = createVendorEncoder("skill_narrow", [
  "reason",
  "removedTools",
  "remainingTools",
  "policy",
  "removedToolDetails",
  "keptToolDetails",
]);
export const encodeToolSearchQuery = createVendorEncoder("tool_search_query", [
  "toolUseId",
  "name",
  "query",
  "strategy",
  "mode",
]);
export const encodeToolSearchResult = createVendorEncoder("tool_search_result", [
  "toolUseId",
  "promoted",
  "strategy",
  "mode",
]);
export const encodeHitlRequest = createVendorEncoder("hitl_request", [
  "requestId",
  "kind",
  "payload",
]);
export const encodeHitlResolved = createVendorEncoder("hitl_resolved", [
  "requestId",
  "kind",
  "outcome",
]);
export const encodeLiveSessionClient = createVendorEncoder("live_session_client", [
  "action",
  "clientId",
  "reason",
  "state",
]);
export const encodeLiveSessionPermissionRoute = createVendorEncoder(
  "live_session_permission_route",
  ["requestId", "toolCallId", "client", "metadata"],
);

const REMINDER_FIELDS = [
  "reminderId",
  "tags",
  "body",
  "roleHint",
  "renderedRole",
  "source",
  "ttlTurns",
] as const satisfies readonly (keyof Reminder)[];

/** Encodes a reminder, whose fields are nested under `reminder`. */
export function encodeReminderEmitted(reminder: Reminder): VendorUpdate<"reminder_emitted"> {
  return {
    sessionUpdate: "reminder_emitted",
    _meta: { harn: { reminder: pickFields(reminder, REMINDER_FIELDS) } },
  };
}

function createVendorEncoder<Name extends VendorName>(
  sessionUpdate: Name,
  names: readonly (keyof VendorFields[Name] & string)[],
): (fields: VendorFields[Name]) => VendorUpdate<Name> {
  return (fields) => ({ sessionUpdate, _meta: { harn: pickFields(fields, names) } });
}

function pickFields<Fields extends object>(
  fields: Fields,
  names: readonly (keyof Fields & string)[],
): object {
  const present = names.filter((name) => fields[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, fields[name]]));
}
