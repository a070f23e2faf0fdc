import { ServiceError, type EmulatorRoute } from "../../service/service-types.ts";
import { CLIENT_TOKEN_RULE } from "../../control/used-tokens.ts";
import { Constraints } from "../../service/constraints.ts";
import { readJsonBody } from "../../service/read-json-body.ts";
import type { DataPlane } from "../data-plane.ts";
import { SESSION_HEADER } from "./harness-invocation.ts";
import { findAgent, readSessionTarget } from "./session-target.ts";

/** `POST /runtimes/{arn}/stopruntimesession`: ends a session and all work in it. A second request has no effect. */
export function createStopRoute(plane: DataPlane): EmulatorRoute {
  return {
    method: "POST",
    path: "/runtimes/:arn/stopruntimesession",
    async handle(request, { arn }) {
      const constraints = new Constraints();
      const target = readSessionTarget(request, arn, constraints);
      if (target.sessionId === undefined) {
        constraints.refuse("runtimeSessionId", undefined, "not be null");
      }
      const { clientToken } = readJsonBody(request.body);
      if (clientToken !== undefined)
        constraints.readText("clientToken", clientToken, CLIENT_TOKEN_RULE);
      constraints.throwIfInvalid();
      const { sessionId = "" } = target;
      const agent = findAgent(plane, target);
      const result = await plane.sessions.stop(agent.arn, sessionId);
      if (result === "unknown" && plane.switches.stopUnknownSession === "404") {
        const message = `No session '${sessionId}' of '${agent.arn}'`;
        throw new ServiceError(404, "ResourceNotFoundException", message);
      }
      return {
        status: 200,
        headers: { "content-type": "application/json", [SESSION_HEADER]: sessionId },
        body: new TextEncoder().encode("{}"),
      };
    },
  };
}
