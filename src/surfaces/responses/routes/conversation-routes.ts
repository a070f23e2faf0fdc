import type { Envelope } from "../../../domain/events/envelope.ts";
import type { CommandReply } from "../../../domain/session-command.ts";
import { ApiError } from "../../../http/routing/api-error.ts";
import { requireRight, type Caller } from "../../../http/access/caller.ts";
import type { GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import { createInvalidRequestError, readJsonBody } from "../../../http/routing/json-body.ts";
import {
  encodeConversationItems,
  type ConversationItem,
} from "../../../wire/responses/items/conversation-items.ts";
import { encodeConversation } from "../../../wire/responses/conversation-object.ts";
import { createListPage, readPageQuery } from "../../../wire/responses/items/input-items.ts";
import {
  readAddedItems,
  readCreateConversation,
  readConversationUpdate,
} from "../../../wire/responses/request/read-conversation.ts";
import { resolveAgent } from "../prompt/submit-prompt.ts";
import { findOwnedSession, type SessionRecord } from "../../log/owned-session.ts";
import { readEnvelopes } from "../../log/read-log.ts";
import { resolveDefaultTrace } from "./request-headers.ts";
import { toRefusalError, createStatelessAgentError } from "../request-errors.ts";
import { isRetrievable } from "../turn/stored-response.ts";
import type { SurfaceContext } from "../surface-context.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

/** Routes for conversations, which are sessions, and for the items of conversations. */
export function createConversationRoutes(surface: SurfaceContext): GuardedRoute[] {
  return [...createLifecycleRoutes(surface), ...createItemRoutes(surface)];
}

/** Routes to create a conversation before the first prompt, and to read, update and delete it. */
function createLifecycleRoutes(surface: SurfaceContext): GuardedRoute[] {
  const { sessions } = surface;
  return [
    {
      method: "POST",
      path: "/conversations",
      async handle(request, _labels, caller) {
        requireRight(caller, "prompt", "Creating a conversation");
        const { model, metadata, history } = readCreateConversation(readJsonBody(request));
        const agent = resolveAgent(model, caller, sessions);
        if (surface.settings.statelessAgents.includes(agent))
          throw createStatelessAgentError(agent, "model");
        const record = await sessions.open({
          sessionId: surface.newSessionId(),
          agent,
          principal: caller,
          ...omitUndefined({ title: metadata["title"] }),
          ...(Object.keys(metadata).length > 0 && { metadata }),
          ...(history.length > 0 && { history }),
        });
        return createJsonResponse(200, encodeConversation({ ...record, metadata }));
      },
    },
    {
      method: "GET",
      path: "/conversations/:id",
      async handle(_request, { id = "" }, caller) {
        const record = await findConversation(surface, id, caller);
        const { metadata } = await sessions.status(id);
        return createJsonResponse(200, encodeConversation({ ...record, metadata }));
      },
    },
    {
      method: "POST",
      path: "/conversations/:id",
      async handle(request, { id = "" }, caller) {
        const record = await findConversation(surface, id, caller);
        const metadata = readConversationUpdate(readJsonBody(request));
        const command = { type: "set-metadata", metadata } as const;
        requireAccepted(await sessions.command(id, command, { principal: caller }));
        return createJsonResponse(200, encodeConversation({ ...record, metadata }));
      },
    },
    {
      method: "DELETE",
      path: "/conversations/:id",
      async handle(_request, { id = "" }, caller) {
        requireRight(caller, "prompt", "Deleting a conversation");
        await findConversation(surface, id, caller);
        await sessions.delete(id);
        return createJsonResponse(200, { id, object: "conversation.deleted", deleted: true });
      },
    },
  ];
}

/** Routes to list and read the items of a conversation, and to add items before the first prompt. */
function createItemRoutes(surface: SurfaceContext): GuardedRoute[] {
  const { sessions } = surface;
  return [
    {
      method: "GET",
      path: "/conversations/:id/items",
      async handle(request, { id = "" }, caller) {
        const pageQuery = readPageQuery(new Map(new URLSearchParams(request.query)));
        return createJsonResponse(
          200,
          createListPage(await readItems(surface, id, caller), pageQuery),
        );
      },
    },
    {
      method: "POST",
      path: "/conversations/:id/items",
      async handle(request, { id = "" }, caller) {
        await findConversation(surface, id, caller);
        const messages = readAddedItems(readJsonBody(request));
        const command = { type: "add-history", messages } as const;
        const { seq = 0 } = requireAccepted(
          await sessions.command(id, command, { principal: caller }),
        );
        const added = await readItems(surface, id, caller, seq);
        return createJsonResponse(
          200,
          createListPage(added, { order: "asc", limit: added.length, after: null }),
        );
      },
    },
    {
      method: "GET",
      path: "/conversations/:id/items/:item",
      async handle(_request, { id = "", item: itemId = "" }, caller) {
        const item = (await readItems(surface, id, caller)).find(
          (candidate) => candidate.id === itemId,
        );
        if (item === undefined) throw createNotFoundError("item", itemId);
        return createJsonResponse(200, item);
      },
    },
  ];
}

async function findConversation(
  { sessions }: Pick<SurfaceContext, "sessions">,
  id: string,
  caller: Caller,
): Promise<SessionRecord> {
  const record = await findOwnedSession(sessions, id, caller);
  if (record === undefined) throw createNotFoundError("conversation", id);
  return record;
}

/** Reads the items of the whole session, or of the event `onlySeq` only. */
async function readItems(
  surface: SurfaceContext,
  id: string,
  caller: Caller,
  onlySeq?: number,
): Promise<ConversationItem[]> {
  const { sessions } = surface;
  const record = await findConversation(surface, id, caller);
  const status = await sessions.status(id);
  const envelopes: Envelope[] = [];
  for await (const envelope of readEnvelopes(record, onlySeq ?? 1, sessions)) {
    envelopes.push(envelope);
    if (envelope.seq === onlySeq) break;
  }
  return encodeConversationItems(envelopes, {
    trace: resolveDefaultTrace(caller, surface.settings),
    isExcluded: ({ promptId, note = {} }) => !isRetrievable({ promptId, note }, status),
  });
}

/** Returns an accepted reply; throws for a refused command. */
function requireAccepted(reply: CommandReply): Extract<CommandReply, { status: "accepted" }> {
  if (reply.status === "accepted") return reply;
  const { failure } = reply;
  if (failure.details["reason"] !== "history_begun") throw toRefusalError(failure);
  throw createInvalidRequestError(failure.message, {
    param: "items",
    reason: "conversation_not_writable",
    hint: "Add items before the first prompt, or create a new conversation with these items",
  });
}

function createNotFoundError(kind: "conversation" | "item", id: string): ApiError {
  const message = formatUnknownName(kind === "item" ? "Item" : "Conversation", id);
  return new ApiError(404, "not_found", message, {
    param: `${kind}_id`,
    reason: `${kind}_not_found`,
  });
}
