import type { Envelope } from "../../domain/envelope.ts";
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
import { readConversation } from "../../wire/responses/request/read-conversation.ts";
import { agentFor } from "./ask-session.ts";
import { ownedSession, type SessionRecord } from "./owned-session.ts";
import { envelopesFrom } from "./read-log.ts";
import { statelessAgent } from "./refusals.ts";
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
        const { model, title, history } = readConversation(jsonBodyOf(request));
        const agent = agentFor(model, caller, sessions);
        if (surface.settings.statelessAgents.includes(agent)) throw statelessAgent(agent, "model");
        const record = await sessions.open({
          sessionId: surface.newSessionId(),
          agent,
          principal: caller,
          ...(title !== null && { title }),
          ...(history.length > 0 && { history }),
        });
        return jsonAnswer(200, conversationObject(record));
      },
    },
    {
      method: "GET",
      path: "/conversations/:id",
      async handle(_request, { id = "" }, caller) {
        return jsonAnswer(200, conversationObject(await found(surface, id, caller)));
      },
    },
    {
      method: "POST",
      path: "/conversations/:id",
      async handle(_request, { id = "" }, caller) {
        await found(surface, id, caller);
        throw invalid("A conversation's metadata is as it was when it began", {
          param: "metadata",
          reason: "unsupported_metadata",
          hint: "Keep what belongs to it under its id on your side",
        });
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
      async handle(_request, { id = "" }, caller) {
        await found(surface, id, caller);
        throw invalid("An agent that keeps its conversation cannot be told what was said in it", {
          param: "items",
          reason: "conversation_not_writable",
          hint: "Begin a conversation with these items, or ask the agent something in this one",
        });
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

async function itemsOf(surface: Surface, id: string, caller: Caller): Promise<ConversationItem[]> {
  const { sessions } = surface;
  const record = await found(surface, id, caller);
  const outlook = await sessions.peek(id);
  const envelopes: Envelope[] = [];
  for await (const envelope of envelopesFrom(record, 1, sessions)) envelopes.push(envelope);
  return conversationItems(
    envelopes,
    ({ promptId, note = {} }) => !isFound({ promptId, note }, outlook),
  );
}

function unknown(what: "conversation" | "item", id: string): ApiError {
  const message = `There is no ${what} "${id.slice(0, 300)}"`;
  return new ApiError(404, "not_found", message, {
    param: `${what}_id`,
    reason: `${what}_not_found`,
  });
}
