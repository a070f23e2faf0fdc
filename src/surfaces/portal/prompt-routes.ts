import type { Cursor } from "../../domain/envelope.ts";
import type { ServedAnswer, ServedRequest } from "../../http/served.ts";
import { principalOf, requireRight } from "./access.ts";
import { failureBody } from "./api-error.ts";
import { cursorText } from "./cursor-text.ts";
import { headerOf } from "./header.ts";
import { jsonAnswer, textAnswer } from "./json-answer.ts";
import type { PortalOptions } from "./portal-options.ts";
import { promptCommand } from "./read-command.ts";
import { bodyOf, optionalFlag, requiredText } from "./request-body.ts";
import type { Route } from "./router.ts";
import { senderOf } from "./sender.ts";
import { foundSession } from "./session-view.ts";
import { addToReport, initialReport, reportOf, type TurnReport } from "./turn-report.ts";

const DEFAULT_WAIT_MS = 280_000;

/** A prompt, and with `wait` the end of its turn: one question, one answer, as `curl` likes it. */
export function promptRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  return [
    {
      method: "POST",
      path: "/api/sessions/:id/prompt",
      async handle(request, { id: sessionId = "" }) {
        const principal = principalOf(request, options);
        requireRight(principal, "prompt", "Prompting");
        const body = bodyOf(request);
        const text = requiredText(body, "text");
        const wait = optionalFlag(body, "wait") ?? false;
        const { incarnation, seq } = await foundSession(sessions, sessionId);
        const before = { incarnation, seq };
        const sender = senderOf(request, principal);
        const reply = await sessions.command(sessionId, promptCommand(text), sender);
        if (reply.status === "refused") return jsonAnswer(409, failureBody(reply.failure));
        const { promptId, turnId = null } = reply;
        if (promptId === undefined) throw new Error("An accepted prompt has no id");
        const place = { sessionId, promptId, events: eventsPath(sessionId, before) };
        if (!wait) return jsonAnswer(202, { ...place, turnId });
        // A command that was sent before may have had its turn long ago.
        const cursor = sender.commandId === undefined ? before : undefined;
        const report = await turnEnd(options, { sessionId, promptId, cursor }, request.gone);
        return reportAnswer(request, { ...place, ...report });
      },
    },
  ];
}

function eventsPath(sessionId: string, cursor: Cursor): string {
  const from = encodeURIComponent(cursorText(cursor));
  return `/api/sessions/${encodeURIComponent(sessionId)}/events?cursor=${from}`;
}

interface Prompted {
  readonly sessionId: string;
  readonly promptId: string;
  /** From where on its turn can be. */
  readonly cursor: Cursor | undefined;
}

/**
 * Reads until the turn of a prompt has ended, or as long as may be waited.
 *
 * A caller that hangs up leaves the turn running. To cancel one that it started and that nobody else watches, the
 * session has to know its watchers: that is for its clients slice, by the attachment of this request.
 */
async function turnEnd(
  { sessions, clock, waitMs = DEFAULT_WAIT_MS }: PortalOptions,
  { sessionId, promptId, cursor }: Prompted,
  gone: AbortSignal,
): Promise<TurnReport> {
  const over = new AbortController();
  const callOff = clock.after(waitMs, () => over.abort());
  const ended = AbortSignal.any([gone, over.signal]);
  const state = initialReport(promptId);
  try {
    for await (const { events } of sessions.subscribe(sessionId, cursor, ended)) {
      for (const { event } of events) addToReport(state, event);
      if (state.end !== null) break;
    }
  } catch (error) {
    if (!ended.aborted) throw error;
  } finally {
    callOff();
  }
  return reportOf(state);
}

interface PromptAnswer extends TurnReport {
  readonly sessionId: string;
  readonly promptId: string;
  /** Where the turn can be followed. */
  readonly events: string;
}

function reportAnswer(request: ServedRequest, answer: PromptAnswer): ServedAnswer {
  const status = answer.outcome === null ? 202 : 200;
  return wantsText(request) ? textAnswer(status, plainText(answer)) : jsonAnswer(status, answer);
}

function wantsText(request: ServedRequest): boolean {
  const accept = headerOf(request, "accept") ?? "";
  return /\btext\/plain\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept);
}

/** What the agent said, and in brackets what that alone would hide. */
function plainText({ text, outcome, reason, failure, pendingApprovals }: PromptAnswer): string {
  const notes = pendingApprovals.map(({ action }) => `[waits for an approval: ${action}]`);
  if (outcome === null) notes.push("[the turn goes on]");
  else if (outcome !== "completed")
    notes.push(`[${outcome}: ${failure?.message ?? reason ?? "no reason given"}]`);
  return `${[text, ...notes].filter((part) => part !== "").join("\n\n")}\n`;
}
