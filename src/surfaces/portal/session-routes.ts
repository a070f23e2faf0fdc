import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { createInvalidRequestError, readJsonBody } from "../../http/routing/json-body.ts";
import { optionalText } from "./request-body.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { principalOf, requireRight } from "./portal-access.ts";
import { readIdempotencyKey } from "../../http/routing/idempotency-key.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import { openOnce } from "./open-once.ts";
import type { PortalOptions } from "./portal-options.ts";
import type { Route } from "../../http/routing/router.ts";
import { foundSession, ownedBy, sessionView } from "./session-view.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

const DEFAULT_LIMIT = 50;
const MOST_SESSIONS = 200;

/** Routes to list, create and read sessions. */
export function sessionRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  return [
    {
      method: "GET",
      path: "/api/sessions",
      async handle(request) {
        const principal = principalOf(request, options);
        const query = new URLSearchParams(request.query);
        const page = query.get("page");
        const search = query.get("search");
        const found = await sessions.list({
          limit: limitIn(query),
          ...ownedBy(principal),
          ...(page !== null && page !== "" && { page }),
          ...(search !== null && search !== "" && { search }),
        });
        return createJsonResponse(200, {
          sessions: found.sessions.map(sessionView),
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
        const principal = principalOf(request, options);
        const body = readJsonBody(request);
        const agent = optionalText(body, "agent");
        const title = optionalText(body, "title");
        const workingDirectory = optionalText(body, "workingDirectory");
        if (workingDirectory !== undefined) {
          requireRight(principal, "control", "Choosing a working directory");
          await requireFolder(workingDirectory);
        }
        if (agent !== undefined && !sessions.agents.includes(agent))
          throw noAgent(agent, sessions.agents);
        const requested = {
          principal,
          ...omitUndefined({ agent, title, workingDirectory }),
        };
        const key = readIdempotencyKey(request);
        const record = await (key === undefined
          ? sessions.open(requested)
          : openOnce(sessions, requested, key));
        const view = sessionView(record);
        return createJsonResponse(201, view, { location: `/api${view.page}` });
      },
    },
    {
      method: "GET",
      path: "/api/sessions/:id",
      async handle(request, { id = "" }) {
        const principal = principalOf(request, options);
        const record = await foundSession(sessions, id, principal);
        return createJsonResponse(200, { ...sessionView(record), rights: principal.rights });
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

function limitIn(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MOST_SESSIONS) {
    throw createInvalidRequestError(
      `"limit" is "${text}": expected a whole number from 1 to ${MOST_SESSIONS}`,
    );
  }
  return limit;
}

function noAgent(name: string, agents: readonly string[]): ApiError {
  return new ApiError(404, "not_found", `The agent "${name}" does not exist`, {
    hint: `Available: ${agents.join(", ")}`,
  });
}
