import type { JsonObject, JsonValue } from "../../../data/json.ts";

/** The fields of each vendor update. All fields are present; unknown values are null. */
export interface VendorFields {
  readonly artifact: {
    readonly artifactId: string;
    readonly kind: string;
    readonly title: string | null;
    readonly mimeType: string;
    readonly spec: JsonValue;
    readonly fallback: string;
    readonly sizeBytes: number;
    readonly provenance: object;
    readonly metadata: object;
  };
  readonly progress: {
    readonly phase: string;
    readonly message: string;
    readonly progress: number | null;
    readonly total: number | null;
    readonly data: JsonObject | null;
  };
  readonly log: {
    readonly level: "debug" | "info" | "warn" | "error";
    readonly message: string;
    readonly fields: JsonObject;
  };
  readonly fs_watch: {
    readonly subscriptionId: string;
    readonly events: readonly JsonObject[];
  };
  readonly worker_update: {
    readonly workerId: string;
    readonly workerName: string;
    readonly workerTask: string;
    readonly workerMode: string;
    readonly event: string;
    readonly status: string;
    readonly terminal: boolean;
    readonly metadata: JsonObject;
    /** Absent without a mutation scope. */
    readonly audit?: object;
  };
  readonly transcript_compacted: {
    readonly mode: string;
    readonly reason: string;
    readonly strategy: string;
    readonly archivedMessages: number;
    readonly estimatedTokensBefore: number | null;
    readonly estimatedTokensAfter: number | null;
    readonly snapshotAssetId: string | null;
    readonly instructionMode: string | null;
    readonly instructionSource: string | null;
    readonly compactionPolicy: JsonValue;
  };
  readonly transcript_projected: {
    readonly policy: string;
    readonly reason: string;
    readonly prefixHash: string;
    readonly keptCount: number;
    readonly droppedCount: number;
    readonly providerSafetyBlocked: boolean;
    readonly redactedCount: number;
    readonly reclaimedTokens: number;
    readonly rootsConsulted: JsonValue;
    readonly redactionPointers: readonly JsonValue[];
  };
  readonly handoff: {
    readonly handoffId: string;
    readonly artifactId: string;
    readonly handoff: object;
  };
  readonly skill_activated: {
    readonly skillName: string;
    readonly iteration: number;
    readonly reason: string;
  };
  readonly skill_deactivated: {
    readonly skillName: string;
    readonly iteration: number;
  };
  readonly skill_scope_tools: {
    readonly skillName: string;
    readonly allowedTools: readonly string[];
  };
  readonly skill_narrow: {
    readonly reason: string;
    readonly removedTools: readonly string[];
    readonly remainingTools: readonly string[];
    readonly policy: JsonValue;
    readonly removedToolDetails: readonly JsonObject[];
    readonly keptToolDetails: readonly JsonObject[];
  };
  readonly tool_search_query: {
    readonly toolUseId: string;
    readonly name: string;
    readonly query: JsonValue;
    readonly strategy: string;
    readonly mode: string;
  };
  readonly tool_search_result: {
    readonly toolUseId: string;
    readonly promoted: readonly string[];
    readonly strategy: string;
    readonly mode: string;
  };
  readonly hitl_request: {
    readonly requestId: string;
    readonly kind: string;
    readonly payload: { readonly [name: string]: unknown };
  };
  readonly hitl_resolved: {
    readonly requestId: string;
    readonly kind: string;
    readonly outcome: string;
  };
  readonly reminder_emitted: { readonly reminder: Reminder };
  readonly live_session_client: {
    readonly action: "attached" | "takeover" | "detached" | "heartbeat";
    /** The client that the change is about, also after its detach. */
    readonly clientId: string;
    /** The reason of a detach. Absent for other changes. */
    readonly reason?: string;
    readonly state: LiveClients;
  };
  readonly live_session_permission_route: {
    /** The id of the permission request, as in `hitl_request`. */
    readonly requestId: string;
    /** `approvalRequest.id` of the permission request. */
    readonly toolCallId: string;
    /** The controller to which the request is routed. */
    readonly client: LiveClient;
    /** The metadata of the controller's host. */
    readonly metadata: JsonObject;
  };
}

export interface Reminder {
  readonly reminderId: string;
  readonly tags: readonly string[];
  readonly body: string;
  readonly roleHint: string | null;
  /** The role that the model received, whatever the hint. */
  readonly renderedRole: string;
  readonly source: string;
  readonly ttlTurns: number | null;
}

/** The clients of a session. */
export interface LiveClients {
  /** The client that the change is about. Null after its detach. */
  readonly client: LiveClient | null;
  readonly previous_controller_id: string | null;
  readonly active_controller_id: string | null;
  readonly clients: readonly LiveClient[];
}

export interface LiveClient {
  readonly client_id: string;
  readonly mode: "controller" | "observer";
  /** Seconds since 1970, as a string. */
  readonly attached_at: string;
  readonly last_seen_at: string;
  readonly prompt_injection: boolean;
  readonly permission_routing: boolean;
  readonly metadata: object;
}
