import { encodeEvent, encodeException } from "../../../wire/framing/eventstream-format.ts";
import { ConnectionReset, ServiceError, type EmulatorRoute } from "../../service/service-types.ts";
import { Constraints } from "../../service/constraints.ts";
import { readJsonBody } from "../../service/read-json-body.ts";
import type { DataPlane } from "../data-plane.ts";
import { EVENT_STREAM } from "../turn/harness-dialect.ts";
import { SESSION_HEADER } from "./harness-invocation.ts";
import { createClientStream, type ClientStream } from "../turn/client-stream.ts";
import { findAgent, readSessionTarget, type EmulatedAgent } from "./session-target.ts";
import type { ServiceSession } from "../session/service-session.ts";

/** `POST /runtimes/{arn}/commands`: runs a command in the session's folder and streams its output. */
export function createCommandRoute(plane: DataPlane): EmulatorRoute {
  return {
    method: "POST",
    path: "/runtimes/:arn/commands",
    async handle(request, { arn }) {
      const body = readJsonBody(request.body);
      const constraints = new Constraints();
      const target = readSessionTarget(request, arn, constraints);
      const command = constraints.readText("command", body["command"], { min: 1, max: 65_536 });
      const timeout = constraints.readWholeNumber("timeout", body["timeout"] ?? DEFAULT_TIMEOUT, {
        min: 1,
        max: MAX_TIMEOUT,
      });
      constraints.throwIfInvalid();
      const agent = findAgent(plane, target);
      if (plane.commands === "refuse") throw createDisabledError();
      const { sessionId = request.requestId } = target;
      const clientStream = createClientStream(request.disconnectSignal);
      await plane.sessions.useSession(agent, sessionId, async (session) => {
        await session.touch();
        void runCommand({ command, timeout, agent, session, clientStream });
      });
      return {
        status: 200,
        headers: { "content-type": EVENT_STREAM, [SESSION_HEADER]: sessionId },
        body: clientStream.body,
      };
    },
  };
}

const DEFAULT_TIMEOUT = 300;
const MAX_TIMEOUT = 3600;

function createDisabledError(): ServiceError {
  return new ServiceError(
    403,
    "AccessDeniedException",
    'Commands are disabled, because they run on this machine as the user of the emulator. Fix: start the emulator with commands: "run" (spanline emulate --commands)',
  );
}

interface CommandRun {
  readonly command: string;
  readonly timeout: number;
  readonly agent: EmulatedAgent;
  readonly session: ServiceSession;
  readonly clientStream: ClientStream;
}

async function runCommand({
  command,
  timeout,
  agent,
  session,
  clientStream,
}: CommandRun): Promise<void> {
  try {
    const exit = session.runCommand({
      command,
      environment: agent.environment,
      timeoutMilliseconds: timeout * 1000,
      signal: clientStream.disconnectSignal,
      onOutput: (stream, text) =>
        clientStream.send(encodeEvent("chunk", { contentDelta: { [stream]: text } })),
    });
    await clientStream.send(encodeEvent("chunk", { contentStart: {} }));
    await clientStream.send(encodeEvent("chunk", { contentStop: await exit }));
    clientStream.end();
  } catch (error) {
    if (error instanceof ConnectionReset) return clientStream.reset();
    const message = error instanceof Error ? error.message : String(error);
    await clientStream.send(encodeException("internalServerException", { message }));
    clientStream.end();
  }
}
