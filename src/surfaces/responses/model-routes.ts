import { mayUseAgent } from "../../http/caller.ts";
import type { GuardedRoute } from "../../http/guarded-routes.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import { unknownModel } from "./refusals.ts";
import type { Surface } from "./surface.ts";

/** Agents, as what clients take for models. */
export function modelRoutes({ sessions }: Pick<Surface, "sessions">): GuardedRoute[] {
  return [
    {
      method: "GET",
      path: "/models",
      async handle(_request, _labels, caller) {
        const data = sessions.agents.filter((name) => mayUseAgent(caller, name)).map(modelOf);
        return jsonAnswer(200, { object: "list", data });
      },
    },
    {
      method: "GET",
      path: "/models/:id",
      async handle(_request, { id = "" }, caller) {
        const known = sessions.agents.filter((name) => mayUseAgent(caller, name));
        if (!known.includes(id)) throw unknownModel(id, known);
        return jsonAnswer(200, modelOf(id));
      },
    },
  ];
}

/** When an agent was made nobody knows. */
function modelOf(id: string) {
  return { id, object: "model", created: 0, owned_by: "spanline" } as const;
}
