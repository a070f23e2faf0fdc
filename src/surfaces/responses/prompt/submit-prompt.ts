import type { AgentSpec } from "../../../domain/agent-spec.ts";
import type { JsonObject } from "../../../data/json.ts";
import { canUseAgent } from "../../../http/access/caller.ts";
import { digestText } from "../../../platform/digest.ts";
import type { SessionStatus, Sessions } from "../../../session/sessions.ts";
import { formatCallId } from "../../../wire/responses/response-ids.ts";
import type { PromptRequest, SubmittedPrompt, SessionReference } from "./prompt-request.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import { findOwnedSession, type SessionRecord } from "./owned-session.ts";
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

/** Says to a session what a request says, once, and tells where its answer begins in the log. */
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

/** The session that the request goes on with; undefined where one is to be opened. */
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
 * A conversation that holds items, and whose agent was never asked. A client that keeps its history there and sends it whole means
 * the history, and not that session.
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

/** Its agent may know it, though nobody here does. */
async function adoptSession(
  { sessionId, param }: SessionReference,
  { sessions, settings, caller, agent }: AdoptOptions,
): Promise<SessionRecord> {
  const isTaken = (await sessions.find(sessionId)) !== undefined;
  if (!settings.adoptSessions || isTaken || sessionId.length < MIN_ADOPTED_LENGTH)
    throw refusals.createUnknownSessionError(sessionId, param);
  const name = resolveAgent(agent, caller, sessions);
  const record = await sessions.open({ sessionId, agent: name, principal: caller });
  // Of two who open a session under one id, one finds the other's: that is theirs alone.
  if (record.principal === caller.id) return record;
  throw refusals.createUnknownSessionError(sessionId);
}

/** As AgentCore wants it. */
const MIN_ADOPTED_LENGTH = 33;

/** The one that is asked for, or the first that the caller may use. Others are not there, not even by name. */
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
  // Who gives it a name says by that alone what it repeats.
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
  // Of two who open a session under one id, one finds the other's: that is theirs alone.
  if (record.principal !== caller.id) throw refusals.createUnknownSessionError(record.sessionId);
  if (reply === undefined || command === undefined) throw refusals.createKeyReusedError();
  const submitted = await resolveSubmission(promptRequest, record, { command, reply, sessions });
  return isForeign ? { ...submitted, history: isReplayed ? "replayed" : "ignored" } : submitted;
}

/** Whoever asks again under its own key finds the same session. */
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
    // The caller's tools are those of the request that the paused turn began with.
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

/** A request that was sent again, by its key, by what it says of itself, or by going on from where the one before went on from. */
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
  // It may have come since the record was read.
  const seq = Math.max(record.seq, lastPrompt.seq);
  return readSubmittedPrompt({ ...record, seq }, lastPrompt.seq, sessions);
}

/** The request that this one repeats, by what it says: the newest session that began with it. */
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

/** What the log keeps of the request: who sends it again is known by it. */
function createNote(
  promptRequest: PromptRequest,
  details: Parameters<PromptRequest["buildNote"]>[0],
): JsonObject {
  const { fingerprint, key } = promptRequest.retry;
  return { ...promptRequest.buildNote(details), fingerprint, ...omitUndefined({ key }) };
}
