import { encodeEvent, encodeException } from "../../wire/framing/eventstream-encode.ts";
import { ConnectionReset, ServiceError, type Route } from "../exchange.ts";
import { Constraints } from "../constraints.ts";
import { readJsonBody } from "../json-body.ts";
import type { DataPlane } from "./data-plane.ts";
import { EVENT_STREAM } from "./harness-dialect.ts";
import { SESSION_HEADER } from "./invocation.ts";
import { outlet, type Outlet } from "./outlet.ts";
import { agentOf, readTarget, type Agent } from "./session-target.ts";
import type { Session } from "./session.ts";

/** `POST /runtimes/{arn}/commands`: runs a command in a session's folder and streams what it says. */
export function invokeAgentRuntimeCommand(plane: DataPlane): Route {
  return {
    method: "POST",
    path: "/runtimes/:arn/commands",
    async handle(request, { arn }) {
      const body = readJsonBody(request.body);
      const constraints = new Constraints();
      const target = readTarget(request, arn, constraints);
      const command = constraints.text("command", body["command"], { least: 1, most: 65_536 });
      const timeout = constraints.wholeNumber("timeout", body["timeout"] ?? DEFAULT_TIMEOUT, {
        least: 1,
        most: LONGEST_TIMEOUT,
      });
      constraints.check();
      const agent = agentOf(plane, target);
      if (plane.commands === "refuse") throw switchedOff();
      const { sessionId = request.requestId } = target;
      const way = outlet(request.gone);
      await plane.sessions.enter(agent, sessionId, async (session) => {
        await session.use();
        void run({ command, timeout, agent, session, way });
      });
      return {
        status: 200,
        headers: { "content-type": EVENT_STREAM, [SESSION_HEADER]: sessionId },
        body: way.body,
      };
    },
  };
}

const DEFAULT_TIMEOUT = 300;
const LONGEST_TIMEOUT = 3600;

function switchedOff(): ServiceError {
  return new ServiceError(
    403,
    "AccessDeniedException",
    'Commands are switched off: they would run on this machine as the user who started the emulator. Start it with commands: "run" (spanline emulate --commands) to allow them',
  );
}

interface Run {
  readonly command: string;
  readonly timeout: number;
  readonly agent: Agent;
  readonly session: Session;
  readonly way: Outlet;
}

async function run({ command, timeout, agent, session, way }: Run): Promise<void> {
  try {
    const running = session.run({
      command,
      environment: agent.environment,
      timeoutMilliseconds: timeout * 1000,
      signal: way.left,
      output: (stream, text) =>
        way.send(encodeEvent("chunk", { contentDelta: { [stream]: text } })),
    });
    await way.send(encodeEvent("chunk", { contentStart: {} }));
    await way.send(encodeEvent("chunk", { contentStop: await running }));
    way.end();
  } catch (error) {
    if (error instanceof ConnectionReset) return way.reset();
    const message = error instanceof Error ? error.message : String(error);
    await way.send(encodeException("internalServerException", { message }));
    way.end();
  }
}
