import type { AgentSpec } from "../../../domain/agent-spec.ts";
import type { JsonObject } from "../../../data/json.ts";
import { canUseAgent } from "../../../http/access/caller.ts";
import { digestText } from "../../../platform/digest.ts";
import type { SessionStatus, Sessions } from "../../../session/sessions.ts";
import { formatCallId } from "../../../wire/responses/response-ids.ts";
import type { PromptRequest, SubmittedPrompt, SessionReference } from "./prompt-request.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import { findOwnedSession, type SessionRecord } from "../../log/owned-session.ts";
import * as refusals from "../request-errors.ts";
import type { ResponsesSettings } from "../../../domain/responses-settings.ts";
import { submitOnce, createSender, resolveSubmission, type SubmitCommand } from "./submit-once.ts";
import { findAnsweredSession } from "./stateless-agents.ts";
import { readSubmittedPrompt, isRetrievable } from "../turn/stored-response.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface SubmitOptions {
  readonly sessions: Sessions;
  readonly settings: ResponsesSettings;
  readonly newSessionId: () => string;
  readonly idempotencyKeys: IdempotencyKeys;
}

/** Submits a request to a session once, and returns where the response begins in the log. */
export async function submitPrompt(
  promptRequest: PromptRequest,
  options: SubmitOptions,
): Promise<SubmittedPrompt> {
  const releaseKey = options.idempotencyKeys.reserve(promptRequest);
  try {
    return await openOrContinue(promptRequest, options);
  } catch (error) {
    releaseKey();
    throw error;
  }
}

async function openOrContinue(
  promptRequest: PromptRequest,
  options: SubmitOptions,
): Promise<SubmittedPrompt> {
  const { sessions } = options;
  if (promptRequest.agent !== null)
    resolveAgent(promptRequest.agent, promptRequest.caller, sessions);
  const existing = await findSession(promptRequest, options);
  if (existing === undefined) return openSession(promptRequest, options);
  if (promptRequest.agent !== null && promptRequest.agent !== existing.agent)
    throw refusals.createOtherAgentError(promptRequest.agent, existing.agent);
  return continueSession(promptRequest, existing, options);
}

/** Finds the session the request continues. Undefined if a new session must be opened. */
async function findSession(
  promptRequest: PromptRequest,
  options: SubmitOptions,
): Promise<SessionRecord | undefined> {
  const { session, caller, agent } = promptRequest;
  const { sessions, settings } = options;
  if (session === null) return undefined;
  const record = await findOwnedSession(sessions, session.sessionId, caller);
  if (record !== undefined && session.isImplied && (await hasNoPrompt(record, sessions)))
    return undefined;
  if (record !== undefined)
    return settings.statelessAgents.includes(record.agent)
      ? findAnsweredSession(promptRequest, session, { record, sessions })
      : record;
  if (session.isImplied) return undefined;
  if (session.after !== undefined)
    throw refusals.createPreviousNotFoundError({
      sessionId: session.sessionId,
      seq: session.after,
    });
  const name = resolveAgent(agent, caller, sessions);
  if (settings.statelessAgents.includes(name))
    throw refusals.createStatelessAgentError(name, session.param);
  return adoptSession(session, { sessions, settings, caller, agent });
}

/**
 * Whether the conversation contains items but no prompt. A client that stores its history there and sends the whole
 * history refers to the history, not to the session.
 */
async function hasNoPrompt({ sessionId }: SessionRecord, sessions: Sessions): Promise<boolean> {
  return (await sessions.status(sessionId)).lastPrompt === null;
}

interface AdoptOptions {
  readonly sessions: Sessions;
  readonly settings: ResponsesSettings;
  readonly caller: PromptRequest["caller"];
  readonly agent: string | null;
}

/**
 * Opens a session under an id unknown to this bridge, because the agent's service may know it. Requires the setting
 * `adoptSessions`.
 */
