import { canUseAgent, type Caller } from "../../http/access/caller.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import type { Route } from "../../http/routing/router.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import { digestValue } from "../../platform/digest.ts";
import { CARD_PATH, createAgentCard, PUSH_KEYS_PATH } from "../../wire/a2a/agent-card.ts";
import type { A2aOptions } from "./a2a-context.ts";

/** The public agent card. A peer reads the card before it has a key. */
export function createCardRoute(options: A2aOptions): Route {
  return {
    method: "GET",
    path: CARD_PATH,
    async handle(request) {
      const card = createCard(options, request, listPublicAgents(options));
      const etag = `"${digestValue(card).slice(0, 32)}"`;
      const headers = { "cache-control": `public, max-age=${CARD_MAX_AGE}`, etag };
      const isUnchanged = readHeader(request, "if-none-match")?.includes(etag) === true;
      return isUnchanged
        ? { status: 304, headers, body: new Uint8Array() }
        : createJsonResponse(200, card, headers);
    },
  };
}

/** Seconds for which peers cache the card. */
const CARD_MAX_AGE = 300;

/** The public key of push notifications. A receiver has no key of this server. */
export function createPushKeyRoutes({ push }: A2aOptions): Route[] {
  if (push === undefined) return [];
  return [
    {
      method: "GET",
      path: PUSH_KEYS_PATH,
      handle: async () => createJsonResponse(200, await push.readKeys()),
    },
  ];
}

/** The card with all agents of the caller. */
export function createExtendedCard(
  options: A2aOptions,
  request: ServedRequest,
  caller: Caller,
): object {
  const agents = options.sessions.agents.filter((name) => canUseAgent(caller, name));
  return createCard(options, request, agents);
}

/** Without keys, every client of the server may use all agents. */
function listPublicAgents({ sessions, settings, requiresKey }: A2aOptions): readonly string[] {
  return settings.agents ?? (requiresKey ? sessions.agents.slice(0, 1) : sessions.agents);
}

function createCard(
  { settings, version, requiresKey, publicUrl, push }: A2aOptions,
  request: ServedRequest,
  agents: readonly string[],
): object {
  const { name = "Spanline", description = DEFAULT_DESCRIPTION } = settings;
  return createAgentCard({
    baseUrl: publicUrl ?? `http://${readHeader(request, "host") ?? "127.0.0.1"}`,
    version,
    name,
    description,
    agents: agents.map((agent) => ({ name: agent, description: `The agent "${agent}"` })),
    requiresKey,
    isExternalAgent: settings.externalAgent === true,
    sendsPush: push !== undefined,
  });
}

const DEFAULT_DESCRIPTION = "Agents behind a Spanline bridge. A context is a durable session";
