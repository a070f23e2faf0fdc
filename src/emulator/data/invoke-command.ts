import { encodeEvent, encodeException } from "../../wire/framing/eventstream-encode.ts";
import { ServiceError, type Route } from "../exchange.ts";
import { Constraints, readJsonBody } from "./constraints.ts";
import type { DataPlane } from "./data-plane.ts";
import { EVENT_STREAM } from "./harness-dialect.ts";
import { SESSION_HEADER } from "./invocation.ts";
import { outlet, type Outlet } from "./outlet.ts";
import { agentOf, readTarget, type Agent } from "./session-target.ts";
import type { Session } from "./sessions.ts";
import { runShell } from "./shell.ts";

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
      const timeout = constraints.wholeNumber("timeout", body["timeout"], 1) ?? DEFAULT_TIMEOUT;
      if (timeout > LONGEST_TIMEOUT) {
        const rule = `have value less than or equal to ${LONGEST_TIMEOUT}`;
        constraints.refuse("timeout", String(timeout), rule);
      }
      constraints.check();
      const agent = agentOf(plane, target);
      if (plane.commands === "refuse") throw switchedOff();
      const { sessionId = request.requestId } = target;
      const session = await plane.sessions.enter(agent, sessionId);
      await session.use();
      const way = outlet(request.gone);
      void run(plane, { command, timeout, agent, session, way });
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

async function run(
  plane: DataPlane,
  { command, timeout, agent, session, way }: Run,
): Promise<void> {
  const stopped = new AbortController();
  const release = session.endWith(() => stopped.abort());
  try {
    await way.send(encodeEvent("chunk", { contentStart: {} }));
    const exit = await runShell({
      command,
      folder: await session.workspace(),
      environment: agent.environment,
      timeoutMilliseconds: timeout * 1000,
      clock: plane.clock,
      signal: AbortSignal.any([stopped.signal, way.left]),
      output: (stream, text) =>
        way.send(encodeEvent("chunk", { contentDelta: { [stream]: text } })),
    });
    await session.use();
    await way.send(encodeEvent("chunk", { contentStop: exit }));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await way.send(encodeException("internalServerException", { message }));
  } finally {
    release();
    way.end();
  }
}
