import type { Brain, Settings } from "../brains/brain.ts";
import type { Message } from "../brains/message.ts";
import type { HarnessRecord } from "../control/registry.ts";
import { ServiceError, type Incoming, type Outgoing, type Route } from "../exchange.ts";
import type { DataPlane } from "./data-plane.ts";
import { EVENT_STREAM, harnessDialect, harnessFailure } from "./harness-dialect.ts";
import { readInvocation, SESSION_HEADER, type Invocation } from "./invocation.ts";
import { refuseOverlap } from "./overlap.ts";
import { resumeFailure } from "./resume-rules.ts";
import { unknownAgent } from "./session-target.ts";
import type { Session } from "./session.ts";
import { settingsFor } from "./settings.ts";
import { throttled } from "./throttling.ts";
import { runTurn } from "./turn.ts";

/** `POST /harnesses/invoke`: one turn of a session, as event-stream frames. */
export function invokeHarness(plane: DataPlane): Route {
  return {
    method: "POST",
    path: "/harnesses/invoke",
    async handle(request) {
      const invocation = readInvocation(request);
      const harness = readyHarness(plane, invocation);
      const settings = settingsFor(harness, invocation.overrides, plane.switches);
      const brain = await plane.brains(harness.brain);
      const owner = {
        arn: harness.arn,
        lifecycle: harness.lifecycle,
        hasMemory: harness.memory !== null,
      };
      const answered = await plane.sessions.enter(owner, invocation.sessionId, (session) => {
        refuseOverlap(session, plane.switches);
        return answer(plane, { request, invocation, harness, settings, session, brain });
      });
      const headers = { ...answered.headers, [SESSION_HEADER]: invocation.sessionId };
      return { ...answered, headers };
    },
  };
}

interface Asked {
  readonly request: Incoming;
  readonly invocation: Invocation;
  readonly harness: HarnessRecord;
  readonly settings: Settings;
  readonly session: Session;
  readonly brain: Brain;
}

async function answer(plane: DataPlane, asked: Asked): Promise<Outgoing> {
  const { request, invocation, harness, settings, session, brain } = asked;
  const keepsOpenCalls = harness.memory !== null && plane.switches.echoWithMemory === "optional";
  const before = session.messages;
  const sent = withoutEcho(before, invocation.messages, keepsOpenCalls);
  const failure = resumeFailure([...before, ...sent], before.length, plane.switches);
  if (failure !== null) return frames(harnessFailure(failure));
  return runTurn(plane, {
    request,
    session,
    brain,
    settings,
    sent,
    keepsOpenCalls,
    dialect: (faults) => harnessDialect(plane.switches, faults),
    refused: (error) => {
      const shown = throttled(error, plane.switches);
      if (shown instanceof ServiceError) throw shown;
      return frames(harnessFailure(shown));
    },
  });
}

/** Where the session kept the calls itself, an echo of them that comes all the same is not a second message. */
function withoutEcho(
  before: readonly Message[],
  sent: readonly Message[],
  keepsOpenCalls: boolean,
): readonly Message[] {
  const [first] = sent;
  const isEcho =
    keepsOpenCalls && first?.role === "assistant" && before.at(-1)?.role === "assistant";
  return isEcho ? sent.slice(1) : sent;
}

function readyHarness(plane: DataPlane, { harnessArn, qualifier }: Invocation): HarnessRecord {
  const harness = plane.harnesses.findHarness(harnessArn, qualifier, plane.clock.now());
  if (harness === undefined) throw unknownAgent(harnessArn, qualifier);
  const { status, endpoint, endpointStatus } = harness;
  if (status === "READY" && endpointStatus === "READY") return harness;
  const message = `Harness '${harness.id}' is ${status} and its endpoint '${endpoint}' is ${endpointStatus}; both must be READY`;
  throw plane.switches.notReady === "404"
    ? new ServiceError(404, "ResourceNotFoundException", message)
    : new ServiceError(400, "ValidationException", message, { reason: "ResourceConflict" });
}

function frames(body: Uint8Array): Outgoing {
  return { status: 200, headers: { "content-type": EVENT_STREAM }, body };
}
