import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { createInvalidRequestError, readJsonBody } from "../../http/routing/json-body.ts";
import { readOptionalInteger, readOptionalString } from "./request-body.ts";
import { canUseAgent, type Caller } from "../../http/access/caller.ts";
import type { OpenOptions, Sessions } from "../../session/sessions.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { authenticate, requireRight } from "./portal-access.ts";
import { readIdempotencyKey } from "../../http/routing/idempotency-key.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import { openOnce } from "./open-once.ts";
import type { PortalOptions } from "./portal-options.ts";
import type { Route } from "../../http/routing/router.ts";
import type { ServedRequest, ServedResponse } from "../../http/server/http-types.ts";
import {
  canReadSession,
  findSession,
  createOwnerFilter,
  createSessionResource,
  type SessionRecord,
} from "./session-resource.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

const DEFAULT_LIMIT = 50;
const MAX_SESSIONS = 200;

/** Routes to list, create and read sessions. */
export function createSessionRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  return [
    {
      method: "GET",
      path: "/api/sessions",
      handle: (request) => listPage(request, options),
    },
    {
      method: "POST",
      path: "/api/sessions",
      async handle(request) {
        const view = createSessionResource(await openRequestedSession(request, options));
        return createJsonResponse(201, view, { location: `/api${view.page}` });
      },
    },
    {
      method: "GET",
      path: "/api/sessions/:id",
      async handle(request, { id = "" }) {
        const principal = await authenticate(request, options);
        const record = await findSession(sessions, id, principal);
        return createJsonResponse(200, {
          ...createSessionResource(record),
          rights: principal.rights,
        });
      },
    },
    {
      method: "DELETE",
      path: "/api/sessions/:id",
      async handle(request, { id = "" }) {
        const principal = await authenticate(request, options);
        requireRight(principal, "control", "Deleting a session");
        const { sessionId } = await findSession(sessions, id, principal);
        await sessions.delete(sessionId);
        return createJsonResponse(200, { sessionId, deleted: true });
      },
    },
    {
      method: "POST",
      path: "/api/sessions/:id/fork",
      async handle(request, { id = "" }) {
        const view = createSessionResource(await forkSession(request, id, options));
        return createJsonResponse(201, view, { location: `/api${view.page}` });
      },
    },
  ];
}

async function listPage(request: ServedRequest, options: PortalOptions): Promise<ServedResponse> {
  const { sessions } = options;
  const principal = await authenticate(request, options);
  const query = new URLSearchParams(request.query);
  const page = query.get("page");
  const search = query.get("search");
  const state = readState(query);
  // Sessions of workers are listed with their parent only.
  const parent = query.get("parent");
  const found = await sessions.list({
    limit: readLimit(query),
    parent: parent === "" ? null : parent,
    ...createOwnerFilter(principal),
    ...(page !== null && page !== "" && { page }),
    ...(search !== null && search !== "" && { search }),
    ...omitUndefined({ state }),
  });
  const visible = found.sessions.filter((record) => canReadSession(record, principal));
  return createJsonResponse(200, {
    sessions: visible.map(createSessionResource),
    nextPage: found.nextPage ?? null,
    agents: listUsableAgents(sessions, principal),
    rights: principal.rights,
  });
}

/** Opens a session with a copy of the history of another, which the caller may read. */
async function forkSession(
  request: ServedRequest,
  sourceId: string,
  options: PortalOptions,
): Promise<SessionRecord> {
  const principal = await authenticate(request, options);
  requireRight(principal, "prompt", "Opening a session");
  const body = readJsonBody(request);
  const copyThrough = readOptionalInteger(body, "through", 1);
  const source = await findSession(options.sessions, sourceId, principal);
  const { sessionId: copyOf, agent } = source;
  const title = readOptionalString(body, "title") ?? (source.title && `${source.title} (fork)`);
  return openRequested(request, options, {
    principal,
    agent,
    copyOf,
    ...(title !== null && { title }),
    ...omitUndefined({ copyThrough }),
  });
}

/** Opens the session that the body of a request describes. Requests with the same idempotency key open one session. */
async function openRequestedSession(
  request: ServedRequest,
  options: PortalOptions,
): Promise<SessionRecord> {
  const { sessions } = options;
  const principal = await authenticate(request, options);
  requireRight(principal, "prompt", "Opening a session");
  const body = readJsonBody(request);
  const agent = readOptionalString(body, "agent");
  const title = readOptionalString(body, "title");
  const workingDirectory = readOptionalString(body, "workingDirectory");
  if (workingDirectory !== undefined) {
    requireRight(principal, "control", "Choosing a working directory");
    await requireFolder(workingDirectory);
  }
  return openRequested(request, options, {
    principal,
    agent: resolveAgent(agent, sessions, principal),
    ...omitUndefined({ title, workingDirectory }),
  });
}

function openRequested(
  request: ServedRequest,
  { sessions }: PortalOptions,
  requested: Omit<OpenOptions, "sessionId" | "label">,
): Promise<SessionRecord> {
  const key = readIdempotencyKey(request);
  return key === undefined ? sessions.open(requested) : openOnce(sessions, requested, key);
}

function listUsableAgents({ agents }: Sessions, caller: Caller): readonly string[] {
  return agents.filter((agent) => canUseAgent(caller, agent));
}

/** Returns the name of the requested agent, or of the caller's first agent. */
function resolveAgent(requested: string | undefined, sessions: Sessions, caller: Caller): string {
  const usable = listUsableAgents(sessions, caller);
  const agent = requested ?? usable[0];
  if (agent !== undefined && usable.includes(agent)) return agent;
  throw createUnknownAgentError(agent ?? "default", usable);
}

function readState(query: URLSearchParams): SessionRecord["state"] | undefined {
  const text = query.get("state") ?? "";
  if (text === "") return undefined;
  if (text === "idle" || text === "running" || text === "waiting") return text;
  throw createInvalidRequestError(`"state" is "${text}": expected idle, running or waiting`);
}

/** The agent's tools run in the folder, so the folder must exist before the session is opened. */
async function requireFolder(path: string): Promise<void> {
  const stats = isAbsolute(path) ? await stat(path).catch(() => undefined) : undefined;
  if (stats?.isDirectory() === true) return;
  const message = `"workingDirectory" is "${path.slice(0, 300)}": expected the absolute path of an existing folder on the machine of the bridge`;
  throw createInvalidRequestError(message, { param: "workingDirectory" });
}

function readLimit(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_SESSIONS) {
    throw createInvalidRequestError(
      `"limit" is "${text}": expected a whole number from 1 to ${MAX_SESSIONS}`,
    );
  }
  return limit;
}

function createUnknownAgentError(name: string, agents: readonly string[]): ApiError {
  return new ApiError(404, "not_found", formatUnknownName("Agent", name, { names: agents }));
}
