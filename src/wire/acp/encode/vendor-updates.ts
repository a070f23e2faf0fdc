import type { BRIDGE_UPDATES, SESSION_UPDATE_EXTENSIONS } from "./harn-extensions.ts";
import type { Reminder, VendorFields } from "./vendor-fields.ts";

/** A name of the bridge protocol; the commands are ACP's own. */
export type VendorName = Exclude<(typeof BRIDGE_UPDATES)[number], "available_commands_update">;

/** A name that `initialize` advertises: only these are sent. */
export type EmittedName = VendorName & (typeof SESSION_UPDATE_EXTENSIONS)[number];

/** An update that ACP does not know: at its root are its name and `_meta`, and nothing else. */
export interface VendorUpdate<Name extends VendorName = VendorName> {
  readonly sessionUpdate: Name;
  readonly _meta: { readonly harn: object };
}

// One for each name. Each writes the fields of its kind and no others, whatever it is given beside them.
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

/** The one whose fields stand a level deeper. */
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
