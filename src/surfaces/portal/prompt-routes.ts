import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import { authenticate, requireRight } from "./portal-access.ts";
import { createFailureBody } from "./error-body.ts";
import { formatCursor } from "../../wire/live/cursor-text.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import { createJsonResponse, createTextStream } from "../../http/routing/json-response.ts";
import { createStreamOptions, type PortalOptions } from "./portal-options.ts";
import { createSender, readPromptCommand } from "./read-command.ts";
import { readJsonBody } from "../../http/routing/json-body.ts";
import { readOptionalBoolean } from "./request-body.ts";
import type { Route } from "../../http/routing/router.ts";
import { findSession } from "./session-resource.ts";
import { addToReport, createReportState, createReport, type TurnReport } from "./turn-report.ts";
import { addToText, writeDisconnectNote, createTextState } from "./turn-text.ts";

const DEFAULT_WAIT_MS = 280_000;

/** Submits a prompt. With `wait`, responds at the end of the turn, so `curl` needs a single request. */
export function createPromptRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  return [
    {
      method: "POST",
      path: "/api/sessions/:id/prompt",
      async handle(request, { id: sessionId = "" }) {
        const principal = await authenticate(request, options);
        requireRight(principal, "prompt", "Prompting");
        const body = readJsonBody(request);
        const command = readPromptCommand(body);
        const wait = readOptionalBoolean(body, "wait") ?? false;
        const { incarnation, seq } = await findSession(sessions, sessionId, principal);
        const before = { incarnation, seq };
        const sender = createSender(request, principal);
        const reply = await sessions.command(sessionId, command, sender);
        if (reply.status === "refused")
          return createJsonResponse(409, createFailureBody(reply.failure));
        const { promptId, turnId = null } = reply;
        if (promptId === undefined) throw new Error("An accepted prompt has no id");
        const place = { sessionId, promptId, events: formatEventsPath(sessionId, before) };
        if (!wait) return createJsonResponse(202, { ...place, turnId });
        // The turn of a repeated command may be long over, so the log is read from its beginning.
        const cursor = sender.commandId === undefined ? before : undefined;
        const prompted = { sessionId, promptId, cursor };
        if (acceptsText(request)) {
          const pieces = streamTurnText(options, prompted, request.disconnectSignal);
          return createTextStream(pieces, createStreamOptions(options));
        }
        const report = await awaitTurnEnd(options, prompted, request.disconnectSignal);
        const answer: PromptAnswer = { ...place, ...report };
        return createJsonResponse(answer.outcome === null ? 202 : 200, answer);
      },
    },
  ];
}

function formatEventsPath(sessionId: string, cursor: Cursor): string {
  const from = encodeURIComponent(formatCursor(cursor));
  return `/api/sessions/${encodeURIComponent(sessionId)}/events?cursor=${from}`;
}

interface SubmittedPrompt {
  readonly sessionId: string;
  readonly promptId: string;
  /** The log position before the turn. Undefined: the beginning of the log. */
  readonly cursor: Cursor | undefined;
}

/** Reads until the prompt's turn has ended or the wait times out. */
async function awaitTurnEnd(
  options: PortalOptions,
  prompted: SubmittedPrompt,
  gone: AbortSignal,
): Promise<TurnReport> {
  const state = createReportState(prompted.promptId);
  for await (const events of readTurnEvents(options, prompted, gone)) {
    for (const event of events) addToReport(state, event);
    if (state.end !== null) break;
  }
  return createReport(state);
}

/** Streams the turn as text. The status is already sent, so a failure in the middle is reported as text. */
async function* streamTurnText(
  options: PortalOptions,
  prompted: SubmittedPrompt,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const state = createTextState(prompted.promptId);
  try {
    for await (const events of readTurnEvents(options, prompted, gone)) {
      const text = addToText(state, events);
      if (text !== "") yield text;
      if (state.report.end !== null) return;
    }
    yield writeDisconnectNote(state, "the turn continues");
  } catch (error) {
    if (!(error instanceof SpanlineError)) throw error;
    yield writeDisconnectNote(state, `failed: ${error.message}`);
  }
}

/** The events from a prompt on, until the wait times out. A caller which disconnects leaves the turn running. */
async function* readTurnEvents(
  { sessions, clock, waitMs = DEFAULT_WAIT_MS }: PortalOptions,
  { sessionId, cursor }: SubmittedPrompt,
  gone: AbortSignal,
): AsyncGenerator<readonly SessionEvent[]> {
  const over = new AbortController();
  const callOff = clock.schedule(waitMs, () => over.abort());
  const ended = AbortSignal.any([gone, over.signal]);
  try {
    for await (const { events } of sessions.subscribe(sessionId, cursor, ended)) {
      yield events.map(({ event }) => event);
    }
  } catch (error) {
    if (!ended.aborted) throw error;
  } finally {
    callOff();
  }
}

interface PromptAnswer extends TurnReport {
  readonly sessionId: string;
  readonly promptId: string;
  /** The path of the event stream from before the prompt. */
  readonly events: string;
}

function acceptsText(request: ServedRequest): boolean {
  const accept = readHeader(request, "accept") ?? "";
  return /\btext\/plain\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept);
}
