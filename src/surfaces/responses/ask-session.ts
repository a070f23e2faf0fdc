import type { AgentFacts } from "../../domain/agent-event.ts";
import type { JsonObject } from "../../domain/json.ts";
import { mayUseAgent } from "../../http/caller.ts";
import { digestOfText } from "../../platform/digest.ts";
import type { Outlook, Sessions } from "../../session/sessions.ts";
import { callIdOf } from "../../wire/responses/ids.ts";
import type { Ask, Asked, NamedSession } from "./ask.ts";
import type { KeyUses } from "./key-uses.ts";
import { ownedSession, type SessionRecord } from "./owned-session.ts";
import * as refusals from "./refusals.ts";
import type { ResponsesSettings } from "./responses-options.ts";
import { sayOnce, senderOf, settledAsk, type Asking } from "./say-once.ts";
import { answeredSession } from "./stateless-agents.ts";
import { askedAt, isFound } from "./stored-response.ts";

export interface AskOptions {
  readonly sessions: Sessions;
  readonly settings: ResponsesSettings;
  readonly newSessionId: () => string;
  readonly keyUses: KeyUses;
}

/** Says to a session what a request says, once, and tells where its answer begins in the log. */
export async function askSession(ask: Ask, options: AskOptions): Promise<Asked> {
  const takeBack = options.keyUses.enter(ask);
  try {
    return await beginOrGoOn(ask, options);
  } catch (error) {
    takeBack();
    throw error;
  }
}

async function beginOrGoOn(ask: Ask, options: AskOptions): Promise<Asked> {
  const { sessions } = options;
  if (ask.agent !== null) agentFor(ask.agent, ask.caller, sessions);
  const known = await knownSession(ask, options);
  if (known === undefined) return begin(ask, options);
  if (ask.agent !== null && ask.agent !== known.agent)
    throw refusals.otherAgent(ask.agent, known.agent);
  return goOn(ask, known, options);
}

/** The session that the request goes on with; undefined where one is to be opened. */
async function knownSession(ask: Ask, options: AskOptions): Promise<SessionRecord | undefined> {
  const { session, caller, agent } = ask;
  const { sessions, settings } = options;
  if (session === null) return undefined;
  const record = await ownedSession(sessions, session.sessionId, caller);
  if (record !== undefined && session.isImplied && (await isOnlyStored(record, sessions)))
    return undefined;
  if (record !== undefined)
    return settings.statelessAgents.includes(record.agent)
      ? answeredSession(ask, session, { record, sessions })
      : record;
  if (session.isImplied) return undefined;
  if (session.after !== undefined)
    throw refusals.previousNotFound({ sessionId: session.sessionId, seq: session.after });
  const name = agentFor(agent, caller, sessions);
  if (settings.statelessAgents.includes(name)) throw refusals.statelessAgent(name, session.param);
  return adopted(session, { sessions, settings, caller, agent });
}

/**
 * A conversation that holds items, and whose agent was never asked. A client that keeps its history there and sends it whole means
 * the history, and not that session.
 */
async function isOnlyStored({ sessionId }: SessionRecord, sessions: Sessions): Promise<boolean> {
  return (await sessions.peek(sessionId)).asked === null;
}

interface Adopting {
  readonly sessions: Sessions;
  readonly settings: ResponsesSettings;
  readonly caller: Ask["caller"];
  readonly agent: string | null;
}

/** Its agent may know it, though nobody here does. */
async function adopted(
  { sessionId, param }: NamedSession,
  { sessions, settings, caller, agent }: Adopting,
): Promise<SessionRecord> {
  const isTaken = (await sessions.find(sessionId)) !== undefined;
  if (!settings.adoptSessions || isTaken || sessionId.length < SHORTEST_ADOPTED)
    throw refusals.unknownSession(sessionId, param);
  const name = agentFor(agent, caller, sessions);
  const record = await sessions.open({ sessionId, agent: name, principal: caller });
  // Of two who open a session under one id, one finds the other's: that is theirs alone.
  if (record.principal === caller.id) return record;
  throw refusals.unknownSession(sessionId);
}

/** As AgentCore wants it. */
const SHORTEST_ADOPTED = 33;

/** The one that is asked for, or the first that the caller may use. Others are not there, not even by name. */
export function agentFor(
  wanted: string | null,
  caller: Ask["caller"],
  { agents }: Sessions,
): string {
  const name = wanted ?? agents.find((one) => mayUseAgent(caller, one)) ?? "";
  if (agents.includes(name) && mayUseAgent(caller, name)) return name;
  throw refusals.unknownModel(
    name,
    agents.filter((one) => mayUseAgent(caller, one)),
  );
}

