import { isObject, type JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { ToolRule } from "../../domain/tools/tool-rule.ts";
import type {
  ActionResult,
  ApprovalChoice,
  OutgoingMessage,
  OutgoingReminder,
  SessionActions,
} from "../state/session-actions.ts";
import type { ApiClient } from "./api-client.ts";
import type { LiveApiClient } from "./live-api-client.ts";

export interface SessionApiOptions {
  readonly api: ApiClient;
  readonly live: Pick<LiveApiClient, "attach">;
  /** The name of this page among the clients of a session, such as `Firefox on Linux`. */
  readonly clientName: string;
}

/** The commands of one session, over HTTP. */
export function createSessionActions(
  sessionId: string,
  { api, live, clientName: name }: SessionApiOptions,
): SessionActions {
  const path = `/api/sessions/${encodeURIComponent(sessionId)}`;
  const command = async (body: JsonObject): Promise<ActionResult> =>
    dropValue(await api.request({ method: "POST", path: `${path}/commands`, body }));
  return {
    prompt: (message) => command({ type: "prompt", ...encodeMessage(message) }),
    inject: (mode, message) => command({ type: "inject", mode, ...encodeMessage(message) }),
    replaceMessage: (messageId, message) =>
      command({ type: "replace-inject", messageId, ...encodeMessage(message) }),
    revokeMessage: (messageId) => command({ type: "revoke-inject", messageId }),
    withdrawPrompt: (promptId) => command({ type: "withdraw", promptId }),
    remind: (reminder) => command({ type: "remind", reminder: encodeReminder(reminder) }),
    revokeReminder: (reminderId) => command({ type: "revoke-reminder", reminderId }),
    decide: (approvalId, choice) =>
      command({ type: "answer", approvalId, ...encodeChoice(choice) }),
    cancel: (turnId) => command({ type: "cancel", turnId }),
    cancelToolCall: async (toolCallId) =>
      readCancelOutcome(
        await api.request({
          method: "POST",
          path: `${path}/commands`,
          body: { type: "cancel-tool-call", toolCallId },
        }),
      ),
    compact: (options = {}) => command({ type: "compact", ...options }),
    listTools: async () =>
      readToolRules(await api.request({ method: "GET", path: `${path}/tools` })),
    delegate: (task, agent) => command({ type: "delegate", task, ...omitUndefined({ agent }) }),
    closeWorker: (workerId) => command({ type: "close-worker", workerId }),
    triggerWorker: (workerId, payload) => command({ type: "trigger-worker", workerId, payload }),
    setMode: (mode) => command({ type: "configure", mode }),
    revokeGrant: (grantId) => command({ type: "revoke", grantId }),
    rename: (title) => command({ type: "rename", title }),
    takeControl: () => live.attach(sessionId, { name, mode: "controller", takeOver: true }),
    releaseControl: () => live.attach(sessionId, { name, mode: "observer" }),
    fork: async (through) =>
      readSessionId(await api.request({ method: "POST", path: `${path}/fork`, body: { through } })),
    remove: async () => dropValue(await api.request({ method: "DELETE", path })),
    exportUrl: `${path}/export`,
    artifactUrl: (artifactId) => `${path}/artifacts/${encodeURIComponent(artifactId)}`,
    blobUrl: (blobId) => `${path}/blobs/${encodeURIComponent(blobId)}`,
  };
}

export interface NewSession {
  readonly agent?: string;
  readonly title?: string;
}

/** Opens a session. Resolves with its id. */
export async function openSession(
  api: ApiClient,
  session: NewSession,
): Promise<ActionResult<string>> {
  const body = { ...omitUndefined({ agent: session.agent, title: session.title }) };
  return readSessionId(await api.request({ method: "POST", path: "/api/sessions", body }));
}

function encodeMessage({ text, images }: OutgoingMessage): JsonObject {
  if (images === undefined || images.length === 0) return { text };
  return { text, images: images.map(({ name, mediaType, data }) => ({ name, mediaType, data })) };
}

function encodeReminder({ body, mode, tags, dedupeKey }: OutgoingReminder): JsonObject {
  return { body, mode, dedupe_key: dedupeKey, ...(tags !== undefined && { tags: [...tags] }) };
}

function encodeChoice({ decision, answer, input, reason }: ApprovalChoice): JsonObject {
  return { ...omitUndefined({ decision, answer, input, reason }) };
}

function dropValue(result: ActionResult<unknown>): ActionResult {
  return result.ok ? { ok: true, value: undefined } : result;
}

/** The bridge accepts the cancellation of any tool call, and reports whether a running call was found. */
function readCancelOutcome(result: ActionResult<unknown>): ActionResult {
  const status = result.ok && isObject(result.value) ? result.value["toolCallStatus"] : undefined;
  if (status !== "not_found") return dropValue(result);
  const message = "The tool call has ended, or only the client which runs it can stop it";
  return { ok: false, error: { code: "not_found", message } };
}

/** Reads the tools of a response. An entry of a newer bridge that is not known here is left out. */
function readToolRules(result: ActionResult<unknown>): ActionResult<readonly ToolRule[]> {
  if (!result.ok) return result;
  const tools: unknown = isObject(result.value) ? result.value["tools"] : undefined;
  const entries: readonly unknown[] = Array.isArray(tools) ? tools : [];
  return { ok: true, value: entries.flatMap(readToolRule) };
}

function readToolRule(entry: unknown): readonly ToolRule[] {
  if (!isObject(entry)) return [];
  const { name, description, dependsOnArguments } = entry;
  const action = ACTIONS.find((known) => known === entry["action"]);
  if (typeof name !== "string" || action === undefined) return [];
  const text = typeof description === "string" ? description : "";
  return [{ name, description: text, action, dependsOnArguments: dependsOnArguments === true }];
}

const ACTIONS = ["allow", "ask", "deny"] as const;

function readSessionId(result: ActionResult<unknown>): ActionResult<string> {
  if (!result.ok) return result;
  const sessionId = isObject(result.value) ? result.value["sessionId"] : undefined;
  if (typeof sessionId === "string") return { ok: true, value: sessionId };
  const message = "The response of the bridge has no session id";
  return { ok: false, error: { code: "unexpected_answer", message } };
}
