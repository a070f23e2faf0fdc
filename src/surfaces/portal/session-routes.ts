import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { createInvalidRequestError, readJsonBody } from "../../http/routing/json-body.ts";
import { readOptionalString } from "./request-body.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { authenticate, requireRight } from "./portal-access.ts";
import { readIdempotencyKey } from "../../http/routing/idempotency-key.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import { openOnce } from "./open-once.ts";
import type { PortalOptions } from "./portal-options.ts";
import type { Route } from "../../http/routing/router.ts";
import { findSession, createOwnerFilter, createSessionView } from "./session-view.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

const DEFAULT_LIMIT = 50;
const MAX_SESSIONS = 200;

/** Routes to list, create and read sessions. */
export function createSessionRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  return [
    {
      method: "GET",
      path: "/api/sessions",
      async handle(request) {
        const principal = authenticate(request, options);
        const query = new URLSearchParams(request.query);
        const page = query.get("page");
        const search = query.get("search");
        const found = await sessions.list({
          limit: readLimit(query),
          ...createOwnerFilter(principal),
          ...(page !== null && page !== "" && { page }),
          ...(search !== null && search !== "" && { search }),
        });
        return createJsonResponse(200, {
          sessions: found.sessions.map(createSessionView),
          nextPage: found.nextPage ?? null,
          agents: sessions.agents,
          rights: principal.rights,
        });
      },
    },
    {
      method: "POST",
      path: "/api/sessions",
      async handle(request) {
        const principal = authenticate(request, options);
        const body = readJsonBody(request);
        const agent = readOptionalString(body, "agent");
        const title = readOptionalString(body, "title");
        const workingDirectory = readOptionalString(body, "workingDirectory");
        if (workingDirectory !== undefined) {
          requireRight(principal, "control", "Choosing a working directory");
          await requireFolder(workingDirectory);
        }
        if (agent !== undefined && !sessions.agents.includes(agent))
          throw createUnknownAgentError(agent, sessions.agents);
        const requested = {
          principal,
          ...omitUndefined({ agent, title, workingDirectory }),
        };
        const key = readIdempotencyKey(request);
        const record = await (key === undefined
          ? sessions.open(requested)
          : openOnce(sessions, requested, key));
        const view = createSessionView(record);
        return createJsonResponse(201, view, { location: `/api${view.page}` });
      },
    },
    {
      method: "GET",
      path: "/api/sessions/:id",
      async handle(request, { id = "" }) {
        const principal = authenticate(request, options);
        const record = await findSession(sessions, id, principal);
        return createJsonResponse(200, { ...createSessionView(record), rights: principal.rights });
      },
    },
  ];
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
  return new ApiError(404, "not_found", `The agent "${name}" does not exist`, {
    hint: `Available: ${agents.join(", ")}`,
  });
}
