import type { Envelope } from "../../domain/envelope.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { ApiError } from "../../http/api-error.ts";
import { requireRight, type Caller } from "../../http/caller.ts";
import type { GuardedRoute } from "../../http/guarded-routes.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import { invalid, jsonBodyOf } from "../../http/json-body.ts";
import {
  conversationItems,
  type ConversationItem,
} from "../../wire/responses/conversation-items.ts";
import { conversationObject } from "../../wire/responses/conversation-object.ts";
import { listPage, readPageWish } from "../../wire/responses/input-items.ts";
import {
  readAddedItems,
  readConversation,
  readConversationUpdate,
} from "../../wire/responses/request/read-conversation.ts";
import { agentFor } from "./ask-session.ts";
import { ownedSession, type SessionRecord } from "./owned-session.ts";
import { envelopesFrom } from "./read-log.ts";
import { defaultTrace } from "./request-headers.ts";
import { refusedBySession, statelessAgent } from "./refusals.ts";
import { isFound } from "./stored-response.ts";
import type { Surface } from "./surface.ts";

/** Conversations are sessions: begun before anything is asked, looked at, deleted. */
export function conversationRoutes(surface: Surface): GuardedRoute[] {
  const { sessions } = surface;
  return [
    {
      method: "POST",
      path: "/conversations",
      async handle(request, _labels, caller) {
        requireRight(caller, "prompt", "Beginning a conversation");
        const { model, metadata, history } = readConversation(jsonBodyOf(request));
        const agent = agentFor(model, caller, sessions);
        if (surface.settings.statelessAgents.includes(agent)) throw statelessAgent(agent, "model");
        const record = await sessions.open({
          sessionId: surface.newSessionId(),
          agent,
          principal: caller,
          ...(metadata["title"] !== undefined && { title: metadata["title"] }),
          ...(Object.keys(metadata).length > 0 && { metadata }),
          ...(history.length > 0 && { history }),
        });
        return jsonAnswer(200, conversationObject({ ...record, metadata }));
      },
    },
    {
      method: "GET",
      path: "/conversations/:id",
      async handle(_request, { id = "" }, caller) {
        const record = await found(surface, id, caller);
        const { metadata } = await sessions.peek(id);
        return jsonAnswer(200, conversationObject({ ...record, metadata }));
      },
    },
    {
      method: "POST",
      path: "/conversations/:id",
      async handle(request, { id = "" }, caller) {
        const record = await found(surface, id, caller);
        const metadata = readConversationUpdate(jsonBodyOf(request));
        const command = { type: "set-metadata", metadata } as const;
        accepted(await sessions.command(id, command, { principal: caller }));
        return jsonAnswer(200, conversationObject({ ...record, metadata }));
      },
    },
    {
      method: "DELETE",
      path: "/conversations/:id",
      async handle(_request, { id = "" }, caller) {
        requireRight(caller, "prompt", "Deleting a conversation");
        await found(surface, id, caller);
        await sessions.delete(id);
        return jsonAnswer(200, { id, object: "conversation.deleted", deleted: true });
      },
    },
    {
      method: "GET",
      path: "/conversations/:id/items",
      async handle(request, { id = "" }, caller) {
        const wish = readPageWish(new Map(new URLSearchParams(request.query)));
        return jsonAnswer(200, listPage(await itemsOf(surface, id, caller), wish));
      },
    },
    {
      method: "POST",
      path: "/conversations/:id/items",
      async handle(request, { id = "" }, caller) {
        await found(surface, id, caller);
        const messages = readAddedItems(jsonBodyOf(request));
        const command = { type: "add-history", messages } as const;
        const { seq = 0 } = accepted(await sessions.command(id, command, { principal: caller }));
        const added = await itemsOf(surface, id, caller, seq);
        return jsonAnswer(200, listPage(added, { order: "asc", limit: added.length, after: null }));
      },
    },
    {
      method: "GET",
      path: "/conversations/:id/items/:item",
      async handle(_request, { id = "", item: wanted = "" }, caller) {
        const item = (await itemsOf(surface, id, caller)).find((one) => one.id === wanted);
        if (item === undefined) throw unknown("item", wanted);
        return jsonAnswer(200, item);
      },
    },
  ];
}

async function found(
  { sessions }: Pick<Surface, "sessions">,
  id: string,
  caller: Caller,
): Promise<SessionRecord> {
  const record = await ownedSession(sessions, id, caller);
  if (record === undefined) throw unknown("conversation", id);
  return record;
}

/** Of the whole session, or of what the event `only` brought. */
async function itemsOf(
  surface: Surface,
  id: string,
  caller: Caller,
  only?: number,
): Promise<ConversationItem[]> {
  const { sessions } = surface;
  const record = await found(surface, id, caller);
  const outlook = await sessions.peek(id);
  const envelopes: Envelope[] = [];
  for await (const envelope of envelopesFrom(record, only ?? 1, sessions)) {
    envelopes.push(envelope);
    if (envelope.seq === only) break;
  }
  return conversationItems(envelopes, {
    trace: defaultTrace(caller, surface.settings),
    isLeftOut: ({ promptId, note = {} }) => !isFound({ promptId, note }, outlook),
  });
}

/** The reply of a command that the session took. */
function accepted(reply: CommandReply): Extract<CommandReply, { status: "accepted" }> {
  if (reply.status === "accepted") return reply;
  const { failure } = reply;
  if (failure.details["reason"] !== "history_begun") throw refusedBySession(failure);
  throw invalid(failure.message, {
    param: "items",
    reason: "conversation_not_writable",
    hint: "Add items before the agent is first asked, or begin a conversation with them",
  });
}

function unknown(what: "conversation" | "item", id: string): ApiError {
  const message = `There is no ${what} "${id.slice(0, 300)}"`;
  return new ApiError(404, "not_found", message, {
    param: `${what}_id`,
    reason: `${what}_not_found`,
  });
}
