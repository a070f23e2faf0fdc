import { canUseAgent, requireRight } from "../../../http/access/caller.ts";
import type { GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import { createUnknownModelError } from "../request-errors.ts";
import type { SurfaceContext } from "../surface-context.ts";

/** Lists the agents as models, as OpenAI clients expect. */
export function createModelRoutes({ sessions }: Pick<SurfaceContext, "sessions">): GuardedRoute[] {
  return [
    {
      method: "GET",
      path: "/models",
      async handle(_request, _labels, caller) {
        requireRight(caller, "prompt", "Listing models");
        const data = sessions.agents.filter((name) => canUseAgent(caller, name)).map(encodeModel);
        return createJsonResponse(200, { object: "list", data });
      },
    },
    {
      method: "GET",
      path: "/models/:id",
      async handle(_request, { id = "" }, caller) {
        requireRight(caller, "prompt", "Reading a model");
        const known = sessions.agents.filter((name) => canUseAgent(caller, name));
        if (!known.includes(id)) throw createUnknownModelError(id, known);
        return createJsonResponse(200, encodeModel(id));
      },
    },
  ];
}

/** The creation time of an agent is unknown, so `created` is 0. */
function encodeModel(id: string) {
  return { id, object: "model", created: 0, owned_by: "spanline" } as const;
}