async function adoptSession(
  { sessionId, param }: SessionReference,
  { sessions, settings, caller, agent }: AdoptOptions,
): Promise<SessionRecord> {
  const isTaken = (await sessions.find(sessionId)) !== undefined;
  if (!settings.adoptSessions || isTaken || sessionId.length < MIN_ADOPTED_LENGTH)
    throw refusals.createUnknownSessionError(sessionId, param);
  const name = resolveAgent(agent, caller, sessions);
  const record = await sessions.open({ sessionId, agent: name, principal: caller });
  // If two callers open a session under the same id, the second caller must not get the first caller's session.
  if (record.principal === caller.id) return record;
  throw refusals.createUnknownSessionError(sessionId);
}

/** Minimum length of a session id in AgentCore. */
const MIN_ADOPTED_LENGTH = 33;

/**
 * Resolves the requested agent, or the first agent the caller may use. Agents outside the caller's key are reported as
 * unknown.
 */
export function resolveAgent(
  requestedAgent: string | null,
  caller: PromptRequest["caller"],
  { agents }: Sessions,
): string {
  const name = requestedAgent ?? agents.find((agentName) => canUseAgent(caller, agentName)) ?? "";
  if (agents.includes(name) && canUseAgent(caller, name)) return name;
  throw refusals.createUnknownModelError(
    name,
    agents.filter((agentName) => canUseAgent(caller, agentName)),
  );
}

async function openSession(
  promptRequest: PromptRequest,
  surface: SubmitOptions,
): Promise<SubmittedPrompt> {
  const { sessions, settings, newSessionId } = surface;
  const { caller, retry } = promptRequest;
  // A request with a key is recognized by the key alone.
  const isUnnamed = retry.isRepeated && retry.key === undefined;
  const earlierPrompt = isUnnamed ? await findEarlierPrompt(promptRequest, sessions) : undefined;
  if (earlierPrompt !== undefined) return earlierPrompt;
  const name = resolveAgent(promptRequest.agent, caller, sessions);
  const { content, messages, history, instructions } = promptRequest.buildStart();
  const input = { content, ...omitUndefined({ messages }) };
  const isForeign = history.length > 0;
  const isStateless = settings.statelessAgents.includes(name);
  const foreignHistory = isStateless ? "replay" : settings.foreignHistory;
  if (isForeign && foreignHistory === "reject") throw refusals.createForeignHistoryError();
  const isReplayed = isForeign && foreignHistory === "replay";
  const note = createNote(promptRequest, {
    agent: name,
    clientTools: [],
    hasHistory: isReplayed,
  });
  let command: (SubmitCommand & { readonly type: "prompt" }) | undefined;
  const { reply, ...record } = await sessions.openWithPrompt(
    {
      sessionId:
        retry.key === undefined ? newSessionId() : createKeyedSessionId(caller.id, retry.key),
      agent: name,
      principal: caller,
      label: retry.fingerprint,
      ...(isReplayed && { history }),
    },
    {
      sender: createSender(promptRequest),
      createPrompt(agent) {
        const options = createPromptOptions(promptRequest, agent, { instructions, settings });
        return (command = { type: "prompt", ...input, options, note });
      },
    },
  );
  // If two callers open a session under the same id, the second caller must not get the first caller's session.
  if (record.principal !== caller.id) throw refusals.createUnknownSessionError(record.sessionId);
  if (reply === undefined || command === undefined) throw refusals.createKeyReusedError();
  const submitted = await resolveSubmission(promptRequest, record, { command, reply, sessions });
  return isForeign ? { ...submitted, history: isReplayed ? "replayed" : "ignored" } : submitted;
}

/** Derives the session id from the key, so a retry finds the same session. */
function createKeyedSessionId(principal: string, key: string): string {
  return `ses_${digestText(JSON.stringify([principal, "responses", key])).slice(0, 32)}`;
}