async function begin(ask: Ask, surface: AskOptions): Promise<Asked> {
  const { sessions, settings, newSessionId } = surface;
  const { caller, retry } = ask;
  // Who gives it a name says by that alone what it repeats.
  const isUnnamed = retry.isRepeated && retry.key === undefined;
  const before = isUnnamed ? await askedBefore(ask, sessions) : undefined;
  if (before !== undefined) return before;
  const name = agentFor(ask.agent, caller, sessions);
  const { content, messages, history, instructions } = ask.begin();
  const said = { content, ...(messages !== undefined && { messages }) };
  const isForeign = history.length > 0;
  const isStateless = settings.statelessAgents.includes(name);
  const foreignHistory = isStateless ? "replay" : settings.foreignHistory;
  if (isForeign && foreignHistory === "reject") throw refusals.foreignHistory();
  const isTold = isForeign && foreignHistory === "replay";
  const note = noteOf(ask, { agent: name, clientTools: [] });
  let command: (Asking & { readonly type: "prompt" }) | undefined;
  const { reply, ...record } = await sessions.begin(
    {
      sessionId: retry.key === undefined ? newSessionId() : keyedSession(caller.id, retry.key),
      agent: name,
      principal: caller,
      label: retry.fingerprint,
      ...(isTold && { history }),
    },
    {
      from: senderOf(ask),
      prompt(agent) {
        const options = promptOptions(ask, agent, { instructions, settings });
        return (command = { type: "prompt", ...said, options, note });
      },
    },
  );
  // Of two who open a session under one id, one finds the other's: that is theirs alone.
  if (record.principal !== caller.id) throw refusals.unknownSession(record.sessionId);
  if (reply === undefined || command === undefined) throw refusals.keyReused();
  const asked = await settledAsk(ask, record, { command, reply, sessions });
  return isForeign ? { ...asked, history: isTold ? "replayed" : "ignored" } : asked;
}

/** Whoever asks again under its own key finds the same session. */
function keyedSession(principal: string, key: string): string {
  return `ses_${digestOfText(JSON.stringify([principal, "responses", key])).slice(0, 32)}`;
}

async function goOn(ask: Ask, record: SessionRecord, surface: AskOptions): Promise<Asked> {
  const { sessions, settings } = surface;
  const { sessionId } = record;
  const outlook = await sessions.peek(sessionId);
  const last = await lastAsked(record, outlook, sessions);
  const { after } = ask.session ?? {};
  if (after !== undefined) {
    const previous = after === last?.seq ? last : await askedAt(record, after, sessions);
    const isThere =
      previous !== undefined && (ask.session?.isHeld === true || isFound(previous, outlook));
    if (!isThere) throw refusals.previousNotFound({ sessionId, seq: after });
  }
  if (last !== undefined && isSame(ask, last.note)) return last;
  const { content, messages, results, instructions } = ask.goOn(sessionId, outlook);
  const said = { content, ...(messages !== undefined && { messages }) };
  const [open] = outlook.pausedFor;
  if (open !== undefined && results.length === 0)
    throw refusals.openCallsLeft(
      callIdOf(sessionId, open),
      last !== undefined && isFound(last, outlook) ? last : undefined,
    );
  const place = after === undefined ? {} : { after };
  if (results.length > 0) {
    // The caller's tools are those of the request that the paused turn began with.
    const note = noteOf(ask, { agent: record.agent, clientTools: outlook.promptTools });
    const beside = content.length > 0 ? said : {};
    const command = { type: "give-results", results, note, ...beside, ...place } as const;
    return sayOnce(ask, record, command, sessions);
  }
  const options = promptOptions(ask, outlook.agent, { instructions, settings });
  const note = noteOf(ask, { agent: record.agent, clientTools: [] });
  return sayOnce(ask, record, { type: "prompt", ...said, options, note, ...place }, sessions);
}

/** A request that was sent again, by its key, by what it says of itself, or by going on from where the one before went on from. */
function isSame({ retry, session }: Ask, note: JsonObject): boolean {
  if (retry.key !== undefined) {
    if (note["key"] !== retry.key) return false;
    if (note["fingerprint"] !== retry.fingerprint) throw refusals.keyReused();
    return true;
  }
  const isRepeated = retry.isRepeated || session?.after !== undefined;
  return isRepeated && note["fingerprint"] === retry.fingerprint;
}

async function lastAsked(
  record: SessionRecord,
  { asked }: Outlook,
  sessions: Sessions,
): Promise<Asked | undefined> {
  if (asked === null) return undefined;
  // It may have come since the record was read.
  const seq = Math.max(record.seq, asked.seq);
  return askedAt({ ...record, seq }, asked.seq, sessions);
}

/** The request that this one repeats, by what it says: the newest session that began with it. */
async function askedBefore(ask: Ask, sessions: Sessions): Promise<Asked | undefined> {
  const { fingerprint: label } = ask.retry;
  const { sessions: found } = await sessions.list({ limit: 1, label, principal: ask.caller.id });
  const [record] = found;
  if (record === undefined) return undefined;
  const last = await lastAsked(record, await sessions.peek(record.sessionId), sessions);
  return last?.note["fingerprint"] === label ? last : undefined;
}

interface Options {
  readonly instructions: string | null;
  readonly settings: ResponsesSettings;
}

function promptOptions(ask: Ask, { tools }: AgentFacts, { instructions, settings }: Options) {
  const agentTools = tools.map(({ name }) => name);
  return { ...ask.options(instructions, agentTools), approvalMs: settings.approvalMs };
}

/** What the log keeps of the request: who sends it again is known by it. */
function noteOf(ask: Ask, about: Parameters<Ask["note"]>[0]): JsonObject {
  const { fingerprint, key } = ask.retry;
  return { ...ask.note(about), fingerprint, ...(key !== undefined && { key }) };
}
