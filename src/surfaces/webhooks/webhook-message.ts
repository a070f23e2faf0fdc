import type { JsonValue } from "../../data/json.ts";
import type { WebhookEvent } from "../../domain/webhook-events.ts";
import type { InboxItem } from "../../wire/live/live-frames.ts";

/** The part of a request which a webhook sends. Stored until the request is resolved. */
export interface WebhookSubject {
  readonly sessionId: string;
  readonly approvalId: string;
  readonly agent: string;
  readonly principal: string;
  readonly question: string;
  readonly sentence: string;
  readonly requestedAt: number;
  readonly deadline: number;
  /** Only if the configuration asks for details. */
  readonly details?: { readonly [name: string]: JsonValue };
}

/** Without details, no text of the agent or of the user is part of the message, except for the tool's name. */
export function createSubject(item: InboxItem, hasDetails: boolean): WebhookSubject {
  const { sessionId, agent, principal, requestedAt, title, request } = item;
  const { approvalId, question, deadline, action, input } = request;
  return {
    sessionId,
    approvalId,
    agent,
    principal,
    question,
    sentence: formatSentence(item),
    requestedAt,
    deadline,
    ...(hasDetails && { details: { title, action, arguments: input } }),
  };
}

export interface WebhookMessage {
  /** The same for every attempt, so that the receiver can drop a repetition. */
  readonly id: string;
  readonly event: WebhookEvent;
  /** Address of the portal. */
  readonly publicUrl: string;
}

export function encodeWebhookBody(
  { id, event, publicUrl }: WebhookMessage,
  { sessionId, approvalId, agent, principal, ...request }: WebhookSubject,
): string {
  const link = `${publicUrl}/sessions/${encodeURIComponent(sessionId)}`;
  const session = { id: sessionId, agent, principal };
  return JSON.stringify({
    id,
    type: event,
    session,
    request: { id: approvalId, ...request },
    link,
  });
}

function formatSentence({ agent, request }: InboxItem): string {
  const { question, approvers = 1, decision } = request;
  switch (question) {
    case "run": {
      const tool = decision?.context.tool;
      const people = approvers > 1 ? ` of ${approvers} people` : "";
      return tool === undefined
        ? `${agent} needs an approval${people}`
        : `${agent} needs an approval${people} to run ${tool}`;
    }
    case "outcome":
      return `A tool of ${agent} was interrupted. Did it run?`;
    case "lost-invocation":
      return `The connection to ${agent} was lost. How should the session continue?`;
    case "budget":
      return `A budget of ${agent} is used. Should the turn continue?`;
    case "question":
      return `${agent} asks a question`;
    default:
      return question satisfies never;
  }
}