async function continueSession(
  promptRequest: PromptRequest,
  record: SessionRecord,
  surface: SubmitOptions,
): Promise<SubmittedPrompt> {
  const { sessions, settings } = surface;
  const { sessionId } = record;
  const status = await sessions.status(sessionId);
  const last = await findLastPrompt(record, status, sessions);
  const { after: expectedPromptSeq } = promptRequest.session ?? {};
  if (expectedPromptSeq !== undefined) {
    const previous =
      expectedPromptSeq === last?.seq
        ? last
        : await readSubmittedPrompt(record, expectedPromptSeq, sessions);
    const isAvailable =
      previous !== undefined &&
      (promptRequest.session?.isConnectionLocal === true || isRetrievable(previous, status));
    if (!isAvailable)
      throw refusals.createPreviousNotFoundError({ sessionId, seq: expectedPromptSeq });
  }
  if (last !== undefined && isRepeatedRequest(promptRequest, last.note)) return last;
  const { content, messages, results, instructions } = promptRequest.buildContinuation(
    sessionId,
    status,
  );
  const input = { content, ...omitUndefined({ messages }) };
  const [open] = status.pendingToolCallIds;
  if (open !== undefined && results.length === 0)
    throw refusals.createOpenCallsError(
      formatCallId(sessionId, open),
      last !== undefined && isRetrievable(last, status) ? last : undefined,
    );
  const position = expectedPromptSeq === undefined ? {} : { expectedPromptSeq };
  if (results.length > 0) {
    // The client tools come from the request that started the paused turn.
    const note = createNote(promptRequest, {
      agent: record.agent,
      clientTools: status.promptTools,
    });
    const contentFields = content.length > 0 ? input : {};
    const command = {
      type: "submit-results",
      results,
      note,
      ...contentFields,
      ...position,
    } as const;
    return submitOnce(promptRequest, record, command, sessions);
  }
  const options = createPromptOptions(promptRequest, status.agent, { instructions, settings });
  const note = createNote(promptRequest, { agent: record.agent, clientTools: [] });
  return submitOnce(
    promptRequest,
    record,
    { type: "prompt", ...input, options, note, ...position },
    sessions,
  );
}

/**
 * Recognizes a repeated request by its key, by its retry count, or by the same `previous_response_id` with the same
 * body.
 */
function isRepeatedRequest({ retry, session }: PromptRequest, note: JsonObject): boolean {
  if (retry.key !== undefined) {
    if (note["key"] !== retry.key) return false;
    if (note["fingerprint"] !== retry.fingerprint) throw refusals.createKeyReusedError();
    return true;
  }
  const isRepeated = retry.isRepeated || session?.after !== undefined;
  return isRepeated && note["fingerprint"] === retry.fingerprint;
}

async function findLastPrompt(
  record: SessionRecord,
  { lastPrompt }: SessionStatus,
  sessions: Sessions,
): Promise<SubmittedPrompt | undefined> {
  if (lastPrompt === null) return undefined;
  // The prompt may be newer than the record.
  const seq = Math.max(record.seq, lastPrompt.seq);
  return readSubmittedPrompt({ ...record, seq }, lastPrompt.seq, sessions);
}

/** Finds the earlier request with the same fingerprint: the newest session started by such a request. */
async function findEarlierPrompt(
  promptRequest: PromptRequest,
  sessions: Sessions,
): Promise<SubmittedPrompt | undefined> {
  const { fingerprint: label } = promptRequest.retry;
  const { sessions: records } = await sessions.list({
    limit: 1,
    label,
    principal: promptRequest.caller.id,
  });
  const [record] = records;
  if (record === undefined) return undefined;
  const last = await findLastPrompt(record, await sessions.status(record.sessionId), sessions);
  return last?.note["fingerprint"] === label ? last : undefined;
}

interface PromptSettings {
  readonly instructions: string | null;
  readonly settings: ResponsesSettings;
}

function createPromptOptions(
  promptRequest: PromptRequest,
  { tools }: AgentSpec,
  { instructions, settings }: PromptSettings,
) {
  const agentTools = tools.map(({ name }) => name);
  return {
    ...promptRequest.buildOptions(instructions, agentTools),
    approvalMs: settings.approvalMs,
  };
}

/** The note stored in the log, used to recognize retries. */
function createNote(
  promptRequest: PromptRequest,
  details: Parameters<PromptRequest["buildNote"]>[0],
): JsonObject {
  const { fingerprint, key } = promptRequest.retry;
  return { ...promptRequest.buildNote(details), fingerprint, ...omitUndefined({ key }) };
}
